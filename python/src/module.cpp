// SPDX-License-Identifier: MIT
#include <nanobind/nanobind.h>

NB_MODULE(_core, m) { m.doc() = "Symport's library on NumPy arrays; use it through `symport`."; }
