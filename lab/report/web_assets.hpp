// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

/// web/ and uPlot as they stand in every page, made into C++ by cmake/embed_web.cmake.
namespace symport::lab::report {

extern const std::string_view web_script, web_style;
/// In hexadecimal.
extern const std::string_view web_script_sha256, web_style_sha256;
extern const std::string_view uplot_version;

}  // namespace symport::lab::report
