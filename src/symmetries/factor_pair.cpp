// SPDX-License-Identifier: MIT
#include "symport/symmetries/factor_pair.hpp"

#include <fmt/format.h>

#include "core/dense.hpp"
#include "symmetries/slot_orbit.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport {

namespace {

using Part = SlotAction::Part;

GroupElement with_inverse(const Matrix& g) { return {{g}, {inverse(g)}}; }

}  // namespace

FactorPairSymmetry::FactorPairSymmetry(const MatrixFactorization& problem)
    : rank_(problem.rank()),
      action_(std::make_shared<const SlotAction>(
          problem.layout(), std::vector<SlotGroup>{{GroupKind::general_linear,
                                                    problem.rank(),
                                                    {{"V"}, {"U", 1, Representation::dual}}}})) {}

std::string FactorPairSymmetry::name() const { return fmt::format("GL({})", order()); }

void FactorPairSymmetry::act(const Matrix& g, Out<double> w) const {
  action_->apply<double>(Part::action, with_inverse(g), w);
}

Matrix FactorPairSymmetry::pull_back(In<double> w, In<double> covector) const {
  return action_->pull_back(w, covector).front();
}

void FactorPairSymmetry::transport(const Matrix& g, In<double>, Out<double> covector) const {
  action_->apply<double>(Part::cotangent, with_inverse(g), covector);
}

OrbitOrReason<double> FactorPairSymmetry::orbit(const Objective& objective, In<double> w) const {
  const Index parameters = action_->parameters();
  if (objective.dimension() != parameters || w.size() != parameters) {
    throw InvalidArgument("symmetry " + name(),
                          fmt::format("an objective of {} variables", objective.dimension()),
                          fmt::format("one of {}", parameters));
  }
  return std::make_unique<SlotOrbit<double>>(action_, objective, w);
}

}  // namespace symport
