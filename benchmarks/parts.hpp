// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "framework.hpp"
#include "images.hpp"
#include "report.hpp"

namespace symport::benchmarks {

/// What every part needs.
struct Bench {
  Report& report;
  std::vector<std::unique_ptr<Framework>> frameworks;
  const Images& images;
  int rounds;           ///< of alternating measurements
  std::string figures;  ///< directory for plots; empty: none
};

// One function per row of the table of goals.
void bench_sgd(Bench& bench);           ///< 1
void bench_optimizers(Bench& bench);    ///< 2
void bench_ascent(Bench& bench);        ///< 3
void bench_teleport(Bench& bench);      ///< 4
void bench_rescale(Bench& bench);       ///< 5
void bench_batches(Bench& bench);       ///< 6
void bench_figure6(Bench& bench);       ///< 7
void bench_threads(Bench& bench);       ///< 8
void bench_epoch(Bench& bench);         ///< 9 and 11
void bench_rosenbrock(Bench& bench);    ///< 10
void bench_round_trips(Bench& bench);   ///< 12
void bench_baselines(Bench& bench);     ///< 13, and others without a goal
void bench_full_batches(Bench& bench);  ///< no goal
void bench_growth(Bench& bench);        ///< no goal

/// Hands the problem to all frameworks, which must find our loss.
template <Real Scalar>
void give_problem(const Bench& bench, const MlpObjective<Scalar>& objective, In<Scalar> w,
                  double tolerance);

/// Throws std::runtime_error unless two numbers that both sides computed agree.
void require_same(const std::string& what, double ours, const Framework& framework, double theirs,
                  double tolerance);

/// Seconds of some SGD steps from w (a copy).
double sgd_seconds(const ImageProblem& problem, int steps);
/// Seconds of some ascent steps of a fixed length on a fresh GL orbit, its set-up not included.
/// rate 0: gradient norm; > 0: predicted decrease.
double ascent_seconds(const ImageProblem& problem, double rate, int steps);
/// Seconds of a whole GL teleport on the predicted decrease, without the spectral cap.
double gl_teleport_seconds(const ImageProblem& problem, Index ascent_steps);

/// The least-squares line through points, with its coefficient of determination.
struct Line {
  double intercept = 0.0, slope = 0.0, r_squared = 0.0;
};
Line fit_line(const std::vector<double>& x, const std::vector<double>& y);

/// A SGD step on this rate, and an ascent step of this length, are harmless for the image problem.
constexpr double image_rate = 1e-2, ascent_length = 0.05;

}  // namespace symport::benchmarks
