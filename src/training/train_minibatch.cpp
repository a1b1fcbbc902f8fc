// SPDX-License-Identifier: MIT
#include "symport/training/train_minibatch.hpp"

#include "symport/search/orbit_ascent.hpp"
#include "training/minibatch_run.hpp"

namespace symport {

/// Algorithm 2.
template <Real Scalar>
RunSummary train_minibatch(const BatchObjective<Scalar>& objective,
                           const BatchSource<Scalar>& source, const Split& split,
                           const BasicOptimizer<Scalar>& optimizer, VectorOf<Scalar>& w,
                           const MinibatchOptions<Scalar>& options) {
  Teleportation<Scalar> plan = options.teleport;
  // A white gauge suits its own samples, and the next mini-batches would pay for that.
  const OrbitAscent ascent;
  if (!plan.search && plan.symmetry && plan.symmetry->bound_to_batch()) plan.search = &ascent;
  require_plan(plan, "a symmetry of the model");
  // The curvature of one mini-batch says little about that of the next, and the noise of the steps
  // grows with it: it is seen only when the loss is low, long after a rehearsal.
  if (!plan.cap && !plan.own_objective && rehearsal_of(plan, optimizer, true) > 0 &&
      plan.objective.value_or(default_objective(optimizer)) == ObjectiveKind::predicted_decrease) {
    plan.cap = minibatch_cap;
  }
  MinibatchRun<Scalar> run(objective, source, split, optimizer, w, options);
  while (run.goes_on()) {
    const bool scheduled = plan.schedule.contains(run.at.epoch);  // t in K
    const std::vector<Index> order = run.batches().order(run.at.epoch);
    while (run.in_epoch()) {
      const Index i = run.at.batch;
      // i < B: w <- g.w on X_i
      if (run.is_due(scheduled && i < options.teleport_batches, plan.schedule)) {
        const auto samples = run.batches().batch(order, i, options.teleport_batch_size);
        run.teleport(samples, [&](const BatchObjective<Scalar>& on_batch) {
          return teleport_in_training<Scalar>(on_batch, optimizer, run.rate(), run.now(plan),
                                              run.random, run.at.optimizer, w,
                                              run.outlook(order, samples.size()));
        });
      }
      if (run.goes_on()) {
        run.update(run.batches().batch(order, i));  // w <- w - u(gradient of L(X_i, w))
      }
    }
    run.finish_epoch();
  }
  return run.summary();
}

template RunSummary train_minibatch(const BatchObjective<float>&, const BatchSource<float>&,
                                    const Split&, const BasicOptimizer<float>&, VectorOf<float>&,
                                    const MinibatchOptions<float>&);
template RunSummary train_minibatch(const BatchObjective<double>&, const BatchSource<double>&,
                                    const Split&, const BasicOptimizer<double>&, Vector&,
                                    const MinibatchOptions<double>&);

}  // namespace symport
