// SPDX-License-Identifier: MIT
#include "symport/training/train.hpp"

#include "training/full_batch_run.hpp"

namespace symport {

/// Algorithm 1.
template <Real Scalar>
RunSummary train(const BasicObjective<Scalar>& objective, const BasicOptimizer<Scalar>& optimizer,
                 VectorOf<Scalar>& w, const TrainOptions<Scalar>& options) {
  const Teleportation<Scalar>& plan = options.teleport;
  require_plan(plan, "a symmetry of the objective");
  FullBatchRun<Scalar> run(objective, optimizer, w, options);
  if (plan.schedule.automatic()) run.prepare_probes(*plan.symmetry);
  while (run.goes_on()) {
    if (run.is_due(plan.schedule)) {  // t in K: w <- g.w
      run.teleport([&] {
        return teleport_in_training<Scalar>(objective, optimizer, run.rate(), run.now(plan),
                                            run.random, run.at.optimizer, w, run.outlook());
      });
    }
    if (run.observe()) run.update();  // w <- w - u(dL/dw)
  }
  return run.summary();
}

template RunSummary train(const BasicObjective<float>&, const BasicOptimizer<float>&,
                          VectorOf<float>&, const TrainOptions<float>&);
template RunSummary train(const BasicObjective<double>&, const BasicOptimizer<double>&, Vector&,
                          const TrainOptions<double>&);

}  // namespace symport
