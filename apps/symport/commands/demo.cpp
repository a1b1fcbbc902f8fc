// SPDX-License-Identifier: MIT
#include "commands/demo.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands/optimize.hpp"
#include "lab/runs/interruption.hpp"
#include "lab/text/json_forms.hpp"
#include "lab/text/parse_numbers.hpp"
#include "symport/core/version.hpp"
#include "symport/search/teleport_tally.hpp"
#include "symport/training/best_learning_rate.hpp"
#include "terminal/text_table.hpp"

namespace symport::cli {

using namespace lab;

namespace {

/// A function with the schedule and the rate of the fixed search: the paper's where it has them
/// (section 6.1). Start, learning rate and steps are the function's own.
struct Case {
  const char* function;
  const char* teleport;
  double fixed_rate;
};
constexpr Case cases[] = {
    {"ellipse", "0", 0.003},  {"rosenbrock", "every:100+99", 0.1},    {"booth", "4", 0.001},
    {"quadratic", "0", 1e-5}, {"factorization", "every:50+49", 1e-5},
};

constexpr RateGrid rates;

struct Row {
  std::string method;
  std::string folder;
  Optimization run;
};

bool watch(const TraceRow&) { return !interrupted(); }

/// The rate of plain gradient descent with the smallest final loss.
double best_rate(const OptimizeOptions& options) {
  const Optimization plain(options);
  return best_learning_rate<double>(
             *plain.problem().function, plain.optimizer(), plain.x(),
             {.max_steps = *plain.options().steps, .trace = false, .watcher = watch}, rates)
      .learning_rate;
}

/// Runs one function in every way; fewer rows when interrupted.
std::vector<Row> run_case(const Case& what, std::uint64_t seed) {
  OptimizeOptions plain{.function = what.function, .seed = seed};
  OptimizeOptions tuned = plain, fixed = plain, automatic = plain;
  tuned.learning_rate = exact_text(best_rate(plain));
  fixed.teleport = automatic.teleport = Schedule::parse(what.teleport);
  fixed.search = "fixed";
  fixed.search_rate = what.fixed_rate;

  std::vector<Row> rows;
  const auto add = [&](const char* method, const char* folder, const OptimizeOptions& options) {
    if (interrupted()) return;
    rows.push_back({method, folder, Optimization(options)});
    rows.back().run.run(true, watch);
  };
  add("gradient descent", "gd", plain);
  add("  at its best rate", "gd-best-rate", tuned);
  add("  + the paper's search", "teleport-fixed", fixed);
  add("  + Symport's search", "teleport", automatic);
  return rows;
}

std::string table_text(const std::vector<Row>& rows, const Style& style) {
  using enum TextTable::Align;
  TextTable table({{"function", left},
                   {"method", left},
                   {"rate"},
                   {"steps"},
                   {"final loss"},
                   {"|gradient|^2"},
                   {"teleports"},
                   {"drift"},
                   {"cost"}});
  std::string previous;
  for (const Row& row : rows) {
    const RunSummary& summary = row.run.summary();
    const std::string function = row.run.options().function;
    if (!previous.empty() && function != previous) table.add_gap();
    const bool teleports = !summary.teleports.empty();
    table.add(
        {function == previous ? "" : function, row.method,
         fmt::format("{:.3g}", *row.run.constant_rate()), fmt::format("{}", summary.steps),
         fmt::format("{:.4g}", summary.final_loss), fmt::format("{:.4g}", summary.final_grad_sq),
         teleports ? fmt::format("{} of {}", summary.accepted_teleports(), summary.teleports.size())
                   : "",
         teleports ? fmt::format("{:.0e}", TeleportTally(summary.teleports).largest_drift) : "",
         fmt::format("{:.0f}", summary.evaluations)});
    previous = function;
  }
  return table.text(style);
}

constexpr const char* heading =
    "Gradient descent on the paper's test functions, a quadratic and a matrix factorization, with "
    "and\n"
    "without teleportation:\n\n";

std::string explanation() {
  return fmt::format(
      "\n"
      "teleports  accepted of tried\n"
      "drift      largest relative change of the loss at a teleport\n"
      "cost       in gradients, teleports included\n"
      "best rate  the smallest final loss among rates from {} to {}, {} a decade; finding it is "
      "not\n"
      "           counted as cost\n"
      "paper's    {} ascent steps on |gradient|^2 at a fixed rate, from a random angle\n"
      "chosen     the schedules of ellipse, quadratic and factorization and the paper's rates "
      "there,\n"
      "           by trying several. One greedy teleport can also hurt:\n"
      "           symport optimize factorization --teleport 0\n",
      rates.lowest, rates.highest, rates.per_decade, *find_entry(searches(), "fixed").steps);
}

std::string summary_json(const std::vector<Row>& rows, std::uint64_t seed, bool complete) {
  Json list = Json::array();
  for (const Row& row : rows) {
    const RunSummary& summary = row.run.summary();
    list.push_back({{"function", row.run.options().function},
                    {"method", row.method.substr(row.method.find_first_not_of(" +"))},
                    {"folder", row.run.options().function + "/" + row.folder},
                    {"status", to_string(summary.status)},
                    {"learning_rate", *row.run.constant_rate()},
                    {"steps", summary.steps},
                    {"final_loss", json_number(summary.final_loss)},
                    {"final_grad_sq", json_number(summary.final_grad_sq)},
                    {"teleports", summary.teleports.size()},
                    {"accepted", summary.accepted_teleports()},
                    {"drift", json_number(TeleportTally(summary.teleports).largest_drift)},
                    {"evaluations", json_number(summary.evaluations)},
                    {"seconds", summary.seconds}});
  }
  return json_text({{"status", complete ? "done" : to_string(RunStatus::interrupted)},
                    {"runs", std::move(list)},
                    {"seed", seed},
                    {"version", version()}});
}

/// runs/demo-20260101-120000
std::string time_stamped_directory() {
  return fmt::format("runs/demo-{:%Y%m%d-%H%M%S}", fmt::localtime(std::time(nullptr)));
}

int run_demo(const Given& given) {
  const bool quiet = given.is_on("quiet"), json = given.is_on("json");
  const auto seed = given.read("seed", parse_seed).value_or(OptimizeOptions{}.seed);
  RunDirectory directory(given.text("out").value_or(time_stamped_directory()), given.is_on("force"),
                         given.origin("out"));
  std::vector<Row> rows;
  for (const Case& what : cases) {
    for (Row& row : run_case(what, seed)) rows.push_back(std::move(row));
  }
  for (const Row& row : rows) {
    write_run(row.run, directory, std::filesystem::path(row.run.options().function) / row.folder);
  }
  const bool complete = !interrupted();
  const std::string summary = summary_json(rows, seed, complete);
  directory.write("summary.json", summary);
  print(json ? summary : heading + table_text(rows, Style::for_stdout()) + explanation());
  if (!quiet)
    print_error(
        fmt::format("\nTraces, certificates and configurations: {}\n", directory.path().string()));
  return complete ? exit_done : exit_interrupted;
}

}  // namespace

Command demo_command() {
  return {
      .name = "demo",
      .summary = "the paper's test functions with and without teleportation",
      .details =
          "Minimises the test functions of the paper, a quadratic and a matrix factorization by\n"
          "gradient descent: alone, alone at its best learning rate, with teleportation as in the\n"
          "paper, and with Symport's own. Prints a table and writes every run to a directory.",
      .examples = "symport demo\nsymport demo --out runs/demo --force",
      .positionals = {},
      .options = {{"seed", "N",
                   fmt::format("seed of the random numbers in searches (default {})",
                               OptimizeOptions{}.seed)},
                  {"out", "DIR", "where to write (default: runs/demo-DATE-TIME)", "Output"},
                  common::force(),
                  common::json(),
                  common::quiet()},
      .run = run_demo};
}

}  // namespace symport::cli
