// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "symport/core/types.hpp"
#include "symport/training/train.hpp"

namespace symport::harm {

/// What became of pairs of runs, the plain one and the same with teleports. The words are those of
/// docs/safety.md: harm is a final loss at least twice the plain run's (not counting what is below
/// 1e-12 of the start), above the start, or divergence; serious harm is divergence, a loss above
/// the start, or at least ten times the plain run's and above 1e-4 of the start; help is at most
/// half the plain run's loss. Pairs whose plain run diverged or rose are left out.
struct Tally {
  Index runs = 0;
  Index moved = 0;  ///< with an accepted teleport
  Index harmed = 0;
  Index serious = 0;
  Index diverged = 0;
  Index helped = 0;
  double gradients = 0.0;        ///< of the second runs, teleports included
  double plain_gradients = 0.0;  ///< of the plain ones

  /// Returns whether the pair is one of harm.
  bool add(double start, const RunSummary& plain, const RunSummary& other);
  Tally& operator+=(const Tally& other);
};

/// What is done to the second run of a pair.
enum class Treatment {
  defaults,    ///< teleports, as the program makes them
  unguarded,   ///< teleports without rehearsal: the next step alone decides
  moved_start  ///< no teleports, the start moved by a thousandth: the noise
};

/// A pair of runs that ended in harm.
struct HarmedPair {
  std::string family, problem, optimizer, schedule;
  double rate = 0.0;
  double spread = 0.0;  ///< of the start; 0 for networks
  Index steps = 0;
  int seed = 0;
  double start = 0.0;  ///< its loss
  const RunSummary& plain;
  const RunSummary& other;

  /// One line: the setting, both final losses, the teleports that were accepted and where.
  std::string brief_report() const;
};

struct GridOptions {
  Treatment treatment = Treatment::defaults;
  int seeds = 20;
  int first_seed = 0;
  std::vector<std::string> optimizers{"gd", "momentum", "nesterov", "adagrad", "rmsprop", "adam"};
  std::vector<std::string> schedules{"0", "5", "every:10", "every:100"};
  std::vector<Index> lengths{200, 1000};
  std::string family{};  ///< only those whose name contains this
  std::function<void(const HarmedPair&)> on_harm{};
};

/// (family, optimizer, schedule)
using Cell = std::tuple<std::string, std::string, std::string>;
using Table = std::map<Cell, Tally>;

/// Ellipse, Booth and quadratics; Rosenbrock; factorizations: from starts at two spreads, at four
/// rates.
Table function_grid(const GridOptions& options);
/// Small networks, full batches, `gl` and `rescale`: three shapes, squares and cross-entropy, three
/// rates.
Table network_grid(const GridOptions& options);

Tally total(const Table& table);
/// A table in Markdown: harm/serious/help in per cent, with d for divergence where there is any.
std::string markdown(const Table& table, const std::vector<std::string>& schedules);

}  // namespace symport::harm
