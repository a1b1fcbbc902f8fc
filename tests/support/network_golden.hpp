// SPDX-License-Identifier: MIT
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "symport/objectives/mlp_objective.hpp"

namespace symport::testing {

inline nlohmann::json read_network_golden(const std::string& name) {
  std::ifstream file(std::string(SYMPORT_GOLDEN_DIR) + "/" + name);
  if (!file) throw std::runtime_error("no golden file " + name);
  return nlohmann::json::parse(file);
}

/// A matrix written as a list of rows.
inline Matrix golden_matrix(const nlohmann::json& rows) {
  Matrix A(static_cast<Index>(rows.size()), static_cast<Index>(rows.at(0).size()));
  for (Index i = 0; i < A.rows(); ++i) {
    for (Index j = 0; j < A.cols(); ++j) {
      A(i, j) = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)].get<double>();
    }
  }
  return A;
}

inline std::vector<Matrix> golden_matrices(const nlohmann::json& list) {
  std::vector<Matrix> all;
  for (const auto& rows : list) all.push_back(golden_matrix(rows));
  return all;
}

/// The weights of a network without biases as its flat vector.
inline Vector flatten(const std::vector<Matrix>& weights) {
  Index size = 0;
  for (const Matrix& W : weights) size += W.size();
  Vector w(size);
  Index offset = 0;
  for (const Matrix& W : weights) {
    w.segment(offset, W.size()) = W.reshaped();
    offset += W.size();
  }
  return w;
}

/// One entry of gl_oracle.json.
struct GlCase {
  nlohmann::json json;
  MlpObjective<double> objective;
  Vector w;
};

inline std::vector<GlCase> gl_cases() {
  std::vector<GlCase> cases;
  for (const auto& json : read_network_golden("gl_oracle.json")) {
    std::string activation = json.at("activation");
    if (activation == "leaky_relu_0.1") activation = "leaky_relu:0.1";
    const bool classes = json.at("loss_kind") == "cross_entropy_mean";
    const Loss loss = Loss::parse(classes ? "cross_entropy:mean" : "half_sum_squares:sum");
    const Mlp network(json.at("dims").get<std::vector<Index>>(), Activation::parse(activation));
    const Targets<double> targets = classes ? Targets<double>(json.at("Y").get<std::vector<int>>())
                                            : Targets<double>(golden_matrix(json.at("Y")));
    cases.push_back({json,
                     MlpObjective<double>(network, loss, golden_matrix(json.at("X")), targets),
                     flatten(golden_matrices(json.at("W")))});
  }
  return cases;
}

}  // namespace symport::testing
