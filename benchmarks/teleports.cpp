// SPDX-License-Identifier: MIT
// Rows 3 to 6: ascent steps and whole teleports.
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <symport/symport.hpp>

#include "contest.hpp"
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

/// |a - b| / |b| of our gradients in T_m (uncut) and a framework's.
double gradient_distance(const Framework& framework, const ImageProblem& problem, double rate,
                         double& theirs) {
  const auto path = framework.directory() / "gradient";
  theirs = framework.ask(fmt::format("gradient {} {}", rate, path.string())).at(1);
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
void require_same_objective(const Framework& framework, const ImageProblem& problem, double rate) {
  double theirs = 0.0;
  const double distance = gradient_distance(framework, problem, rate, theirs);
  const auto orbit = GeneralLinear<float>().orbit(problem.objective, problem.w);
  require_same("objective of the teleport", value_of(*orbit, rate), framework, theirs, 1e-3);
  if (!(distance < 1e-2)) {
    throw std::runtime_error(fmt::format("gradient in the group: {:.3g} away from that of {}",
                                         distance, framework.name()));
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
  constexpr int steps = 10, sgd_steps = 20, framework_steps = 3;
  const ImageProblem problem = image_problem(bench.images.source, batch);
  give_problem<float>(bench, problem.objective, problem.w, 1e-5);
  Contest contest(bench);
  const auto sgd = contest.ours([&] { return sgd_seconds(problem, sgd_steps); });
  const auto norm = contest.ours([&] { return ascent_seconds(problem, 0.0, steps); });
  const auto decrease = contest.ours([&] { return ascent_seconds(problem, image_rate, steps); });
  const auto theirs = [&](double rate) {
    return contest.theirs(fmt::format("ascend {} {} {}", framework_steps, rate, ascent_length),
                          framework_steps, [&](const Framework& framework, const auto&) {
                            require_same_objective(framework, problem, rate);
                          });
  };
  const auto their_norm = theirs(0.0), their_decrease = theirs(image_rate);
  contest.run(bench.rounds);
  bench.report.add({"3a", "GL ascent step on the gradient norm, batch 20: in SGD steps",
                    contest.ratio(norm, sgd, steps, sgd_steps), Goal::at_most, 1.0,
                    fmt::format("{:.3f} ms, SGD step {:.3f} ms", contest.milliseconds(norm, steps),
                                contest.milliseconds(sgd, sgd_steps))});
  bench.report.add({"3b", "GL ascent step on the predicted decrease: in SGD steps",
                    contest.ratio(decrease, sgd, steps, sgd_steps), Goal::at_most, 1.8,
                    fmt::format("{:.3f} ms", contest.milliseconds(decrease, steps))});
  contest.add_fastest("3c", {.work = "GL ascent step on the gradient norm",
                             .ours = norm,
                             .units = steps,
                             .goal = 25,
                             .theirs = their_norm});
  contest.add_fastest("3d", {.work = "GL ascent step on the predicted decrease",
                             .ours = decrease,
                             .units = steps,
                             .goal = 30,
                             .theirs = their_decrease});
}

void bench_teleport(Bench& bench) {
  constexpr int sgd_steps = 20;
  const ImageProblem problem = image_problem(bench.images.source, batch);
  give_problem<float>(bench, problem.objective, problem.w, 1e-5);
  const GeneralLinear<float> symmetry;
  const OrbitAscent search;
  Contest contest(bench);
  const auto sgd = contest.ours([&] { return sgd_seconds(problem, sgd_steps); });
  const auto free =
      contest.ours([&] { return teleport_seconds(problem, symmetry, search, no_cap); });
  const auto with_cap =
      contest.ours([&] { return teleport_seconds(problem, symmetry, search, 1.5); });
  contest.theirs(fmt::format("teleport 10 0 {}", ascent_length), 1.0,
                 [&](const Framework& framework, const auto& answer) {
                   require_same_objective(framework, problem, 0.0);
                   require_same("loss after a teleport", answer.at(1), framework, answer.at(2),
                                1e-3);
                 });
  contest.run(bench.rounds);
  bench.report.add({"4a", "10-step GL teleport on the predicted decrease, no cap: in SGD steps",
                    contest.ratio(free, sgd, 1, sgd_steps), Goal::at_most, 22,
                    fmt::format("{:.2f} ms", contest.milliseconds(free))});
  contest.add_each({"4b", "4c", "4d"},
                   {.work = "the same, frameworks on the gradient norm", .ours = free, .goal = 15});
  const Ratio capped = contest.ratio(with_cap, sgd, 1, sgd_steps);
  bench.report.remark(fmt::format(
      "the teleport of 4a with the spectral cap: {:.3g} SGD steps [{:.3g}, {:.3g}], {:.2f} ms",
      capped.median, capped.low, capped.high, contest.milliseconds(with_cap)));
}

void bench_rescale(Bench& bench) {
  constexpr int sgd_steps = 20;
  constexpr double kappa = 1.5;
  const ImageProblem problem = image_problem(bench.images.source, batch);
  give_problem<float>(bench, problem.objective, problem.w, 1e-5);
  const PositiveScalingSymmetry<float> symmetry;
  const ClosedFormSearch automatic, given({.kappa = kappa});
  VectorOf<float> there = problem.w;
  const Certificate certificate = whole_teleport(problem, symmetry, given, no_cap, there);
  Contest contest(bench);
  const auto sgd = contest.ours([&] { return sgd_seconds(problem, sgd_steps); });
  const auto chosen =
      contest.ours([&] { return teleport_seconds(problem, symmetry, automatic, no_cap); });
  const auto fixed =
      contest.ours([&] { return teleport_seconds(problem, symmetry, given, no_cap); });
  const auto with_cap =
      contest.ours([&] { return teleport_seconds(problem, symmetry, automatic, 1.5); });
  contest.theirs(
      fmt::format("rescale {}", kappa), 1.0, [&](const Framework& framework, const auto& answer) {
        require_same("loss after rescaling", certificate.loss_after, framework, answer.at(2), 1e-4);
        require_same("squared gradient after rescaling", certificate.grad_sq_after, framework,
                     answer.at(3), 1e-3);
        require_same("curvature after rescaling", certificate.curvature_after, framework,
                     answer.at(4), 1e-3);
      });
  contest.run(bench.rounds);
  bench.report.add({"5a", "rescaling teleport, automatic kappa, no cap: in SGD steps",
                    contest.ratio(chosen, sgd, 1, sgd_steps), Goal::at_most, 6,
                    fmt::format("{:.2f} ms", contest.milliseconds(chosen))});
  bench.report.add({"5b", "rescaling teleport, given kappa, no cap: in SGD steps",
                    contest.ratio(fixed, sgd, 1, sgd_steps), Goal::at_most, 2,
                    fmt::format("{:.2f} ms", contest.milliseconds(fixed))});
  contest.add_each({"5c", "5d", "5e"},
                   {.work = "rescaling teleport, given kappa", .ours = fixed, .goal = 1.6});
  const Ratio capped = contest.ratio(with_cap, sgd, 1, sgd_steps);
  bench.report.remark(fmt::format(
      "the teleport of 5a with the spectral cap: {:.3g} SGD steps [{:.3g}, {:.3g}], {:.2f} ms",
      capped.median, capped.low, capped.high, contest.milliseconds(with_cap)));
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
