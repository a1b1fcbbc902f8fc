// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "symport/core/types.hpp"
#include "symport/search/certificate.hpp"

/// How the library's values look in JSON. Only files that build JSON include the full library.
namespace symport::lab {

using Json = nlohmann::ordered_json;

/// A number; what JSON has no number for is a string: "nan", "inf", "-inf". A diverged loss is
/// data.
Json json_number(double value);
Json json_numbers(const Vector& values);
/// The fields of a certificate under their own names.
Json json_certificate(const Certificate& certificate);

/// On one line, and indented; text that is not UTF-8 (a file name) is replaced, never an error.
std::string json_line(const Json& json);
std::string json_text(const Json& json);

}  // namespace symport::lab
