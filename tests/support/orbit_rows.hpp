// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/networks.hpp"
#include "support/symmetries.hpp"
#include "symmetries/matrix_orbit.hpp"
#include "symport/symmetries/linear_data.hpp"

namespace symport::testing {

/// An orbit with what it refers to.
struct OrbitRow {
  std::string name;
  std::shared_ptr<const void> owner;
  Vector start;
  std::shared_ptr<BasicOrbit<double>> orbit;
};

/// Orbits of the symmetries of flat vectors through random points and, where asked for, the generic
/// orbits beside the special ones.
inline std::vector<OrbitRow> matrix_orbits(Random& random, bool generic) {
  std::vector<OrbitRow> rows;
  for (const SymmetryRow& row : symmetry_table()) {
    const Vector w = random_vector(row.objective->dimension(), random);
    const auto owner = std::make_shared<SymmetryRow>(row);
    rows.push_back({row.name, owner, w, row.symmetry->orbit(*row.objective, w).take()});
    if (!generic) continue;
    rows.push_back({row.name + " (generic orbit)", owner, w,
                    std::make_unique<MatrixOrbit>(*row.symmetry, *row.objective, w)});
  }
  return rows;
}

inline OrbitRow linear_data_orbit(Random& random) {
  const auto model = std::make_shared<LinearModel>(random_linear_model(2, 3, 5));
  const Vector w = random_vector(6, random);
  return {"linear model and its data", model, w, LinearDataSymmetry().orbit(*model, w)};
}

/// Of a random network with cross-entropy; `note` is added to the symmetry's name.
inline OrbitRow network_orbit(const BasicSymmetry<double>& symmetry, std::vector<Index> widths,
                              const char* activation, bool biases, Index samples,
                              const std::string& note, Random& random) {
  const auto problem = std::make_shared<Problem<double>>(random_problem<double>(
      std::move(widths), activation, "cross_entropy", biases, samples, random));
  return {symmetry.name() + note, problem, problem->w,
          symmetry.orbit(problem->objective, problem->w).take()};
}

/// Where the orbit is.
inline Vector point_of(BasicOrbit<double>& orbit) {
  Vector w(orbit.objective().dimension());
  orbit.commit(w);
  return w;
}

}  // namespace symport::testing
