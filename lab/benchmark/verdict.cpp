// SPDX-License-Identifier: MIT
#include "lab/benchmark/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lab/text/suggestion.hpp"

namespace symport::lab::benchmark {

namespace {

constexpr std::size_t named_rivals = 3;

std::string unit_name(Unit unit) { return compare::Budget{.unit = unit}.unit_name(); }

std::string problems_text(std::size_t count, std::size_t of) {
  return fmt::format("{} of {} problem{}", count, of, of == 1 ? "" : "s");
}

/// "gd", "gd and sgd", "gd, sgd and 4 others"
std::string listed(std::vector<std::string> names) {
  if (names.size() > named_rivals + 1) {
    const std::size_t others = names.size() - named_rivals;
    names.resize(named_rivals);
    return fmt::format("{} and {} others", join(names), others);
  }
  if (names.size() < 2) return join(names);
  const std::string last = names.back();
  names.pop_back();
  return fmt::format("{} and {}", join(names), last);
}

std::string words_of_leader(const Verdict& verdict, const Benchmark& benchmark,
                            const Standing& leader) {
  const std::string in = fmt::format("In {}", unit_name(verdict.unit));
  const Score& score = leader.in(verdict.unit);
  const std::string numbers =
      fmt::format("efficiency {:.2f}, within {:g} times the best on {}", score.efficiency,
                  near_the_best, problems_text(score.near, benchmark.problems.size()));
  if (verdict.won) {
    return fmt::format(
        "{} {} wins: {}; it is faster than every other method with {:.3g} % "
        "confidence.",
        in, leader.method, numbers, 100.0 * benchmark.options.confidence);
  }
  const std::string may = verdict.rivals.empty()
                              ? std::string{}
                              : fmt::format(", but {} may be as good", listed(verdict.rivals));
  if (verdict.leaders.size() > 1) {
    return fmt::format("{} no method wins: {} tie ({}){}.", in, listed(verdict.leaders), numbers,
                       may);
  }
  return fmt::format("{} no method wins: {} is ahead ({}){}.", in, leader.method, numbers, may);
}

std::string words_of_teleportation(const Verdict& verdict, const compare::PairCounts& counts,
                                   const std::string& teleporting, const std::string& plain) {
  const std::string speed =
      fmt::format("speed-up {} of {}, the best method that teleports, over {}, the best plain one",
                  compare::interval_text(verdict.teleport_speed_up), teleporting, plain);
  switch (verdict.teleportation) {
    case compare::Effect::helped:
      return fmt::format("Teleportation helped: {}.", speed);
    case compare::Effect::did_not_help:
      return fmt::format("Teleportation did not help: {}.", speed);
    case compare::Effect::cannot_tell:
      break;
  }
  return fmt::format(
      "It is not clear whether teleportation helped: {}, the best method that teleports, was {}, "
      "compared with {}, the best plain one (speed-up {}).",
      teleporting, counts.text("problems"), plain,
      compare::interval_text(verdict.teleport_speed_up));
}

}  // namespace

Verdict verdict_of(const Benchmark& benchmark, const Costs& costs,
                   const std::vector<Standing>& standings, Unit unit) {
  Verdict verdict{.unit = unit};
  const std::vector<std::size_t> order = ranking(standings, unit);
  const std::size_t first = order.front();
  const double most = standings[first].in(unit).efficiency;
  if (!(most > 0.0)) {
    verdict.text = fmt::format("In {} no method wins: none solved a problem within its budget.",
                               unit_name(unit));
    return verdict;
  }
  for (const std::size_t m : order) {
    if (standings[m].in(unit).efficiency == most) {
      verdict.leaders.push_back(standings[m].method);
    } else if (!(speed_up(benchmark, costs, first, m, unit).interval.low > 1.0)) {
      verdict.rivals.push_back(standings[m].method);
    }
  }
  verdict.won = verdict.leaders.size() == 1 && verdict.rivals.empty() && standings.size() > 1;
  verdict.text = words_of_leader(verdict, benchmark, standings[first]);

  const auto best = [&](bool teleports) {
    return std::find_if(order.begin(), order.end(),
                        [&](std::size_t m) { return standings[m].teleports == teleports; });
  };
  const auto moving = best(true), plain = best(false);
  if (moving == order.end() || plain == order.end()) return verdict;
  verdict.teleport_speed_up = speed_up(benchmark, costs, *moving, *plain, unit);
  verdict.teleportation = compare::outcome_of(verdict.teleport_speed_up);
  const CostPairs pairs = cost_pairs(benchmark, costs, *moving, *plain, unit);
  verdict.text += " " + words_of_teleportation(verdict, {pairs.method, pairs.other},
                                               standings[*moving].method, standings[*plain].method);
  return verdict;
}

}  // namespace symport::lab::benchmark
