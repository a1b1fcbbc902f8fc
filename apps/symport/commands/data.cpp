// SPDX-License-Identifier: MIT
#include "commands/data.hpp"

#include <fmt/format.h>

#include "commands/data_report.hpp"
#include "lab/options/registry.hpp"
#include "lab/runs/interruption.hpp"
#include "lab/text/errors.hpp"
#include "lab/text/suggestion.hpp"
#include "terminal/stage_progress.hpp"

namespace symport::cli {

using namespace lab;

namespace {

const std::vector<std::string> actions{"list", "fetch", "describe"};

std::string required_name(const Given& given, const std::string& allowed) {
  const auto name = given.text("name");
  if (!name) throw UsageError("NAME", "missing, allowed is " + allowed);
  return *name;
}

int list_sets(const Given& given) {
  if (given.has("name")) {
    throw UsageError("NAME", fmt::format("found '{}', but list takes none; did you mean "
                                         "'symport data describe {}'?",
                                         *given.text("name"), *given.text("name")));
  }
  const DataDirectory directory = data_directory(given.text("data-dir"));
  print(given.is_on("json") ? catalog_json(directory)
                            : catalog_text(directory, Style::for_stdout()));
  return exit_done;
}

int fetch_set(const Given& given) {
  const std::string name = required_name(given, join(names_of(data_catalog())));
  const CatalogEntry& entry =
      blaming("NAME", [&]() -> const CatalogEntry& { return find_entry(data_catalog(), name); });
  const DataDirectory directory = data_directory(given.text("data-dir"));
  const bool shown = !given.is_on("quiet") && !given.is_on("no-progress");
  try {
    const FetchResult result = fetch_with_progress(entry, directory, given.is_on("force"), shown);
    print(given.is_on("json") ? fetch_json(entry, directory, result)
                              : fetch_text(entry, directory, result));
    return exit_done;
  } catch (const FetchInterrupted&) {
    print_error(fmt::format(
        "symport data: interrupted; what is verified stays, fetch {} again to go on\n", name));
    return exit_interrupted;
  } catch (const FetchError& error) {
    print_error(fmt::format("symport data: cannot fetch {}: {}\n", name, error.what()));
    return exit_failed;
  }
}

int describe_set(const Given& given) {
  const std::string name =
      required_name(given, join(names_of(data_catalog())) + ", idx:DIR, csv:FILE, FILE.npz");
  const DataReport report = describe_data(name, read_data_options(given), given, "NAME");
  print(given.is_on("json") ? describe_json(report) : describe_text(report, Style::for_stdout()));
  return exit_done;
}

int run_data(const Given& given) {
  const std::string action = given.text("action").value_or("");
  for (const char* option : {"force", "quiet", "no-progress"}) {
    if (given.has(option) && action != "fetch") {
      throw UsageError(given.origin(option), "goes with fetch only");
    }
  }
  if (given.has("label") && action != "describe") {
    throw UsageError(given.origin("label"), "goes with describe csv:FILE only");
  }
  if (action == "list") return list_sets(given);
  if (action == "fetch") return fetch_set(given);
  if (action == "describe") return describe_set(given);
  throw UsageError("ACTION", fmt::format("{}, allowed is {}{}",
                                         action.empty() ? "missing" : "found '" + action + "'",
                                         join(actions), did_you_mean(action, actions)));
}

}  // namespace

FetchResult fetch_with_progress(const CatalogEntry& entry, const DataDirectory& directory,
                                bool force, bool shown) {
  StageProgress progress(entry.name, shown);
  return fetch_data(entry, directory,
                    {.force = force,
                     .keep_going =
                         [&] {
                           progress.tick();
                           return !interrupted();
                         },
                     .begins = [&](const std::string& stage) { progress.begin(stage); }});
}

Command data_command() {
  std::vector<Option> options = data_flags("Data");
  options.push_back({"force", "", "fetch anew what is there already", "Data"});
  for (Option option : {common::json(), common::quiet(), common::no_progress()}) {
    options.push_back(std::move(option));
  }
  return {
      .name = "data",
      .summary = "list, fetch and describe data sets to train on",
      .details =
          "list: the sets that can be fetched by name, and whether they are stored.\n"
          "fetch NAME: downloads a set (npm or apt-get do it), checks every file's SHA-256 and\n"
          "stores it; what is stored already is kept, so a fetch can be interrupted.\n"
          "describe NAME: samples, features, classes, files and origin; of one's own data too:\n"
          "idx:DIR (files named as MNIST's), csv:FILE (with --label), FILE.npz (X and y or Y).",
      .examples =
          "symport data list\nsymport data fetch mnist\nsymport data describe mnist\n"
          "symport data describe csv:iris.csv --label species",
      .positionals = {{"action", "ACTION", "list, fetch or describe"},
                      {"name", "NAME", "of the set"}},
      .options = options,
      .run = run_data};
}

}  // namespace symport::cli
