// SPDX-License-Identifier: MIT
#include "lab/text/versions.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <png.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include <toml++/impl/version.h>
#include <nlohmann/json.hpp>

#include "lab/report/web_assets.hpp"

namespace symport::lab {

std::vector<Dependency> lab_dependencies() {
  return {
      {"OpenSSL", OpenSSL_version(OPENSSL_VERSION_STRING)},
      {"libpng", png_get_libpng_ver(nullptr)},
      {"nlohmann_json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR,
                                    NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH)},
      {"toml++", fmt::format("{}.{}.{}", TOML_LIB_MAJOR, TOML_LIB_MINOR, TOML_LIB_PATCH)},
      {"uPlot", std::string(report::uplot_version)},
#ifdef __GLIBC__
      {"glibc", gnu_get_libc_version()},
#endif
  };
}

}  // namespace symport::lab
