// SPDX-License-Identifier: MIT
#include "symport/training/train.hpp"

#include "training/loop.hpp"

namespace symport {

template <Real Scalar>
RunSummary train(const BasicObjective<Scalar>& objective, const BasicOptimizer<Scalar>& optimizer,
                 VectorOf<Scalar>& w, const TrainOptions<Scalar>& options) {
  const Teleportation<Scalar>& plan = options.teleport;
  if (!plan.symmetry && !plan.schedule.empty()) {
    throw InvalidArgument("teleport.symmetry", "none with a schedule",
                          "a symmetry of the objective");
  }
  return run_loop<Scalar>(objective, optimizer, w, options, plan.schedule,
                          [&](double rate, Random& random, OptimizerState<Scalar>& state) {
                            return teleport_in_training<Scalar>(objective, optimizer, rate, plan,
                                                                random, state, w);
                          });
}

template RunSummary train(const BasicObjective<float>&, const BasicOptimizer<float>&,
                          VectorOf<float>&, const TrainOptions<float>&);
template RunSummary train(const BasicObjective<double>&, const BasicOptimizer<double>&, Vector&,
                          const TrainOptions<double>&);

}  // namespace symport
