// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "commands/texts.hpp"
#include "lab/runs/run_writer.hpp"
#include "lab/text/scope_sentence.hpp"
#include "lab/text/suggestion.hpp"
#include "symport/core/counted.hpp"
#include "symport/search/teleport_tally.hpp"
#include "terminal/text_table.hpp"

namespace symport::cli {

using namespace lab;

namespace {

constexpr std::size_t rows_shown = 12;
/// A loss that has grown by this much is worth a word.
constexpr double much_higher = 10.0;

std::string row_table(const RunSummary& summary, const Style& style) {
  const Trace& trace = summary.trace;
  TextTable table({{std::string(to_string(trace.unit))},
                   {"train loss"},
                   {"valid loss"},
                   {"valid accuracy"},
                   {"|gradient|^2"},
                   {"evaluations"},
                   {"seconds"}});
  const auto number = [](double value) {
    return std::isnan(value) ? std::string("-") : fmt::format("{:.5g}", value);
  };
  const std::size_t count = trace.rows.size();
  const std::size_t stride = std::max<std::size_t>(1, (count + rows_shown - 2) / rows_shown);
  for (std::size_t i = 0; i < count; ++i) {
    if (i % stride != 0 && i + 1 != count) continue;
    const TraceRow& row = trace.rows[i];
    const Index index = trace.unit == RowUnit::epoch ? row.epoch : row.step;
    const bool diverged = summary.status == RunStatus::diverged && i + 1 == count;
    table.add({fmt::format("{}", index), diverged ? "diverged" : number(row.loss),
               number(row.valid_loss), number(row.valid_accuracy), number(row.grad_sq),
               fmt::format("{:.6g}", row.evaluations), fmt::format("{:.3f}", row.seconds)});
  }
  return table.text(style);
}

}  // namespace

std::string train_text(const NetworkResult& result, const Style& style) {
  std::string text = row_table(result.summary, style);
  if (result.summary.status == RunStatus::diverged) {
    text += style.bad(fmt::format("diverged at step {}", result.summary.steps)) +
            ": the loss is no longer a number; try a smaller --lr\n";
  } else if (const auto& rows = result.summary.trace.rows;
             !rows.empty() && result.summary.final_loss > much_higher * rows.front().loss) {
    text += style.bad(fmt::format("the loss rose from {:.3g} to {:.3g}", rows.front().loss,
                                  result.summary.final_loss)) +
            "; try a smaller --lr\n";
  }
  if (!std::isnan(result.train_accuracy)) {
    text += fmt::format("\ntraining set: {:.2f} % right\n", 100.0 * result.train_accuracy);
  }
  if (!result.class_names.empty()) {
    std::vector<std::string> names;
    for (std::size_t k = 0; k < result.class_names.size(); ++k) {
      names.push_back(fmt::format("{} = {}", k, result.class_names[k]));
    }
    text += fmt::format("classes: {}\n", join(names));
  }
  if (result.test_samples > 0) {
    text +=
        fmt::format("\ntest set of {} samples: loss {:.5g}", result.test_samples, result.test_loss);
    if (!std::isnan(result.test_accuracy)) {
      text += fmt::format(", {:.2f} % right", 100.0 * result.test_accuracy);
    }
    text += "\n";
  }
  const TeleportTally tally(result.summary.teleports);
  if (tally.total() == 0) {
    return text + (result.spec.teleport.automatic() ? no_probe_text() + "\n" : "");
  }
  text += fmt::format("\n{} ({}), {} accepted, largest drift of the loss {:.3g}{}\n",
                      counted(tally.total(), "teleport"), *result.spec.how.symmetry, tally.accepted,
                      tally.largest_drift, result.loss_invariant ? "" : " (not loss-invariant)");
  if (tally.accepted > 0) text += scope_sentence(tally) + "\n";
  if (tally.at_rounding_level > 0) {
    text += fmt::format("{} with the loss at rounding level; largest relative change {:.3g}\n",
                        tally.at_rounding_level, tally.largest_relative_change);
  }
  if (tally.first_refusal) {
    text += fmt::format("first refusal, at step {}: {}\n", tally.first_refusal->step,
                        tally.first_refusal->reason);
  }
  return text;
}

std::string seeds_text(const std::vector<NetworkResult>& results, const Style& style) {
  TextTable table({{"seed"},
                   {"status"},
                   {"train loss"},
                   {"train accuracy"},
                   {"valid loss"},
                   {"valid accuracy"},
                   {"test accuracy"},
                   {"teleports"},
                   {"cost"}});
  const auto number = [](double value) {
    return std::isnan(value) ? std::string("-") : fmt::format("{:.5g}", value);
  };
  for (const NetworkResult& result : results) {
    const RunSummary& summary = result.summary;
    const TraceRow last = summary.trace.rows.empty() ? TraceRow{} : summary.trace.rows.back();
    const TeleportTally tally(summary.teleports);
    table.add({fmt::format("{}", result.spec.seed), std::string(to_string(summary.status)),
               number(summary.final_loss), number(result.train_accuracy), number(last.valid_loss),
               number(last.valid_accuracy),
               result.test_samples > 0 ? number(result.test_accuracy) : "-",
               tally.total() == 0 ? "-" : fmt::format("{} of {}", tally.accepted, tally.total()),
               fmt::format("{:.0f}", summary.evaluations)});
  }
  return table.text(style) +
         fmt::format(
             "\nmedian of the final training losses of {} seeds: {:.5g}\n"
             "cost: in gradients of a {}, teleports included\n",
             results.size(), median_final_loss(results),
             !results.empty() && results[0].spec.minibatch() ? "mini-batch" : "full batch");
}

}  // namespace symport::cli
