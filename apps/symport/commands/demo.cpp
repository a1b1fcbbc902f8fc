// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/errors.hpp"
#include "cli/output_options.hpp"
#include "commands/all.hpp"
#include "commands/demo_network.hpp"
#include "lab/runs/run_writer.hpp"
#include "lab/text/json_forms.hpp"
#include "symport/core/version.hpp"
#include "symport/search/teleport_tally.hpp"
#include "symport/training/best_learning_rate.hpp"
#include "terminal/interruption.hpp"
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
  FunctionResult result;
};

bool watch(const TraceRow&) { return !interrupted(); }

/// The rate of plain gradient descent with the smallest final loss.
double best_rate(const FunctionRunSpec& spec) {
  const FunctionRun plain = resolve(spec);
  return best_learning_rate<double>(
             *plain.problem.function, *plain.optimizer, plain.start(),
             {.max_steps = *plain.spec.steps, .trace = false, .watcher = watch}, rates)
      .learning_rate;
}

/// Runs one function in every way; fewer rows when interrupted.
std::vector<Row> run_case(const Case& what, std::uint64_t seed) {
  FunctionRunSpec plain{.function = what.function, .seed = seed};
  FunctionRunSpec tuned = plain, fixed = plain, automatic = plain;
  tuned.learning_rate = RateSpec{best_rate(plain)};
  fixed.teleport = automatic.teleport = Schedule::parse(what.teleport);
  fixed.how.search = "fixed";
  fixed.how.search_rate = what.fixed_rate;

  std::vector<Row> rows;
  const auto add = [&](const char* method, const char* folder, const FunctionRunSpec& spec) {
    if (interrupted()) return;
    rows.push_back({method, folder, run_function(resolve(spec), true, watch)});
  };
  add("gradient descent", "gd", plain);
  add("  at its best rate", "gd-best-rate", tuned);
  add("  + the paper's search", "teleport-fixed", fixed);
  add("  + Symport's search", "teleport", automatic);
  if (interrupted()) return rows;
  // What plain steps bring for the gradients that the teleports have cost: first, since it is the
  // fair comparison.
  FunctionRunSpec same_cost = plain;
  same_cost.steps = std::lround(rows.back().result.summary.evaluations) - 1;
  add("  at the cost of Symport's", "gd-same-cost", same_cost);
  if (rows.size() == 5) std::rotate(rows.begin() + 1, rows.end() - 1, rows.end());
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
    const RunSummary& summary = row.result.summary;
    const TeleportTally tally(summary.teleports);
    const std::string& function = row.result.spec.function;
    if (!previous.empty() && function != previous) table.add_gap();
    const bool teleports = tally.total() > 0;
    table.add({function == previous ? "" : function, row.method,
               fmt::format("{:.3g}", *row.result.spec.learning_rate->constant()),
               fmt::format("{}", summary.steps),
               summary.status == RunStatus::diverged ? "diverged"
                                                     : fmt::format("{:.4g}", summary.final_loss),
               fmt::format("{:.4g}", summary.final_grad_sq),
               teleports ? fmt::format("{} of {}", tally.accepted, tally.total()) : "",
               teleports ? fmt::format("{:.0e}", tally.largest_drift) : "",
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
      "cost       in gradients, teleports included; 'at the cost of Symport's' is gradient "
      "descent\n"
      "           at the same rate with as many of them as the last row has spent\n"
      "best rate  the smallest final loss among rates from {} to {}, {} a decade; finding it is "
      "not\n"
      "           counted as cost\n"
      "paper's    {} ascent steps on |gradient|^2 at a fixed rate, from a random angle\n"
      "chosen     the schedules of ellipse, quadratic and factorization and the paper's rates "
      "there,\n"
      "           by trying several. Teleports are rehearsed; a greedy one can hurt:\n"
      "           symport optimize factorization --teleport 0 --rehearsal 0\n",
      rates.lowest, rates.highest, rates.per_decade, *find_entry(searches(), "fixed").steps);
}

Json networks_json(const std::vector<DemoNetworkRow>& networks) {
  Json list = Json::array();
  for (const DemoNetworkRow& row : networks) {
    const RunSummary& summary = row.result.summary;
    list.push_back({{"data", row.result.spec.data},
                    {"method", row.method},
                    {"folder", row.result.spec.data + "/" + row.folder},
                    {"learning_rate", *row.result.spec.learning_rate->constant()},
                    {"steps", summary.steps},
                    {"final_loss", json_number(summary.final_loss)},
                    {"valid_loss", json_number(summary.trace.rows.back().valid_loss)},
                    {"evaluations", json_number(summary.evaluations)},
                    {"seconds", summary.seconds}});
  }
  return list;
}

std::string summary_json(const std::vector<Row>& rows, const std::vector<DemoNetworkRow>& networks,
                         std::uint64_t seed, bool complete) {
  Json list = Json::array();
  for (const Row& row : rows) {
    const RunSummary& summary = row.result.summary;
    const TeleportTally tally(summary.teleports);
    const std::string& function = row.result.spec.function;
    list.push_back({{"function", function},
                    {"method", row.method.substr(row.method.find_first_not_of(" +"))},
                    {"folder", function + "/" + row.folder},
                    {"status", to_string(summary.status)},
                    {"learning_rate", *row.result.spec.learning_rate->constant()},
                    {"steps", summary.steps},
                    {"final_loss", json_number(summary.final_loss)},
                    {"final_grad_sq", json_number(summary.final_grad_sq)},
                    {"teleports", tally.total()},
                    {"accepted", tally.accepted},
                    {"drift", json_number(tally.largest_drift)},
                    {"evaluations", json_number(summary.evaluations)},
                    {"seconds", summary.seconds}});
  }
  return json_text({{"status", complete ? "done" : to_string(RunStatus::interrupted)},
                    {"runs", std::move(list)},
                    {"networks", networks_json(networks)},
                    {"seed", seed},
                    {"version", version()}});
}

struct DemoOptions {
  std::uint64_t seed = FunctionRunSpec{}.seed;
};

const OptionTable<DemoOptions>& demo_options() {
  static const OptionTable<DemoOptions> table(
      "Options", {row({"seed", "N", "seed of the random numbers in searches"}, &DemoOptions::seed,
                      as_seed())});
  return table;
}

int run_demo(const Arguments& arguments) {
  const OutputOptions output = read_output_options(arguments);
  const std::uint64_t seed = demo_options().read(arguments).seed;
  const GracefulStop graceful;
  const std::unique_ptr<RunDirectory> directory = output.directory();
  std::vector<Row> rows;
  for (const Case& what : cases) {
    for (Row& row : run_case(what, seed)) rows.push_back(std::move(row));
  }
  const std::vector<DemoNetworkRow> networks = demo_network(seed);
  const bool complete = !interrupted();
  const std::string summary = summary_json(rows, networks, seed, complete);
  do_both(
      [&] {
        if (!directory) return;
        for (const Row& row : rows) {
          write_run(row.result, *directory,
                    std::filesystem::path(row.result.spec.function) / row.folder);
        }
        for (const DemoNetworkRow& row : networks) {
          write_run(row.result, *directory,
                    std::filesystem::path(row.result.spec.data) / row.folder);
        }
        directory->write("summary.json", summary);
      },
      [&] {
        print(output.json ? summary
                          : heading + table_text(rows, Style::for_stdout()) + explanation() +
                                demo_network_text(networks, Style::for_stdout()));
      });
  if (!output.quiet) {
    print_error(directory ? fmt::format("\nTraces, certificates and configurations: {}\n",
                                        directory->path().string())
                          : std::string("\nsymport demo --out DIR keeps traces, certificates and "
                                        "configurations; symport report DIR draws them.\n"));
  }
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
          "paper, and with Symport's own. Then trains a small network on generated data with SGD,\n"
          "momentum, Adam and round trips, each at its best rate. Prints both tables; --out keeps\n"
          "every run.",
      .examples = "symport demo\nsymport demo --out runs/demo --force",
      .options = joined({demo_options().options(),
                         output_flags({{"out", "write every run to this directory, new or empty"},
                                       "force",
                                       "json",
                                       "quiet"})}),
      .run = run_demo};
}

}  // namespace symport::cli
