// SPDX-License-Identifier: MIT
#include "cli/version_text.hpp"

#include <fmt/format.h>

#include <CLI/Version.hpp>
#include <nlohmann/json.hpp>

#include "lab/text/json_forms.hpp"
#include "lab/text/versions.hpp"

namespace symport::cli {

std::string version_text(bool json) {
  if (!json) return fmt::format("symport {}\n", version());
  lab::Json libraries{{"CLI11", CLI11_VERSION}};
  for (const auto& list : {dependencies(), lab::lab_dependencies()}) {
    for (const Dependency& dependency : list) libraries[dependency.name] = dependency.version;
  }
  return lab::json_text(
      {{"symport", version()}, {"compiler", __VERSION__}, {"dependencies", std::move(libraries)}});
}

}  // namespace symport::cli
