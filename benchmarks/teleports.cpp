// SPDX-License-Identifier: MIT
// Rows 3 to 6: ascent steps and whole teleports.
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <symport/symport.hpp>

#include "parts.hpp"
#include "symmetries/general_linear_orbit.hpp"

namespace symport::benchmarks {

namespace {

constexpr Index batch = 20;
constexpr double no_cap = std::numeric_limits<double>::infinity();

/// Of the objective: J alone, or rate J - rate^2/2 Phi.
Slope slope_of(double rate) {
  return rate == 0.0 ? Slope{1.0, 0.0} : Slope{rate, -0.5 * rate * rate};
}

double value_of(Orbit& orbit, double rate) {
  const Slope slope = slope_of(rate);
  double value = slope.grad_sq * orbit.grad_sq();
  if (rate != 0.0) value += slope.curvature * orbit.curvature();
  return value;
}

/// |a - b| / |b| of our gradients in T_m (uncut) and LibTorch's.
double gradient_distance(const Bench& bench, const ImageProblem& problem, double rate,
                         double& theirs) {
  const auto path = bench.torch.directory() / "gradient";
  theirs = bench.torch.ask(fmt::format("gradient {} {}", rate, path.string())).at(1);
  const auto orbit = GeneralLinear<float>({.max_rank = 0}).orbit(problem.objective, problem.w);
  auto& gl = dynamic_cast<GeneralLinearOrbit<float>&>(*orbit);
  const Slope slope = slope_of(rate);
  gl.aim(slope);
  std::ifstream file(path, std::ios::binary);
  double difference = 0.0, size = 0.0;
  for (Index m = 1; m < problem.objective.network().layers(); ++m) {
    const Index d = problem.objective.network().width(m);
    MatrixOf<float> rows(d, d);  // transposed: theirs is row after row
    file.read(reinterpret_cast<char*>(rows.data()),
              static_cast<std::streamsize>(sizeof(float)) * rows.size());
    if (!file) throw std::runtime_error(path.string() + ": too short");
    difference += (gl.direction(m)->to_dense().transpose() - rows).cast<double>().squaredNorm();
    size += rows.cast<double>().squaredNorm();
  }
  return std::sqrt(difference / size);
}

/// Both sides agree on the objective and its gradient in the group.
void require_same_objective(const Bench& bench, const ImageProblem& problem, double rate) {
  double theirs = 0.0;
  const double distance = gradient_distance(bench, problem, rate, theirs);
  const auto orbit = GeneralLinear<float>().orbit(problem.objective, problem.w);
  require_same("objective of the teleport", value_of(*orbit, rate), theirs, 1e-3);
  if (!(distance < 1e-2)) {
    throw std::runtime_error(
        fmt::format("gradient in the group: {:.3g} away from LibTorch's", distance));
  }
}

/// Set-up, search, measurement and commit; returns the certificate.
Certificate whole_teleport(const ImageProblem& problem, const BasicSymmetry<float>& symmetry,
                           const Search& search, double cap, VectorOf<float>& w) {
  Random random(0);
  const auto orbit = symmetry.orbit(problem.objective, w);
  return teleport<float>(
      problem.objective, *orbit, search,
      {.objective = ObjectiveKind::predicted_decrease, .learning_rate = image_rate, .cap = cap},
      random, w);
}

/// Seconds of that from the problem's own weights.
double teleport_seconds(const ImageProblem& problem, const BasicSymmetry<float>& symmetry,
                        const Search& search, double cap) {
  VectorOf<float> w = problem.w;
  Certificate certificate;
  const double seconds =
      seconds_of([&] { certificate = whole_teleport(problem, symmetry, search, cap, w); });
  if (!certificate.accepted) throw std::runtime_error("refused: " + certificate.reason);
  return seconds;
}

}  // namespace

double ascent_seconds(const ImageProblem& problem, double rate, int steps) {
  const auto orbit = GeneralLinear<float>().orbit(problem.objective, problem.w);
  const Slope slope = slope_of(rate);
  double last = value_of(*orbit, rate);
  const double seconds = seconds_of([&] {
    for (int i = 0; i < steps; ++i) {
      orbit->aim(slope);
      if (!orbit->move(ascent_length)) throw std::runtime_error("an ascent step left the domain");
      last = value_of(*orbit, rate);
    }
  });
  if (!std::isfinite(last)) throw std::runtime_error("an ascent step diverged");
  return seconds;
}

double gl_teleport_seconds(const ImageProblem& problem, Index ascent_steps) {
  return teleport_seconds(problem, GeneralLinear<float>(), OrbitAscent({.max_steps = ascent_steps}),
                          no_cap);
}

void bench_ascent(Bench& bench) {
  constexpr int steps = 10, sgd_steps = 20, torch_steps = 3;
  const ImageProblem problem = image_problem(bench.images.source, batch);
  bench.torch.give<float>("problem", problem.objective, problem.w);
  require_same_objective(bench, problem, 0.0);
  require_same_objective(bench, problem, image_rate);
  const auto torch_command = [&](double rate) {
    return fmt::format("ascend {} {} {}", torch_steps, rate, ascent_length);
  };
  Alternating times(5);
  times.run(
      bench.rounds, [&] { return sgd_seconds(problem, sgd_steps); },
      [&] { return ascent_seconds(problem, 0.0, steps); },
      [&] { return ascent_seconds(problem, image_rate, steps); },
      [&] { return bench.torch.ask(torch_command(0.0)).front(); },
      [&] { return bench.torch.ask(torch_command(image_rate)).front(); });
  const auto ms = [&](std::size_t kind, int count) {
    return 1e3 * times.median_seconds(kind) / count;
  };
  bench.report.add({"3a", "GL ascent step on the gradient norm, batch 20: in SGD steps",
                    times.ratio(1, 0, steps, sgd_steps), Goal::at_most, 1.0,
                    fmt::format("{:.3f} ms, SGD step {:.3f} ms, LibTorch {:.1f} ms", ms(1, steps),
                                ms(0, sgd_steps), ms(3, torch_steps))});
  bench.report.add(
      {"3b", "GL ascent step on the predicted decrease: in SGD steps",
       times.ratio(2, 0, steps, sgd_steps), Goal::at_most, 1.8,
       fmt::format("{:.3f} ms, LibTorch {:.1f} ms", ms(2, steps), ms(4, torch_steps))});
  bench.report.add({"3c", "GL ascent step on the gradient norm: LibTorch / ours",
                    times.ratio(3, 1, torch_steps, steps), Goal::at_least, 25});
  bench.report.add({"3d", "GL ascent step on the predicted decrease: LibTorch / ours",
                    times.ratio(4, 2, torch_steps, steps), Goal::at_least, 30});
}

void bench_teleport(Bench& bench) {
  constexpr int sgd_steps = 20;
  const ImageProblem problem = image_problem(bench.images.source, batch);
  bench.torch.give<float>("problem", problem.objective, problem.w);
  const std::string command = fmt::format("teleport 10 0 {}", ascent_length);
  const auto answer = bench.torch.ask(command);
  require_same("loss after a teleport by LibTorch", answer.at(2), answer.at(1), 1e-3);
  const GeneralLinear<float> symmetry;
  const OrbitAscent search;
  Alternating times(4);
  times.run(
      bench.rounds, [&] { return sgd_seconds(problem, sgd_steps); },
      [&] { return teleport_seconds(problem, symmetry, search, no_cap); },
      [&] { return bench.torch.ask(command).front(); },
      [&] { return teleport_seconds(problem, symmetry, search, 1.5); });
  bench.report.add({"4a", "10-step GL teleport on the predicted decrease, no cap: in SGD steps",
                    times.ratio(1, 0, 1, sgd_steps), Goal::at_most, 22,
                    fmt::format("{:.2f} ms, LibTorch {:.0f} ms", 1e3 * times.median_seconds(1),
                                1e3 * times.median_seconds(2))});
  bench.report.add({"4b", "the same against LibTorch's gradient-norm teleport: LibTorch / ours",
                    times.ratio(2, 1), Goal::at_least, 15});
  const Ratio capped = times.ratio(3, 0, 1, sgd_steps);
  bench.report.remark(fmt::format(
      "the teleport of 4a with the spectral cap: {:.3g} SGD steps [{:.3g}, {:.3g}], {:.2f} ms",
      capped.median, capped.low, capped.high, 1e3 * times.median_seconds(3)));
}

void bench_rescale(Bench& bench) {
  constexpr int sgd_steps = 20;
  const ImageProblem problem = image_problem(bench.images.source, batch);
  const PositiveScalingSymmetry<float> symmetry;
  const ClosedFormSearch automatic, given({.kappa = 1.5});
  Alternating times(4);
  times.run(
      bench.rounds, [&] { return sgd_seconds(problem, sgd_steps); },
      [&] { return teleport_seconds(problem, symmetry, automatic, no_cap); },
      [&] { return teleport_seconds(problem, symmetry, given, no_cap); },
      [&] { return teleport_seconds(problem, symmetry, automatic, 1.5); });
  bench.report.add({"5a", "rescaling teleport, automatic kappa, no cap: in SGD steps",
                    times.ratio(1, 0, 1, sgd_steps), Goal::at_most, 6,
                    fmt::format("{:.2f} ms", 1e3 * times.median_seconds(1))});
  bench.report.add({"5b", "rescaling teleport, given kappa, no cap: in SGD steps",
                    times.ratio(2, 0, 1, sgd_steps), Goal::at_most, 2,
                    fmt::format("{:.2f} ms", 1e3 * times.median_seconds(2))});
  const Ratio capped = times.ratio(3, 0, 1, sgd_steps);
  bench.report.remark(fmt::format(
      "the teleport of 5a with the spectral cap: {:.3g} SGD steps [{:.3g}, {:.3g}], {:.2f} ms",
      capped.median, capped.low, capped.high, 1e3 * times.median_seconds(3)));
}

void bench_batches(Bench& bench) {
  constexpr int steps = 5;
  Ratio worst;
  std::string note;
  for (const Index samples : {200, 400}) {
    const ImageProblem problem = image_problem(bench.images.source, samples);
    Alternating times(3);
    times.run(
        std::max(3, bench.rounds / 2), [&] { return sgd_seconds(problem, steps); },
        [&] { return ascent_seconds(problem, 0.0, steps); },
        [&] { return ascent_seconds(problem, image_rate, steps); });
    for (const std::size_t kind : {1u, 2u}) {
      const Ratio ratio = times.ratio(kind, 0);
      if (ratio.median > worst.median) worst = ratio;
      note += fmt::format("{}batch {}, {}: {:.2f}", note.empty() ? "" : "; ", samples,
                          kind == 1 ? "gradient norm" : "predicted decrease", ratio.median);
    }
  }
  bench.report.add({"6", "GL ascent step, batches 200 and 400: in SGD steps of that batch, worst",
                    worst, Goal::at_most, 2, note});
}

}  // namespace symport::benchmarks
