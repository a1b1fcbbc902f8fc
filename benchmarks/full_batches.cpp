// SPDX-License-Identifier: MIT
// Steps of the optimizers that need full batches or a problem of their own, in steps of gradient
// descent on the same problem: no goals.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <symport/symport.hpp>

#include "parts.hpp"
#include "ratio.hpp"

namespace symport::benchmarks {

namespace {

/// Runs from one start, each as long as the others.
template <Real Scalar>
struct FullBatches {
  std::string name;
  const BasicObjective<Scalar>& objective;
  VectorOf<Scalar> start;
  double rate;
  int steps;

  /// What was evaluated, in gradients.
  double run(const BasicOptimizer<Scalar>& optimizer) const {
    VectorOf<Scalar> w = start;
    OptimizerState<Scalar> state = optimizer.init(w.size());
    MeasuredPoint<Scalar> here;
    StepOutcome outcome;
    double evaluations = 0.0;
    for (int i = 0; i < steps; ++i) {
      if (!outcome.measured) optimizer.measure(objective, w, here);
      outcome = optimizer.step(objective, here, rate, state, w);
      if (!outcome.moved) {
        throw std::runtime_error(
            fmt::format("{} on {}: arrived after {} steps", optimizer.name(), name, i));
      }
      evaluations += 1.0 + outcome.evaluations;
    }
    return evaluations / steps;
  }
};

template <Real Scalar>
void add_remark(Bench& bench, const FullBatches<Scalar>& problem,
                const BasicOptimizer<Scalar>& optimizer, std::string_view name) {
  const GradientDescent<Scalar> descent;
  double evaluations = 0.0;
  Alternating times(2);
  times.run(
      std::max(3, bench.rounds / 3),
      [&] { return seconds_of([&] { evaluations = problem.run(optimizer); }); },
      [&] { return seconds_of([&] { problem.run(descent); }); });
  const double ratio = times.ratio(0, 1).median;
  bench.report.remark(fmt::format(
      "{} step, {}, in steps of gradient descent: {:.2f}, for {:.1f} gradients: {:.2f} for each "
      "({:.3g} ms, gradient descent {:.3g} ms)",
      name, problem.name, ratio, evaluations, ratio / evaluations,
      1e3 * times.median_seconds(0) / problem.steps,
      1e3 * times.median_seconds(1) / problem.steps));
}

/// 10-32-32-C with biases, as on a table of 400 samples.
MlpObjective<double> table_problem(Index outputs, const std::string& loss) {
  const Mlp network({10, 32, 32, outputs}, Activation::parse("leaky_relu"), true);
  const Index samples = 400;
  if (outputs == 1) {
    const SampleSet<> data =
        regression_data({.features = 10, .outputs = 1, .samples = samples, .seed = 1});
    return {network, Loss::parse(loss), data.X, Targets<double>(data.Y)};
  }
  const SampleSet<> data = classification_data(
      {.features = 10, .classes = outputs, .samples = samples, .spread = 1.0, .seed = 1});
  return {network, Loss::parse(loss), data.X,
          Targets<double>(std::vector<int>(data.classes.begin(), data.classes.end()))};
}

Vector weights_of(const MlpObjective<double>& objective) {
  Random random(1);
  return initialize<double>(objective.network(), Initialization::fan_in, random);
}

}  // namespace

void bench_full_batches(Bench& bench) {
  const ImageProblem images = image_problem(bench.images.source, 100);
  const FullBatches<float> batch{"784-512-512-10 and 100 images", images.objective, images.w,
                                 image_rate, 20};
  add_remark<float>(bench, batch, Lbfgs<float>(), "L-BFGS");
  add_remark<float>(bench, batch, LineSearchDescent<float>(), "exact line search");
  add_remark<float>(bench, batch, CurvatureDescent<float>(), "measured (--lr auto)");

  const MlpObjective<double> squares = table_problem(1, "mean_squares:mean");
  const FullBatches<double> regression{"10-32-32-1 and 400 samples", squares, weights_of(squares),
                                       1e-2, 5};
  add_remark<double>(bench, regression, LevenbergMarquardt<double>(), "Levenberg-Marquardt");
  add_remark<double>(bench, regression, NaturalGradient<double>(), "natural gradient");
  const MlpObjective<double> entropy = table_problem(3, "cross_entropy:mean");
  const FullBatches<double> classes{"10-32-32-3 and 400 samples", entropy, weights_of(entropy),
                                    1e-2, 5};
  add_remark<double>(bench, classes, NaturalGradient<double>(), "natural gradient");
  FullBatches<double> longer = classes;
  longer.steps = 200;
  add_remark<double>(bench, longer,
                     MetricRoundTrip<double>(std::make_shared<GradientDescent<double>>()),
                     "metric round trip");
  add_remark<double>(bench, longer, RoundTrip<double>(std::make_shared<Adam<double>>()),
                     "Adam in the gauge");

  const auto pair = MatrixFactorization::conditioned(200, 100, 10, 10.0, 1);
  add_remark<double>(bench, {"a 200 x 100 matrix of rank 10", pair, pair.start(), 0.25, 20},
                     MetricRoundTrip<double>(std::make_shared<GradientDescent<double>>()),
                     "metric round trip");
}

}  // namespace symport::benchmarks
