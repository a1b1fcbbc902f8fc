// SPDX-License-Identifier: MIT
#include "lab/benchmark/benchmark_problem.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lab/data/catalog.hpp"
#include "lab/text/suggestion.hpp"

namespace symport::lab::benchmark {

namespace {

using compare::Budget;

constexpr Budget function_budget{Budget::Unit::evaluations, 2000.0};
constexpr Budget network_budget{Budget::Unit::evaluations, 500.0};
constexpr Budget minibatch_budget{Budget::Unit::evaluations, 1000.0};

BenchmarkProblem function(const std::string& specification, std::string summary) {
  return {specification, std::move(summary), compare::parse_problem(specification, {}, {}),
          function_budget};
}

using Settings = std::vector<std::pair<std::string, std::string>>;

/// A network by the options that `symport train` would be given.
BenchmarkProblem network(const std::string& name, std::string summary, const std::string& data,
                         const Settings& settings, const Budget& budget = network_budget) {
  Arguments given;
  for (const auto& [option, text] : settings) given.add({option, text, "problem " + name});
  compare::Problem problem = compare::parse_problem(data, network_run_options().read(given), given);
  problem.name = name;
  return {name, std::move(summary), std::move(problem), budget};
}

std::string widths(Index features, const std::vector<Index>& hidden, Index outputs) {
  return fmt::format("{},{},{}", features, fmt::join(hidden, ","), outputs);
}

Settings table_settings(const CatalogEntry& entry, const std::vector<Index>& hidden) {
  Settings settings{{"layers", widths(entry.features(), hidden, entry.outputs())},
                    {"bias", "true"}};
  if (entry.classes == 0) settings.emplace_back("loss", "mse");
  if (entry.samples() > table_samples) {
    settings.emplace_back("samples", fmt::format("{}", table_samples));
  }
  return settings;
}

void add_functions(std::vector<BenchmarkProblem>& list) {
  list.push_back(function("ellipse", "an ellipse in the plane"));
  list.push_back(function("booth", "Booth's function"));
  list.push_back(function("rosenbrock", "Rosenbrock's valley in the plane"));
  list.push_back(function("rosenbrock:5", "Rosenbrock's valley in ten variables"));
  list.push_back(function("quadratic:10,100", "a quadratic of condition 100"));
  list.push_back(function("quadratic:50,1000", "a quadratic of condition 1000"));
  list.push_back(function("quadratic:50,10000", "a quadratic of condition 10000"));
  list.push_back(function("rotated_quadratic:10,100", "condition 100, not along the axes"));
  list.push_back(function("rotated_quadratic:50,1000", "condition 1000, not along the axes"));
  list.push_back(function("rotated_quadratic:50,10000", "condition 10000, not along the axes"));
}

void add_factorizations(std::vector<BenchmarkProblem>& list) {
  for (const char* condition : {"1", "10", "100", "1000", "10000"}) {
    list.push_back(function(fmt::format("factorization:20,15,4,{}", condition),
                            fmt::format("a matrix of rank 4 and condition {}", condition)));
  }
  list.push_back(function("factorization:20,15,4,10,100",
                          "the same with condition 10 from factors of unequal size"));
  for (const char* condition : {"1", "10", "100"}) {
    list.push_back(
        function(fmt::format("completion:20,15,3,{},0.6", condition),
                 fmt::format("six tenths of a matrix of rank 3 and condition {}", condition)));
  }
  const Settings linear{{"activation", "linear"}, {"loss", "mse"}};
  Settings three = linear, five = linear;
  three.emplace_back("layers", "5,6,7,8");
  five.emplace_back("layers", "8,8,8,8,8,8");
  list.push_back(network("linear-3", "a linear network of three layers on the paper's regression",
                         "regression", three));
  list.push_back(
      network("linear-5", "a linear network of five layers of width 8", "regression", five));
}

void add_tables(std::vector<BenchmarkProblem>& list) {
  for (const CatalogEntry& entry : data_tables()) {
    list.push_back(network(entry.name, entry.summary, entry.name,
                           table_settings(entry, {table_width, table_width})));
  }
}

void add_networks(std::vector<BenchmarkProblem>& list) {
  list.push_back(network("regression", "the paper's regression (section 6.1)", "regression",
                         {{"layers", "5,6,7,8"}, {"loss", "mse"}}));
  list.push_back(network("spirals", "two interleaved spirals", "spirals",
                         {{"layers", "2,16,16,2"}, {"samples", "100"}, {"bias", "true"}}));
  for (const char* name : {"digits", "satimage", "diabetes"}) {
    const CatalogEntry& entry = find_entry(data_tables(), name);
    Settings settings = table_settings(entry, {table_width, table_width, table_width});
    settings.emplace_back("activation", "tanh_extended");
    list.push_back(network(fmt::format("{}-3", name),
                           fmt::format("{}, three hidden layers", entry.summary), name, settings));
  }
  list.push_back(network(
      "mnist-2000", "2000 images of MNIST, full batches", "mnist",
      {{"layers", "784,64,64,10"}, {"samples", "2000"}, {"bias", "true"}, {"precision", "float"}},
      {Budget::Unit::evaluations, 300.0}));
}

/// A network of two hidden layers on at most `minibatch_samples` of a set.
BenchmarkProblem minibatch_problem(const std::string& name, Index width) {
  const CatalogEntry& entry = find_entry(data_catalog(), name);
  const Index samples = std::min(entry.samples(), minibatch_samples);
  return network(fmt::format("{}-batches", name),
                 fmt::format("{} samples of {}, mini-batches of 100", samples, name), name,
                 {{"layers", widths(entry.features(), {width, width}, entry.outputs())},
                  {"samples", fmt::format("{}", samples)},
                  {"bias", "true"},
                  {"batch", "100"},
                  {"evaluate-every", "100"},
                  {"precision", "float"}},
                 minibatch_budget);
}

void add_minibatches(std::vector<BenchmarkProblem>& list) {
  for (const char* name : {"mnist", "fashion-mnist", "cifar10"}) {
    list.push_back(minibatch_problem(name, image_width));
  }
  for (const char* name : {"letter", "penbased", "satimage", "texture", "magic"}) {
    list.push_back(minibatch_problem(name, 2 * table_width));
  }
}

}  // namespace

const std::string& BenchmarkProblem::data() const {
  static const std::string none;
  return problem.data_set() ? std::get<NetworkRunSpec>(problem.spec).data : none;
}

const std::vector<BenchmarkProblem>& benchmark_problems() {
  static const std::vector<BenchmarkProblem> problems = [] {
    std::vector<BenchmarkProblem> list;
    add_functions(list);
    add_factorizations(list);
    add_tables(list);
    add_networks(list);
    add_minibatches(list);
    return list;
  }();
  return problems;
}

BenchmarkProblem find_problem(const std::string& name) {
  const auto& known = benchmark_problems();
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&](const BenchmarkProblem& one) { return one.name == name; });
  if (found != known.end()) return *found;
  std::vector<std::string> names = names_of(functions());
  if (std::find(names.begin(), names.end(), name.substr(0, name.find(':'))) != names.end()) {
    return function(name, "a test function");
  }
  for (const BenchmarkProblem& one : known) names.push_back(one.name);
  throw UsageError("--problems", fmt::format("found '{}', allowed is a test function (symport "
                                             "list) or a name of symport benchmark --list{}",
                                             name, did_you_mean(name, names)));
}

}  // namespace symport::lab::benchmark
