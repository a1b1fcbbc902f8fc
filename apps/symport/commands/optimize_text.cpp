// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cmath>

#include "commands/texts.hpp"
#include "symport/core/counted.hpp"
#include "terminal/text_table.hpp"

namespace symport::cli {

using namespace lab;

namespace {

constexpr Index numbers_shown = 8;
constexpr std::size_t teleports_shown = 20;

std::string status_text(const RunSummary& summary, bool low_enough) {
  switch (summary.status) {
    case RunStatus::step_limit:
      return fmt::format("all {} made", counted(summary.steps, "step"));
    case RunStatus::converged:
      return fmt::format("converged after {}: {}", counted(summary.steps, "step"),
                         low_enough ? "the loss is below --stop-at" : "no step lowers it any more");
    case RunStatus::diverged:
      return fmt::format("diverged at step {}", summary.steps);
    case RunStatus::interrupted:
      return "interrupted after " + counted(summary.steps, "step");
  }
  return {};
}

std::string point_text(const Vector& x) {
  std::string text;
  for (Index i = 0; i < std::min(x.size(), numbers_shown); ++i) {
    text += fmt::format("{}{:.9g}", i == 0 ? "" : ", ", x[i]);
  }
  if (x.size() > numbers_shown) text += fmt::format(", ... ({} numbers; --json has all)", x.size());
  return text;
}

std::string time_text(double seconds) {
  return seconds < 1.0 ? fmt::format("{:.3g} ms", 1e3 * seconds) : fmt::format("{:.3g} s", seconds);
}

std::string teleport_table(const std::vector<Certificate>& teleports, const Style& style) {
  using enum TextTable::Align;
  TextTable table({{"step"},
                   {"loss"},
                   {"drift"},
                   {"|gradient|^2"},
                   {"-> after"},
                   {"curvature"},
                   {"-> after"},
                   {"cost"},
                   {"result", left}});
  const std::size_t hidden =
      teleports.size() > teleports_shown ? teleports.size() - teleports_shown : 0;
  for (std::size_t i = 0; i < teleports.size(); ++i) {
    if (hidden > 0 && i == teleports_shown / 2) {
      table.add({"...", "", "", "", "", "", "", "",
                 fmt::format("{} more, all of them with --json or --out", hidden)});
      i += hidden;
    }
    const Certificate& c = teleports[i];
    table.add({fmt::format("{}", c.step), fmt::format("{:.4g}", c.loss_before),
               fmt::format("{:.1e}", c.drift), fmt::format("{:.4g}", c.grad_sq_before),
               fmt::format("{:.4g}", c.grad_sq_after), fmt::format("{:.4g}", c.curvature_before),
               fmt::format("{:.4g}", c.curvature_after), fmt::format("{:.0f}", c.evaluations),
               (c.accepted ? "accepted: " : "refused: ") + c.reason});
  }
  return table.text(style);
}

}  // namespace

std::string optimize_text(const FunctionResult& result, const Style& style) {
  const RunSummary& summary = result.summary;
  const FunctionRunSpec& spec = result.spec;
  std::string text;
  const auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{:<14}{}\n", name, value);
  };
  const std::string function = full_specification(spec.function);
  line("function",
       function == result.formula ? function : fmt::format("{}: {}", function, result.formula));
  if (spec.symmetry) line("symmetry", *spec.symmetry);
  line("optimizer",
       fmt::format("{}, learning rate {}", spec.optimizer, spec.learning_rate->text()));
  const std::string status =
      status_text(summary, spec.stop_at && summary.final_loss < *spec.stop_at);
  line("status", summary.status == RunStatus::diverged ? style.bad(status) : status);
  const bool diverged = summary.status == RunStatus::diverged;
  line("final loss",
       style.bold(diverged ? "diverged" : fmt::format("{:.9g}", summary.final_loss)) +
           (std::isnan(result.minimum) ? std::string()
                                       : fmt::format("  (the minimum is {:.3g})", result.minimum)));
  line("|gradient|^2", fmt::format("{:.9g}", summary.final_grad_sq));
  line("x", point_text(result.x));
  line("cost", fmt::format("{:.6g} gradients or their equivalent, {}", summary.evaluations,
                           time_text(summary.seconds)));
  if (summary.teleports.empty()) {
    if (spec.teleport.automatic()) line("teleports", no_probe_text());
    return text;
  }
  line("teleports",
       fmt::format("{} of {} accepted; search {}, objective {}", summary.accepted_teleports(),
                   summary.teleports.size(), spec.how.search, to_string(*spec.how.objective)));
  return text + "\n" + teleport_table(summary.teleports, style);
}

}  // namespace symport::cli
