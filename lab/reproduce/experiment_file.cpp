// SPDX-License-Identifier: MIT
#include "lab/reproduce/experiment_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "lab/config/config_reader.hpp"
#include "lab/config/toml_file.hpp"
#include "lab/data/catalog.hpp"
#include "lab/text/suggestion.hpp"

namespace symport::lab {

namespace fs = std::filesystem;

namespace {

constexpr Statistic statistics[] = {Statistic::median, Statistic::mean, Statistic::largest,
                                    Statistic::smallest};
constexpr SweepReduction reductions[] = {SweepReduction::exponent, SweepReduction::linearity,
                                         SweepReduction::largest, SweepReduction::share_above_one,
                                         SweepReduction::share_missing};
const std::vector<std::string> quantity_keys{
    "column", "at", "at_loss", "at_change", "relative_to", "speed_up_over", "statistic"};

/// The tables of an experiment, with messages that name the line.
class ExperimentFile {
 public:
  ExperimentFile(fs::path file, bool quick)
      : file_(std::move(file)), quick_(quick), root_(read_toml(file_, "FIGURE")) {
    known(root_, {"title", "see", "command", "seeds", "clock", "show", "options", "quick", "axis",
                  "run", "figure", "expect"});
  }

  Experiment read() {
    out_.title = text(root_, "title");
    out_.see = text(root_, "see");
    command_ = text(root_, "command");
    if (command_ != "train" && command_ != "optimize") {
      fail(root_, "command", fmt::format("found '{}', allowed is train, optimize", command_));
    }
    out_.clock = truth(root_, "clock");
    out_.shown = texts(root_, "show");
    toml::table quick = table(root_, "quick");
    out_.seeds = seeds(root_);
    if (quick.contains("seeds")) {
      if (std::vector<std::uint64_t> few = seeds(quick); quick_) out_.seeds = std::move(few);
    }
    quick.erase("seeds");
    const Arguments common = options(table(root_, "options"), quick);
    for (const auto& [key, node] : table(root_, "axis")) {
      if (!node.is_table()) throw UsageError(toml_origin(file_, key), "allowed is a table");
      read_axis(std::string(key.str()), *node.as_table());
    }
    for (const toml::table& run : tables("run")) read_run(run, common);
    if (out_.runs.empty()) throw UsageError(file_.string(), "there is no [[run]]");
    for (const toml::table& figure : tables("figure")) read_figure(figure);
    for (const toml::table& expectation : tables("expect")) read_expectation(expectation);
    for (const ExperimentRun& run : out_.runs) {
      const auto* spec = std::get_if<NetworkRunSpec>(&run.spec);
      for (const CatalogEntry& entry : data_catalog()) {
        if (spec && entry.name == spec->data) out_.data = entry.name;
      }
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(const toml::table& in, const char* key, const std::string& what) const {
    const auto found = in.find(key);
    if (found != in.end()) throw UsageError(toml_origin(file_, found->first), what);
    const auto line = in.source().begin.line;  // 0 in copies, which do not know their place
    throw UsageError(line > 0 ? fmt::format("{}:{}: {}", file_.string(), line, key)
                              : fmt::format("{}: {}", file_.string(), key),
                     what);
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

  bool truth(const toml::table& in, const char* key) const {
    if (in.contains(key) && !in[key].is_boolean()) fail(in, key, "allowed is true, false");
    return in[key].value_or(false);
  }

  std::optional<double> number(const toml::table& in, const char* key) const {
    if (in.contains(key) && !in[key].is_number()) fail(in, key, "allowed is a number");
    return in[key].value<double>();
  }

  /// A text or a list of some; none where the key is missing.
  std::vector<std::string> texts(const toml::table& in, const char* key) const {
    std::vector<std::string> list;
    if (!in.contains(key)) return list;
    if (const auto one = in[key].value<std::string>()) return {*one};
    const toml::array* array = in[key].as_array();
    for (std::size_t i = 0; array && i < array->size(); ++i) {
      const auto word = array->get(i)->value<std::string>();
      if (!word) fail(in, key, "allowed are texts");
      list.push_back(*word);
    }
    if (!array) fail(in, key, "allowed are texts");
    return list;
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

  std::vector<double> numbers(const toml::table& in, const char* key) const {
    std::vector<double> list;
    const toml::array* array = in[key].as_array();
    for (std::size_t i = 0; array && i < array->size(); ++i) {
      const auto value = array->get(i)->value<double>();
      if (!value) fail(in, key, "allowed are numbers");
      list.push_back(*value);
    }
    if (list.empty()) fail(in, key, "missing, allowed is a list of numbers");
    return list;
  }

  std::vector<std::uint64_t> seeds(const toml::table& in) const {
    std::vector<std::uint64_t> list;
    for (const double seed : numbers(in, "seeds")) {
      if (!(seed >= 0.0 && seed < 9e15 && seed == std::floor(seed))) {
        fail(in, "seeds", "allowed are whole numbers >= 0");
      }
      list.push_back(static_cast<std::uint64_t>(seed));
    }
    return list;
  }

  Arguments given_by(const toml::table& in) const {
    return toml_arguments(in, file_, command_, run_options(command_));
  }

  /// Both forms are checked, whichever is asked for.
  Arguments options(const toml::table& full, const toml::table& quick) const {
    const Arguments all = given_by(full);
    Arguments given = given_by(quick);
    if (!quick_) return all;
    given.merge(all);
    return given;
  }

  void read_axis(const std::string& name, toml::table in) {
    SweepAxis axis{.name = name, .label = text(in, "label"), .values = {}};
    std::vector<Arguments> settings;
    axis.logarithmic = !truth(in, "linear");
    const std::vector<double> all = numbers(in, "values");
    const std::vector<double> few = in.contains("quick") ? numbers(in, "quick") : all;
    for (const double value : few) {
      if (std::find(all.begin(), all.end(), value) == all.end()) {
        fail(in, "quick", fmt::format("{} is not among the values", value));
      }
    }
    for (const char* key : {"label", "linear", "values", "quick"}) in.erase(key);
    for (std::size_t i = 0; i < all.size(); ++i) {
      toml::table one;
      for (const auto& [key, node] : in) {
        const toml::array* list = node.as_array();
        if (!list || list->size() != all.size()) {
          throw UsageError(toml_origin(file_, key), "allowed is a list as long as the values");
        }
        one.insert(key, *list->get(i));
      }
      Arguments given = given_by(one);
      if (quick_ && std::find(few.begin(), few.end(), all[i]) == few.end()) continue;
      axis.values.push_back(all[i]);
      settings.push_back(std::move(given));
    }
    out_.axes.push_back(std::move(axis));
    settings_.push_back(std::move(settings));
  }

  void read_run(toml::table in, const Arguments& common) {
    ExperimentMethod method{.name = text(in, "name")};
    if (in.contains("panel")) method.panel = text(in, "panel");
    for (const std::string& name : texts(in, "over")) {
      const auto found = std::find_if(out_.axes.begin(), out_.axes.end(),
                                      [&](const SweepAxis& axis) { return axis.name == name; });
      if (found == out_.axes.end()) fail(in, "over", fmt::format("there is no axis '{}'", name));
      method.axes.push_back(static_cast<std::size_t>(found - out_.axes.begin()));
    }
    if (method.axes.size() > 2) fail(in, "over", "allowed are one or two axes");
    const toml::table quick = table(in, "quick");
    for (const char* key : {"name", "over", "panel", "quick"}) in.erase(key);
    Arguments own = options(in, quick);
    own.merge(common);
    std::vector<ExperimentRun> places{
        {.name = method.name, .method = out_.methods.size(), .given = std::move(own)}};
    for (const std::size_t index : method.axes) {
      const SweepAxis& axis = out_.axes[index];
      std::vector<ExperimentRun> next;
      for (const ExperimentRun& at : places) {
        for (std::size_t i = 0; i < axis.values.size(); ++i) {
          ExperimentRun run = at;
          run.name += fmt::format(", {} {:g}", axis.name, axis.values[i]);
          run.given = settings_[index][i];
          run.given.merge(at.given);
          run.place.push_back(i);
          next.push_back(std::move(run));
        }
      }
      places = std::move(next);
    }
    out_.methods.push_back(std::move(method));
    for (ExperimentRun& run : places) {
      run.spec = read_run_spec(command_, run.given);
      out_.runs.push_back(std::move(run));
    }
  }

  /// The method of that name; with axes, or without, or either.
  std::size_t method_of(const toml::table& in, const char* key, const std::string& name) const {
    std::vector<std::string> names;
    for (const ExperimentMethod& method : out_.methods) names.push_back(method.name);
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      fail(in, key, fmt::format("there is no run '{}'{}", name, did_you_mean(name, names)));
    }
    return static_cast<std::size_t>(found - names.begin());
  }

  /// A run without axes, or at one place of them.
  std::string run_of(const toml::table& in, const char* key) const {
    const std::string name = text(in, key);
    const auto same = [&](const ExperimentRun& run) { return run.name == name; };
    if (std::any_of(out_.runs.begin(), out_.runs.end(), same)) return name;
    if (!out_.methods[method_of(in, key, name)].axes.empty()) {
      fail(in, key, fmt::format("'{}' has axes, allowed is a run", name));
    }
    return name;
  }

  template <class Value, std::size_t count>
  Value choice(const toml::table& in, const char* key, const Value (&values)[count],
               Value otherwise) const {
    if (!in.contains(key)) return otherwise;
    const std::string found = text(in, key);
    std::vector<std::string> allowed;
    for (const Value value : values) {
      if (found == to_string(value)) return value;
      allowed.emplace_back(to_string(value));
    }
    fail(in, key, "allowed is " + join(allowed));
  }

  Quantity read_quantity(const toml::table& in) const {
    Quantity out{.column = text(in, "column")};
    if (in.contains("at")) {
      const auto at = in["at"].value<std::int64_t>();
      if (!at || *at < 0) fail(in, "at", "allowed is a whole number >= 0");
      out.at = *at;
    }
    out.at_loss = number(in, "at_loss");
    out.at_change = number(in, "at_change");
    if (out.at.has_value() + out.at_loss.has_value() + out.at_change.has_value() > 1) {
      fail(in, "column", "allowed is one of at, at_loss, at_change");
    }
    if (in.contains("relative_to")) out.relative_to = run_of(in, "relative_to");
    if (in.contains("speed_up_over")) out.speed_up_over = run_of(in, "speed_up_over");
    out.statistic = choice(in, "statistic", statistics, Statistic::median);
    return out;
  }

  /// It becomes the name of a file.
  std::string figure_id(const toml::table& in) const {
    std::string id = text(in, "id");
    const auto plain = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '-' || c == '_';
    };
    if (!std::all_of(id.begin(), id.end(), plain)) {
      fail(in, "id", fmt::format("found '{}', allowed are letters, digits, - and _", id));
    }
    return id;
  }

  void read_figure(const toml::table& in) {
    std::vector<std::string> keys = quantity_keys;
    keys.insert(keys.end(), {"id", "title", "see", "label", "linear", "runs"});
    known(in, keys);
    SweepFigure figure{.id = figure_id(in),
                       .title = text(in, "title"),
                       .see = text(in, "see"),
                       .label = text(in, "label"),
                       .logarithmic = !truth(in, "linear"),
                       .methods = {},
                       .quantity = read_quantity(in)};
    for (const std::string& name : texts(in, "runs")) {
      figure.methods.push_back(method_of(in, "runs", name));
      const ExperimentMethod &method = out_.methods[figure.methods.back()],
                             &first = out_.methods[figure.methods.front()];
      if (method.axes.empty() || method.axes != first.axes) {
        fail(in, "runs", "allowed are runs with the same axes");
      }
    }
    if (figure.methods.empty()) fail(in, "runs", "missing, allowed are runs with axes");
    out_.figures.push_back(std::move(figure));
  }

  void read_expectation(const toml::table& in) {
    std::vector<std::string> keys = quantity_keys;
    keys.insert(keys.end(), {"run", "reduce", "full", "quick"});
    known(in, keys);
    Expectation out;
    out.reduction = choice(in, "reduce", reductions, SweepReduction::none);
    if (out.reduction == SweepReduction::none) {
      out.run = run_of(in, "run");
    } else {
      out.run = text(in, "run");
      if (out_.methods[method_of(in, "run", out.run)].axes.empty()) {
        fail(in, "reduce", fmt::format("'{}' has no axes", out.run));
      }
    }
    out.quantity = read_quantity(in);
    out.origin = fmt::format("{}:{}", file_.string(), in.source().begin.line);
    for (const char* form : {"full", "quick"}) {
      if (!in.contains(form)) continue;
      const toml::array* interval = in[form].as_array();
      const auto low =
          interval && interval->size() == 2 ? interval->get(0)->value<double>() : std::nullopt;
      const auto high = low ? interval->get(1)->value<double>() : std::nullopt;
      if (!high || !(*low <= *high)) fail(in, form, "allowed is an interval, [low, high]");
      if (quick_ != (form == std::string("quick"))) continue;
      out.low = *low;
      out.high = *high;
      out_.expectations.push_back(out);
    }
  }

  fs::path file_;
  bool quick_;
  toml::table root_;
  std::string command_{};
  std::vector<std::vector<Arguments>> settings_{};  ///< what each value of each axis sets
  Experiment out_{};
};

}  // namespace

Experiment read_experiment(const fs::path& directory, const std::string& name, bool quick) {
  const fs::path file = directory / name / experiment_file_name;
  Experiment experiment = ExperimentFile(file, quick).read();
  experiment.name = name;
  experiment.text = read_config_text(file, file.string());
  return experiment;
}

std::vector<std::string> experiment_names(const fs::path& directory) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(directory, ignored)) {
    if (entry.path().filename() != experiment_file_name) continue;
    names.push_back(entry.path().parent_path().lexically_relative(directory).string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace symport::lab
