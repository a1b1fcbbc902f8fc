// SPDX-License-Identifier: MIT
#include "experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "commands/optimize.hpp"
#include "commands/train.hpp"
#include "data_catalog.hpp"
#include "nearest_name.hpp"
#include "toml_file.hpp"

namespace symport::cli {

namespace fs = std::filesystem;

namespace {

constexpr const char* file_name = "experiment.toml";

/// The tables of an experiment, with messages that name the line.
class ExperimentFile {
 public:
  ExperimentFile(fs::path file, bool quick)
      : file_(std::move(file)), quick_(quick), root_(read_toml(file_, "FIGURE")) {
    known(root_, {"title", "see", "command", "seeds", "options", "quick", "run", "expect"});
  }

  Experiment read() const {
    Experiment out;
    out.title = text(root_, "title");
    out.see = text(root_, "see");
    out.command = text(root_, "command");
    if (out.command != "train" && out.command != "optimize") {
      fail(root_, "command", fmt::format("found '{}', allowed is train, optimize", out.command));
    }
    const Command command = out.command == "train" ? train_command() : optimize_command();
    toml::table quick = table(root_, "quick");
    out.seeds = seeds(root_);
    if (quick.contains("seeds")) {
      if (std::vector<std::uint64_t> few = seeds(quick); quick_) out.seeds = std::move(few);
    }
    quick.erase("seeds");
    const Given common = options(table(root_, "options"), quick, command);
    for (const toml::table& run : tables("run")) out.runs.push_back(read_run(run, common, command));
    if (out.runs.empty()) throw UsageError(file_.string(), "there is no [[run]]");
    for (const toml::table& expectation : tables("expect")) {
      if (auto read = read_expectation(expectation, out.runs)) {
        out.expectations.push_back(std::move(*read));
      }
    }
    const std::string data = common.text("data").value_or("");
    for (const CatalogEntry& entry : data_catalog()) {
      if (entry.name == data) out.data = data;
    }
    return out;
  }

 private:
  [[noreturn]] void fail(const toml::table& in, const char* key, const std::string& what) const {
    const toml::node* node = in.get(key);
    const auto line = (node ? node->source() : in.source()).begin.line;
    throw UsageError(fmt::format("{}:{}: {}", file_.string(), line, key), what);
  }

  void known(const toml::table& in, const std::vector<std::string>& keys) const {
    for (const auto& [key, node] : in) {
      const std::string name(key.str());
      if (std::find(keys.begin(), keys.end(), name) == keys.end()) {
        throw UsageError(toml_origin(file_, key), "unknown key" + did_you_mean(name, keys));
      }
    }
  }

  std::string text(const toml::table& in, const char* key) const {
    const auto value = in[key].value<std::string>();
    if (!value || value->empty()) fail(in, key, "missing, allowed is a text");
    return *value;
  }

  toml::table table(const toml::table& in, const char* key) const {
    const toml::node* node = in.get(key);
    if (!node) return {};
    if (!node->is_table()) fail(in, key, "allowed is a table");
    return *node->as_table();
  }

  std::vector<toml::table> tables(const char* key) const {
    std::vector<toml::table> list;
    const toml::node* node = root_.get(key);
    if (!node) return list;
    const toml::array* array = node->as_array();
    for (std::size_t i = 0; array && i < array->size(); ++i) {
      if (!array->get(i)->is_table()) fail(root_, key, "allowed are tables, [[...]]");
      list.push_back(*array->get(i)->as_table());
    }
    if (!array) fail(root_, key, "allowed are tables, [[...]]");
    return list;
  }

  std::vector<std::uint64_t> seeds(const toml::table& in) const {
    std::vector<std::uint64_t> list;
    const toml::array* array = in["seeds"].as_array();
    for (std::size_t i = 0; array && i < array->size(); ++i) {
      const auto seed = array->get(i)->value<std::int64_t>();
      if (!seed || *seed < 0) fail(in, "seeds", "allowed are whole numbers >= 0");
      list.push_back(static_cast<std::uint64_t>(*seed));
    }
    if (list.empty()) fail(in, "seeds", "missing, allowed is a list like [1, 2, 3]");
    return list;
  }

