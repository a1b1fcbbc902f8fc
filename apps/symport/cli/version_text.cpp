// SPDX-License-Identifier: MIT
#include "cli/version_text.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <png.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include <CLI/Version.hpp>

#include <toml++/impl/version.h>
#include <nlohmann/json.hpp>

#include "lab/report/web_assets.hpp"
#include "lab/text/json_forms.hpp"
#include "symport/core/version.hpp"

namespace symport::cli {

std::string version_text(bool json) {
  if (!json) return fmt::format("symport {}\n", version());
  Json libraries = Json::object();
  for (const Dependency& dependency : dependencies())
    libraries[dependency.name] = dependency.version;
  libraries["OpenSSL"] = OpenSSL_version(OPENSSL_VERSION_STRING);
  libraries["libpng"] = png_get_libpng_ver(nullptr);
  libraries["CLI11"] = CLI11_VERSION;
  libraries["nlohmann_json"] =
      fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                  NLOHMANN_JSON_VERSION_PATCH);
  libraries["uPlot"] = report::uplot_version;
#ifdef __GLIBC__
  libraries["glibc"] = gnu_get_libc_version();
#endif
  libraries["toml++"] = fmt::format("{}.{}.{}", TOML_LIB_MAJOR, TOML_LIB_MINOR, TOML_LIB_PATCH);
  return json_text(
      {{"symport", version()}, {"compiler", __VERSION__}, {"dependencies", std::move(libraries)}});
}

}  // namespace symport::cli
