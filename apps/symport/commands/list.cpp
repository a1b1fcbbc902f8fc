// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/output_options.hpp"
#include "commands/all.hpp"
#include "lab/data/catalog.hpp"
#include "lab/options/own_function.hpp"
#include "lab/options/registry.hpp"
#include "lab/text/json_forms.hpp"
#include "terminal/terminal.hpp"

namespace symport::cli {

using namespace lab;

namespace {

struct Line {
  std::string name;
  std::string usage;
  std::string summary;
};
struct Section {
  std::string title;
  std::vector<Line> lines;
};

std::vector<Section> sections() {
  std::vector<Section> all;
  all.push_back({"functions", {}});
  for (const FunctionEntry& entry : functions()) {
    std::string summary = entry.summary;
    std::vector<std::string> defaults;
    for (const Parameter& parameter : entry.parameters) {
      if (std::isnan(parameter.value)) break;  // that one and what follows may be left out
      defaults.push_back(fmt::format("{}", parameter.value));
    }
    if (!defaults.empty()) summary += fmt::format(" (default :{})", join(defaults, ","));
    all.back().lines.push_back({entry.name, entry.usage(), summary});
  }
  const auto add = [&](const char* title, const auto& entries) {
    all.push_back({title, {}});
    for (const auto& entry : entries)
      all.back().lines.push_back({entry.name, entry.name, entry.summary});
  };
  add("symmetries", symmetries());
  add("symmetries of formulas", own_symmetries());
  add("network symmetries", network_symmetries());
  add("optimizers", optimizers());
  add("searches", searches());
  add("objectives", objectives());
  add("states", states());
  add("data sets", data_catalog());
  return all;
}

std::string list_text(const Style& style) {
  std::string text;
  for (const Section& section : sections()) {
    if (!text.empty()) text += "\n";
    text += style.bold(section.title) + "\n";
    for (const Line& line : section.lines) {
      text += fmt::format("  {:<32}{}\n", line.usage, line.summary);
    }
  }
  return text;
}

std::string as_json() {
  Json json;
  for (const Section& section : sections()) {
    Json& list = json[section.title] = Json::array();
    for (const Line& line : section.lines) {
      list.push_back({{"name", line.name}, {"usage", line.usage}, {"summary", line.summary}});
    }
  }
  return json_text(json);
}

}  // namespace

Command list_command() {
  return {.name = "list",
          .summary =
              "the functions, symmetries, optimizers, searches, objectives and data sets there are",
          .details = "Prints every name that the other commands understand.",
          .examples = "symport list\nsymport list --json",
          .options = output_flags({"json"}),
          .run = [](const Arguments& arguments) -> int {
            print(read_output_options(arguments).json ? as_json() : list_text(Style::for_stdout()));
            return exit_done;
          }};
}

}  // namespace symport::cli
