// SPDX-License-Identifier: MIT
#include "symport/testing/check_symmetry.hpp"

#include <gmock/gmock.h>

#include "support/symmetries.hpp"

namespace symport {
namespace {

using ::testing::HasSubstr;

class EverySymmetry : public ::testing::TestWithParam<testing::SymmetryRow> {};

TEST_P(EverySymmetry, KeepsItsLaws) {
  const auto& row = GetParam();
  Random random(61);
  for (const Vector& w : testing::symmetry_points(*row.objective, random)) {
    const auto verdict = testing::check_symmetry(*row.symmetry, *row.objective, w, random);
    EXPECT_TRUE(verdict) << verdict.detail << " at " << w.transpose();
  }
}

TEST_P(EverySymmetry, DrawsElementsOfItsGroup) {
  const auto& row = GetParam();
  const Index n = row.symmetry->order();
  Random random(62);
  bool far = false;
  for (int i = 0; i < 20; ++i) {
    const Matrix g = row.symmetry->random_element(random, 0.5);
    ASSERT_EQ(g.rows(), n);
    ASSERT_EQ(g.cols(), n);
    if (row.symmetry->compact()) {
      EXPECT_LE((g.transpose() * g - Matrix::Identity(n, n)).norm(), 1e-13);
    }
    far |= (g - Matrix::Identity(n, n)).norm() > 0.1;
  }
  EXPECT_TRUE(far);
}

/// Another symmetry with one of its laws broken.
class Broken final : public MatrixSymmetry {
 public:
  enum class Law { none, identity, invariance, inverse, composition, pull_back, transport };
  Broken(const MatrixSymmetry& inner, Law law) : inner_(inner), law_(law) {}

  std::string name() const override { return inner_.name(); }
  Index order() const override { return inner_.order(); }
  bool compact() const override { return inner_.compact(); }
  Matrix project(const Matrix& T) const override { return inner_.project(T); }
  double inner(const Matrix& S, const Matrix& T) const override { return inner_.inner(S, T); }
  Matrix random_element(Random& random, double spread) const override {
    return inner_.random_element(random, spread);
  }
  void act(const Matrix& g, Out<double> w) const override {
    // For a non-commutative group the transpose reverses products: invariant, but no action.
    inner_.act(law_ == Law::composition ? Matrix(g.transpose()) : g, w);
    if (law_ == Law::identity) w *= 1.0 + 1e-6;
    if (law_ == Law::invariance && g(0, 0) < 0.99) w[0] += 1e-6;
  }
  Matrix pull_back(In<double> w, In<double> covector) const override {
    return (law_ == Law::pull_back ? 1.01 : 1.0) * inner_.pull_back(w, covector);
  }
  void transport(const Matrix& g, In<double> w, Out<double> covector) const override {
    if (law_ == Law::transport) return;  // as if the Jacobian were the identity
    inner_.transport(law_ == Law::composition ? Matrix(g.transpose()) : g, w, covector);
  }

 private:
  const MatrixSymmetry& inner_;
  Law law_;
};

struct Planted {
  Broken::Law law;
  std::string named;
};

TEST(CheckSymmetry, NamesThePlantedFault) {
  const auto symmetry = rosenbrock_rotation(2);
  const Rosenbrock objective(2);
  const std::vector<Planted> faults = {{Broken::Law::identity, "identity"},
                                       {Broken::Law::invariance, "invariance"},
                                       {Broken::Law::composition, "composition"},
                                       {Broken::Law::pull_back, "pull_back"},
                                       {Broken::Law::transport, "transport"}};
  Random random(63);
  for (const Planted& fault : faults) {
    const Broken broken(symmetry, fault.law);
    const auto verdict = testing::check_symmetry(broken, objective, objective.start(), random);
    EXPECT_FALSE(verdict) << fault.named;
    EXPECT_THAT(verdict.detail, HasSubstr(fault.named));
    EXPECT_THAT(verdict.detail, HasSubstr("SO(4)"));
  }
  const Broken sound(symmetry, Broken::Law::none);
  const auto verdict = testing::check_symmetry(sound, objective, objective.start(), random);
  EXPECT_TRUE(verdict) << verdict.detail;
}

TEST(CheckSymmetry, FindsEachPullBackThatIsOnePercentWrong) {
  Random random(64);
  for (const auto& row : testing::symmetry_table()) {
    const Broken broken(*row.symmetry, Broken::Law::pull_back);
    const Vector w = testing::random_vector(row.objective->dimension(), random);
    EXPECT_FALSE(testing::check_symmetry(broken, *row.objective, w, random)) << row.name;
  }
}

TEST(CheckSymmetry, FindsASymmetryOfAnotherObjective) {
  Random random(65);
  const auto verdict =
      testing::check_symmetry(ellipse_rotation(5.0), Ellipse(4.0), Vector{{1.0, 1.0}}, random);
  EXPECT_FALSE(verdict);
  EXPECT_THAT(verdict.detail, HasSubstr("invariance"));
}

INSTANTIATE_TEST_SUITE_P(Table, EverySymmetry, ::testing::ValuesIn(testing::symmetry_table()),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           for (char& c : name) {
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace symport
