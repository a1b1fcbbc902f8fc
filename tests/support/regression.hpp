// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "support/network_golden.hpp"

namespace symport::testing {

struct RegressionProblem {
  MlpObjective<double> objective;
  Vector start;
};

/// The paper's regression on the golden data sets.
inline std::vector<RegressionProblem> golden_regressions() {
  std::vector<RegressionProblem> problems;
  const auto golden = read_network_golden("mlp_regression.json");
  for (const auto& run : golden.at("runs")) {
    problems.push_back(
        {MlpObjective<double>(Mlp({5, 6, 7, 8}, Activation::parse("leaky_relu:0.1")),
                              Loss(Loss::Kind::half_sum_squares), golden_matrix(run.at("X")),
                              Targets<double>(golden_matrix(run.at("Y")))),
         flatten(golden_matrices(run.at("W")))});
  }
  return problems;
}

}  // namespace symport::testing
