// SPDX-License-Identifier: MIT
#pragma once

#include <cblas.h>

#include "symport/core/types.hpp"

namespace symport {

/// A size as BLAS counts it.
inline blasint narrow(Index n) { return static_cast<blasint>(n); }

}  // namespace symport
