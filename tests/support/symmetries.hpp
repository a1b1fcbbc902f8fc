// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/objectives.hpp"
#include "symport/symmetries/factor_pair.hpp"
#include "symport/symmetries/orthogonal.hpp"
#include "symport/symmetries/rotation.hpp"

namespace symport::testing {

struct SymmetryRow {
  std::string name;
  std::shared_ptr<const MatrixSymmetry> symmetry;
  std::shared_ptr<const Objective> objective;
};

/// u = h(x) of a user, a shear by a cube and a stretch by sinh, and |u|^2.
RotationSymmetry user_rotation();
std::shared_ptr<const Objective> user_objective();

/// u = exp(x) of a user who forgot that it is not onto: most rotations leave its positive numbers.
RotationSymmetry positive_rotation(Index n);
std::shared_ptr<const Objective> positive_objective(Index n);

/// Every MatrixSymmetry of the foundation with an objective that it keeps. A new one is a new row.
std::vector<SymmetryRow> symmetry_table();

/// Points of moderate size, at which no loss vanishes.
inline std::vector<Vector> symmetry_points(const Objective& objective, Random& random) {
  std::vector<Vector> points;
  for (const double size : {0.3, 1.0, 1.5}) {
    points.push_back(random_vector(objective.dimension(), random, size));
  }
  return points;
}

}  // namespace symport::testing