  /// Both forms are checked, whichever is asked for.
  Given options(const toml::table& full, const toml::table& quick, const Command& command) const {
    const Given all = given_by(full, file_, command);
    Given given = given_by(quick, file_, command);
    if (!quick_) return all;
    given.merge(all);
    return given;
  }

  ExperimentRun read_run(toml::table in, const Given& common, const Command& command) const {
    ExperimentRun run;
    run.name = text(in, "name");
    const toml::table quick = table(in, "quick");
    in.erase("name");
    in.erase("quick");
    run.options = options(in, quick, command);
    run.options.merge(common);
    return run;
  }

  std::optional<Expectation> read_expectation(const toml::table& in,
                                              const std::vector<ExperimentRun>& runs) const {
    known(in, {"run", "column", "at", "relative_to", "statistic", "full", "quick"});
    Expectation out;
    const auto name_of_run = [&](const char* key) {
      const std::string name = text(in, key);
      std::vector<std::string> names;
      for (const ExperimentRun& run : runs) names.push_back(run.name);
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        fail(in, key, fmt::format("there is no run '{}'{}", name, did_you_mean(name, names)));
      }
      return name;
    };
    out.run = name_of_run("run");
    out.column = text(in, "column");
    if (in.contains("relative_to")) out.relative_to = name_of_run("relative_to");
    if (in.contains("at")) {
      const auto at = in["at"].value<std::int64_t>();
      if (!at || *at < 0) fail(in, "at", "allowed is a whole number >= 0");
      out.at = *at;
    }
    using Statistic = Expectation::Statistic;
    const std::string statistic = in["statistic"].value_or(std::string("median"));
    const std::pair<const char*, Statistic> statistics[] = {{"median", Statistic::median},
                                                            {"mean", Statistic::mean},
                                                            {"largest", Statistic::largest},
                                                            {"smallest", Statistic::smallest}};
    const auto chosen = std::find_if(std::begin(statistics), std::end(statistics),
                                     [&](const auto& entry) { return statistic == entry.first; });
    if (chosen == std::end(statistics)) {
      fail(in, "statistic", "allowed is median, mean, largest, smallest");
    }
    out.statistic = chosen->second;
    out.origin = fmt::format("{}:{}", file_.string(), in.source().begin.line);
    std::optional<Expectation> result;
    for (const char* form : {"full", "quick"}) {
      if (!in.contains(form)) continue;
      const toml::array* interval = in[form].as_array();
      const auto low =
          interval && interval->size() == 2 ? interval->get(0)->value<double>() : std::nullopt;
      const auto high = low ? interval->get(1)->value<double>() : std::nullopt;
      if (!high || !(*low <= *high)) fail(in, form, "allowed is an interval, [low, high]");
      if (quick_ != (form == std::string("quick"))) continue;
      result = out;
      result->low = *low;
      result->high = *high;
    }
    return result;
  }

  fs::path file_;
  bool quick_;
  toml::table root_;
};

}  // namespace

std::string ExperimentRun::folder() const {
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || c == '.') {
      out += static_cast<char>(std::tolower(byte));
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out;
}

std::string Expectation::text() const {
  const char* statistics[] = {"median", "mean", "largest", "smallest"};
  std::string text =
      fmt::format("{} {} of '{}'", statistics[static_cast<int>(statistic)], column, run);
  if (at) text += fmt::format(" at {}", *at);
  if (!relative_to.empty()) text += fmt::format(", relative to '{}'", relative_to);
  return text;
}

Experiment read_experiment(const fs::path& directory, const std::string& name, bool quick) {
  Experiment experiment = ExperimentFile(directory / name / file_name, quick).read();
  experiment.name = name;
  return experiment;
}

std::vector<std::string> experiment_names(const fs::path& directory) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(directory, ignored)) {
    if (entry.path().filename() != file_name) continue;
    names.push_back(entry.path().parent_path().lexically_relative(directory).string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace symport::cli
