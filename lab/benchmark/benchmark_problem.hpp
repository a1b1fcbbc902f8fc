// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/compare/budget.hpp"
#include "lab/compare/problem.hpp"

namespace symport::lab::benchmark {

/// A problem of a benchmark: a test function, or a network on data with everything about it
/// settled.
struct BenchmarkProblem {
  std::string name;
  std::string summary;
  compare::Problem problem;
  compare::Budget budget{};  ///< of a run, where none is given

  const std::string& data() const;  ///< the name of its data; empty: it needs none that is fetched
};

/// The problems that have a name; the suites choose among them.
///
/// Networks have biases and start from weights drawn by the seed. Tables are those of the
/// catalogue, standardised by their training samples, at most `table_samples` of each, as networks
/// with two hidden layers of `table_width` leaky ReLU units. In mini-batches at most
/// `minibatch_samples` of a set are used, with two hidden layers of `image_width` units, on tables
/// of twice `table_width`.
const std::vector<BenchmarkProblem>& benchmark_problems();
inline constexpr Index table_samples = 2000;
inline constexpr Index table_width = 32;
inline constexpr Index minibatch_samples = 10000;
inline constexpr Index image_width = 128;

/// One of these, or a test function such as quadratic:50,1000. Throws UsageError for another name.
BenchmarkProblem find_problem(const std::string& name);

}  // namespace symport::lab::benchmark
