// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "lab/data/data_cache.hpp"
#include "lab/runs/network_run_spec.hpp"
#include "lab/runs/run_directory.hpp"
#include "symport/core/interrupted.hpp"
#include "symport/training/run_clock.hpp"
#include "symport/training/run_summary.hpp"

namespace symport::lab {

struct NetworkResult {
  NetworkRunSpec spec;  ///< with nothing left open
  RunSummary summary;
  bool loss_invariant = true;
  Index test_samples = 0;  ///< 0: there is no test set
  double test_loss = 0.0;
  double test_accuracy = 0.0;  ///< NaN without classes
  ArrayMap model;              ///< the weights by name, as model.npz has them
  /// Of the training set at the end; NaN without classes, or where the run diverged.
  double train_accuracy = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::string> class_names{};  ///< where the data names its classes
};

/// How far a run is: `step` of `steps` (of mini-batches: within the epoch).
struct NetworkProgress {
  bool minibatch = false;
  Index epoch = 0, epochs = 1;
  Index step = 0, steps = 0;
  Index samples_a_step = 0;
  double loss = 0.0;                        ///< of the last step
  double evaluations = 0.0, seconds = 0.0;  ///< so far
};

/// Callbacks that follow a run.
struct NetworkObserver {
  /// Before every step; returning false ends the run after it.
  std::function<bool(const NetworkProgress&)> watch = [](const NetworkProgress&) { return true; };
  /// In mini-batches: with every row of the trace.
  std::function<void(const TraceRow&)> epoch_done = [](const TraceRow&) {};
  std::function<void(const std::string&)> warn = [](const std::string&) {};
  /// Asked within a teleport, see Teleportation.
  KeepGoing keep_going{};
  bool gradients = true;  ///< rows of mini-batches have |gradient|^2 of the training set
  RunClock clock = RunClock::wall;
};

/// Where a run keeps its configuration and checkpoints.
struct RunPlace {
  RunDirectory* directory = nullptr;  ///< null: nowhere
  bool resume = false;                ///< go on from its checkpoint
};

/// A run with its network, weights and data: all input is known to be good.
class NetworkRun {
 public:
  virtual ~NetworkRun() = default;

  const NetworkRunSpec& spec() const { return spec_; }  ///< with nothing left open
  /// The loss of the whole training set at the starting weights.
  virtual double start_loss() = 0;
  /// Algorithm 1 (full batches) or 2 (mini-batches), from the starting weights. Writes config.toml
  /// and checkpoints into the directory, if there is one; a checkpoint that cannot be written is a
  /// warning. Throws OptionError about "resume" for a checkpoint of another run.
  virtual NetworkResult train(const RunPlace& place, const NetworkObserver& observer) = 0;

 protected:
  explicit NetworkRun(NetworkRunSpec spec) : spec_(std::move(spec)) {}
  NetworkRunSpec spec_;
};

/// Resolves a specification and gets what it names. Throws OptionError; an InvalidArgument names
/// the file.
std::unique_ptr<NetworkRun> load(const NetworkRunSpec& spec, DataCache& data);

}  // namespace symport::lab
