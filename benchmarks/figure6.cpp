// SPDX-License-Identifier: MIT
// Row 7: the paper's figure 6, the time of gradient descent with teleports against width and depth.
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <symport/symport.hpp>

#include "contest.hpp"
#include "parts.hpp"

namespace symport::benchmarks {

namespace {

constexpr Index every_epochs = 10, ascent_steps = 10;
// On square data ascent is steep (J grows a thousandfold within ten steps of 0.01): only steps as
// small as these leave a network that 300 epochs of plain descent can work on.
constexpr double rate = 1e-12, length = 1e-8;

struct SquareProblem {
  MlpObjective<double> objective;
  Vector w;
};

/// `layers` square weight matrices of the given width, and as many samples.
SquareProblem square_problem(Index width, Index layers) {
  Random random(6);
  const Mlp network(std::vector<Index>(static_cast<std::size_t>(layers) + 1, width),
                    Activation::parse("leaky_relu:0.1"));
  const Matrix X = random.normal_matrix(width, width);
  const Matrix Y = random.normal_matrix(width, width);
  Vector w = initialize<double>(network, Initialization::he, random);
  return {MlpObjective<double>(network, Loss::parse("half_sum_squares"), X, Y), w};
}

double descend(const SquareProblem& problem, Index epochs, const GeneralLinear<double>& symmetry,
               double& last) {
  const OrbitAscent search({.max_steps = ascent_steps, .step_size = length, .growth = 1.0});
  Vector w = problem.w;
  RunSummary run;
  const double seconds = seconds_of([&] {
    run = train(problem.objective, GradientDescent{}, w,
                {.max_steps = epochs,
                 .learning_rate = rate,
                 .teleport = {.symmetry = &symmetry,
                              .search = &search,
                              .schedule = every(every_epochs),
                              .objective = ObjectiveKind::gradient_norm},
                 .trace = false});
  });
  last = run.final_loss;
  if (run.steps != epochs) throw std::runtime_error("the descent ended before its last epoch");
  for (const Certificate& certificate : run.teleports) {
    if (!certificate.accepted) throw std::runtime_error("refused: " + certificate.reason);
  }
  return seconds;
}

}  // namespace

Line fit_line(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = static_cast<Index>(x.size());
  const Eigen::Map<const Vector> a(x.data(), n), b(y.data(), n);
  const Vector da = a.array() - a.mean(), db = b.array() - b.mean();
  const double slope = da.dot(db) / da.squaredNorm();
  return {b.mean() - slope * a.mean(), slope,
          1.0 - (db - slope * da).squaredNorm() / db.squaredNorm()};
}

void bench_figure6(Bench& bench) {
  constexpr Index epochs = 300;
  double last = 0.0;
  const GeneralLinear<double> symmetry, uncut({.max_rank = 0});
  {
    const SquareProblem problem = square_problem(128, 3);
    give_problem<double>(bench, problem.objective, problem.w, 1e-9);
    const auto command = [](Index count) {
      return fmt::format("descend {} {} {} {} {}", count, every_epochs, ascent_steps, rate, length);
    };
    // The loss of the last epoch here is the one before the last step there.
    descend(problem, 11, uncut, last);
    const double eleven = last;
    Contest contest(bench);
    const auto ours = contest.ours([&] { return descend(problem, epochs, symmetry, last); });
    contest.theirs(command(epochs), 1.0, [&](const Framework& framework, const auto&) {
      require_same("loss after teleports", eleven, framework, framework.ask(command(12)).at(1),
                   1e-6);
    });
    contest.run(2);
    contest.add_fastest(
        "7a",
        {.work = "figure 6: d = n = 128, 3 layers, 300 epochs, double", .ours = ours, .goal = 8});
  }
  const auto fastest = [&](Index width, Index layers) {
    const SquareProblem problem = square_problem(width, layers);
    double best = 1e30;
    for (int i = 0; i < 3; ++i) best = std::min(best, descend(problem, 50, symmetry, last));
    return best;
  };
  std::vector<double> depths, depth_seconds, widths, width_seconds;
  std::string note = "50 epochs, fastest of 3, seconds:";
  for (const Index layers : {2, 3, 4, 5, 6, 8}) {
    depths.push_back(static_cast<double>(layers));
    depth_seconds.push_back(fastest(128, layers));
    note += fmt::format(" {}: {:.3f}", layers, depth_seconds.back());
  }
  const Line line = fit_line(depths, depth_seconds);
  bench.report.add({"7b",
                    "time against depth (2 to 8 layers of 128): R^2 of a line",
                    {line.r_squared, line.r_squared, line.r_squared},
                    Goal::at_least,
                    0.99,
                    note});
  note = "50 epochs, fastest of 3, seconds:";
  for (const Index width : {64, 128, 256, 512}) {
    widths.push_back(std::log(static_cast<double>(width)));
    width_seconds.push_back(std::log(fastest(width, 3)));
    note += fmt::format(" {}: {:.3f}", width, std::exp(width_seconds.back()));
  }
  const double exponent = fit_line(widths, width_seconds).slope;
  bench.report.add({"7c",
                    "time against width (64 to 512, 3 layers): exponent",
                    {exponent, exponent, exponent},
                    Goal::at_most,
                    3.1,
                    note});
}

}  // namespace symport::benchmarks
