// SPDX-License-Identifier: MIT
#include "symport/training/train_with_data.hpp"

#include "symport/search/orbit_ascent.hpp"
#include "training/loop.hpp"

namespace symport {

TrainWithDataResult train_with_data(LinearModel& model, const Optimizer& optimizer, Vector& w,
                                    const TrainWithDataOptions& options) {
  if (!options.symmetry && !options.schedule.empty()) {
    throw InvalidArgument("symmetry", "none with a schedule",
                          "a symmetry of the model and its data");
  }
  const Index d = model.X().rows();
  TrainWithDataResult result{{}, {Matrix::Identity(d, d)}};
  const OrbitAscent ascent;
  const Search& search = options.search ? *options.search : ascent;
  const TrainOptions<double> loop{
      .max_steps = options.max_steps, .learning_rate = options.learning_rate, .seed = options.seed};
  const auto teleport_both = [&](double rate, Random& random, OptimizerState<double>& state) {
    const auto orbit = options.symmetry->orbit(model, w);
    const CriterionOptions criterion{
        .objective = options.objective.value_or(optimizer.automatic_rate()
                                                    ? ObjectiveKind::decrement
                                                    : ObjectiveKind::predicted_decrease),
        .learning_rate = rate};
    const Certificate certificate = teleport<double>(model, *orbit, search, criterion, random, w);
    if (certificate.accepted) {
      const Matrix g = orbit->data_element();
      model.set_data(g * model.X());
      result.transform.matrix = g * result.transform.matrix;
      state = optimizer.init(w.size());
    }
    return certificate;
  };
  result.run = run_loop<double>(model, optimizer, w, loop, options.schedule, teleport_both);
  return result;
}

}  // namespace symport
