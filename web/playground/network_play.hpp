// SPDX-License-Identifier: MIT
#pragma once

#include "lab/runs/network_run_spec.hpp"
#include "play.hpp"
#include "symport/objectives/mlp_objective.hpp"

namespace symport::playground {

/// `symport train` with these words, on generated data in full batches: the same network, samples
/// and steps.
class NetworkPlay final : public Play {
 public:
  /// Throws UsageError, as the program does, and for options that a page has no place for.
  explicit NetworkPlay(const std::vector<std::string>& words);

  std::string about() const override;
  void run(const std::function<bool()>& goes_on) override;

  /// Of every sample: its two features and its class.
  std::vector<double> samples() const;
  /// Row by row from (x0, y0): the probability of class 1 by the weights as they are now. Throws
  /// UsageError unless the network has two inputs and two outputs.
  std::vector<double> region(const View& view) const;
  /// On the samples, by the weights as they are now.
  double accuracy() const { return objective_.accuracy(w_); }
  /// Step and loss of the rows that a run has had since the last call.
  std::vector<double> news();

 private:
  lab::NetworkRunSpec spec_;
  SampleSet<> data_;
  Mlp network_;
  Vector start_, w_;
  MlpObjective<double> objective_;
  lab::TeleportPlan<double> plan_;
  std::unique_ptr<BasicOptimizer<double>> optimizer_;
  std::vector<double> news_;
};

}  // namespace symport::playground
