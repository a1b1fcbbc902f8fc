// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "symport/symmetries/level_set.hpp"

namespace symport {

/// The level set through a point, see LevelSet.
template <Real Scalar>
class LevelSetOrbit final : public BasicOrbit<Scalar> {
 public:
  /// `objective` must outlive the orbit.
  LevelSetOrbit(const LevelSetOptions& options, const BasicObjective<Scalar>& objective,
                In<Scalar> start);

  std::optional<double> start_loss() const override { return start_.loss; }
  double grad_sq() override { return current_.grad_sq; }
  double curvature() override;
  double aim(const Slope& slope) override;
  bool move(double length) override;
  void restart() override;
  bool has_candidates() const override { return true; }
  std::vector<Candidate> candidates(const Worth& worth) override;
  double condition() const override { return 1.0; }
  Scope scope() const override;
  void commit(Out<Scalar> w) override { w = current_.w; }
  void current_gradient(In<Scalar>, Out<Scalar> gradient) override { gradient = current_.gradient; }

 private:
  using VectorType = VectorOf<Scalar>;
  struct Point {
    VectorType w, gradient;
    double loss = 0.0, grad_sq = 0.0;
    std::optional<VectorType> hessian_gradient;
  };

  Point measured(VectorType w);
  const VectorType& hessian_gradient(Point& point);
  /// The point of the level set near w; nothing where Newton's method does not find one.
  std::optional<Point> returned(VectorType w);
  /// v without its part along the gradient of `point`, in double.
  static Vector tangential(const Point& point, Vector v);
  /// Another point of the path; false at its end.
  bool extend();
  bool go_to(double kappa);
  void place(const Point& point);

  const LevelSetOptions options_;
  double scale_ = 1.0;  ///< of lengths
  Point start_, base_, current_;
  VectorType direction_;  ///< of unit length, in the tangent space at the base
  std::vector<Point> path_;
  bool path_ended_ = false;
  double length_ = 0.0;  ///< of the next step of the path
};

}  // namespace symport
