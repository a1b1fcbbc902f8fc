// SPDX-License-Identifier: MIT
#include "symport/training/train_with_data.hpp"

#include "symport/search/orbit_ascent.hpp"
#include "training/full_batch_run.hpp"

namespace symport {

/// Algorithm 3.
TrainWithDataResult train_with_data(LinearModel& model, const Optimizer& optimizer, Vector& w,
                                    const TrainWithDataOptions& options) {
  if (!options.symmetry && !options.schedule.empty()) {
    throw InvalidArgument("symmetry", "none with a schedule",
                          "a symmetry of the model and its data");
  }
  if (options.symmetry && options.schedule.left_out()) {
    throw InvalidArgument("schedule", "none with a symmetry, so that there would be no teleport",
                          "a schedule, such as .schedule = every(5), or never() for a plain run");
  }
  const OrbitAscent ascent;
  const Search& search = options.search ? *options.search : ascent;
  CriterionOptions criterion{.objective = options.objective.value_or(default_objective(optimizer))};
  const TrainOptions<double> training{.max_steps = options.max_steps,
                                      .learning_rate = options.learning_rate,
                                      .stop = options.stop,
                                      .seed = options.seed,
                                      .trace = options.trace,
                                      .watcher = options.watcher};
  FullBatchRun<double> run(model, optimizer, w, training);
  DataTransform f{Matrix::Identity(model.X().rows(), model.X().rows())};
  while (run.goes_on()) {
    if (run.is_due(options.schedule)) {  // t in K
      run.teleport([&] {
        const auto orbit = options.symmetry->orbit(model, w);
        criterion.learning_rate = run.rate();
        const Certificate certificate =
            teleport<double>(model, *orbit, search, criterion, run.random, w);
        if (certificate.accepted) {
          const Matrix g = orbit->data_element();
          model.set_data(g * model.X());  // (w, X) <- g.(w, X)
          f.matrix = g * f.matrix;        // f <- g_X o f
          run.at.optimizer = optimizer.init(w.size());
        }
        return certificate;
      });
    }
    if (run.observe()) run.update();  // w <- w - u(dL/dw)
  }
  return {run.summary(), std::move(f)};
}

}  // namespace symport
