// SPDX-License-Identifier: MIT
#include "symport/training/run_summary.hpp"

#include <fmt/format.h>

#include <cmath>

#include "symport/core/counted.hpp"
#include "symport/search/teleport_tally.hpp"

namespace symport {

namespace {

std::string time_text(double seconds) {
  return seconds < 1.0 ? fmt::format("{:.3g} ms", 1e3 * seconds) : fmt::format("{:.3g} s", seconds);
}

/// "1000 steps", "12 epochs (360 steps)"
std::string length_text(const RunSummary& run) {
  if (run.trace.unit == RowUnit::step) return counted(run.steps, "step");
  return counted(run.epochs, "epoch") + " (" + counted(run.steps, "step") + ")";
}

/// "0.0945", "0.0945, 97.2 % correct"; empty without held-out samples.
std::string validation_text(const RunSummary& run) {
  if (run.trace.rows.empty() || std::isnan(run.trace.rows.back().valid_loss)) return {};
  const TraceRow& last = run.trace.rows.back();
  std::string text = fmt::format("{:.5g}", last.valid_loss);
  if (!std::isnan(last.valid_accuracy)) {
    text += fmt::format(" ({:.4g} % correct)", 100.0 * last.valid_accuracy);
  }
  return text;
}

}  // namespace

Index RunSummary::accepted_teleports() const { return TeleportTally(teleports).accepted; }

std::string RunSummary::brief_report() const {
  std::string text = status == RunStatus::diverged ? fmt::format("diverged at step {}", steps)
                                                   : length_text(*this);
  if (status != RunStatus::diverged) text += fmt::format(", loss {:.5g}", final_loss);
  if (!std::isnan(final_grad_sq)) text += fmt::format(", |gradient|^2 {:.5g}", final_grad_sq);
  if (const std::string held_out = validation_text(*this); !held_out.empty()) {
    text += ", validation loss " + held_out;
  }
  if (!teleports.empty()) {
    text +=
        fmt::format(", {} ({} accepted)", counted(static_cast<Index>(teleports.size()), "teleport"),
                    accepted_teleports());
    const auto scope = TeleportTally(teleports).narrowest_scope;
    if (scope && scope->data != Scope::Data::all) text += ", the loss kept " + scope->text();
  }
  return text + ", " + time_text(seconds);
}

std::string RunSummary::full_report() const {
  std::string text;
  const auto line = [&](const char* name, const std::string& value) {
    text += fmt::format("{:<16}{}\n", name, value);
  };
  const auto number = [](double value) { return fmt::format("{:.6g}", value); };
  line("status", std::string(to_string(status)));
  line("length", length_text(*this));
  if (!trace.rows.empty()) line("first loss", number(trace.rows.front().loss));
  line("final loss", status == RunStatus::diverged ? "diverged" : number(final_loss));
  line("|gradient|^2", number(final_grad_sq));
  if (const std::string held_out = validation_text(*this); !held_out.empty()) {
    line("validation loss", held_out);
  }
  line("evaluations", fmt::format("{:.6g} gradients", evaluations));
  line("time", time_text(seconds));
  const TeleportTally tally(teleports);
  line("teleports", fmt::format("{}, {} accepted", tally.total(), tally.accepted));
  if (tally.accepted > 0) line("largest drift", number(tally.largest_drift));
  if (const auto& scope = tally.narrowest_scope; scope && scope->data != Scope::Data::all) {
    line("loss is kept", scope->text() + " only");
  }
  if (const auto& refusal = tally.first_refusal) {
    line("first refusal", fmt::format("at step {}: {}", refusal->step, refusal->reason));
  }
  return text;
}

}  // namespace symport
