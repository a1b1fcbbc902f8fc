// SPDX-License-Identifier: MIT
#include "symport/testing/check_symmetry.hpp"

#include <gmock/gmock.h>

#include <cstdio>

#include "support/networks.hpp"
#include "support/symmetries.hpp"
#include "symport/symmetries/general_linear.hpp"
#include "symport/symmetries/linear_network.hpp"
#include "symport/symmetries/paper_action.hpp"
#include "symport/symmetries/permutation.hpp"
#include "symport/symmetries/positive_scaling.hpp"
#include "symport/symmetries/sign_flip.hpp"

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

// Every symmetry of networks, whose elements have no common name: by its orbit alone.
TEST(CheckSymmetry, ChecksSymmetriesOfNetworksByTheirOrbits) {
  struct Row {
    std::unique_ptr<const Symmetry> symmetry;
    std::string activation;
    bool sound = true;
  };
  std::vector<Row> rows;
  rows.push_back({std::make_unique<PositiveScalingSymmetry<double>>(), "leaky_relu"});
  rows.push_back({std::make_unique<LinearNetworkSymmetry<double>>(), "linear"});
  rows.push_back({std::make_unique<PermutationSymmetry<double>>(), "gelu"});
  rows.push_back({std::make_unique<SignFlipSymmetry<double>>(), "tanh"});
  rows.push_back({std::make_unique<GeneralLinear<double>>(GeneralLinearOptions{.max_rank = 0}),
                  "leaky_relu:0.3"});
  rows.push_back({std::make_unique<PaperAction<double>>(), "asinh", false});
  for (const Row& row : rows) {
    Random random(66);
    const auto problem = testing::random_problem<double>({8, 9, 9, 3}, row.activation,
                                                         "cross_entropy", true, 6, random);
    const auto verdict = testing::check_symmetry(*row.symmetry, problem.objective, problem.w,
                                                 random, {.tolerance = 1e-9});
    EXPECT_EQ(bool(verdict), row.sound) << verdict.detail;
    if (!row.sound) {
      EXPECT_THAT(verdict.detail, HasSubstr("paper: "));
    }
  }
}

/// Another symmetry whose orbit has one fault.
class BrokenOrbit final : public BasicOrbit<double> {
 public:
  BrokenOrbit(const Objective& objective, std::unique_ptr<BasicOrbit<double>> inner,
              std::string fault)
      : BasicOrbit(objective), inner_(std::move(inner)), fault_(std::move(fault)) {}

  double grad_sq() override { return (fault_ == "J" ? 1.0 + 1e-6 : 1.0) * inner_->grad_sq(); }
  double curvature() override { return (fault_ == "Phi" ? 1.01 : 1.0) * inner_->curvature(); }
  double aim(const Slope& slope) override {
    return (fault_ == "aim" ? 1.01 : 1.0) * inner_->aim(slope);
  }
  bool move(double length) override {
    return inner_->move(fault_ == "way back" && length == 0.0 ? 1e-6 : length);
  }
  bool randomize(Random& random, double spread) override {
    moved_ = true;
    return inner_->randomize(random, spread);
  }
  double condition() const override { return inner_->condition(); }
  void commit(Out<double> w) override {
    inner_->commit(w);
    if (fault_ == "invariance" && moved_) w[0] *= 1.0 + 1e-6;
    if (fault_ == "its start" && !moved_) w[0] *= 1.0 + 1e-6;
  }
  bool transport(Out<double> values, StateKind kind) const override {
    const bool wrong = (fault_ == "gradient" && kind == StateKind::cotangent) ||
                       (fault_ == "point" && kind == StateKind::point) ||
                       (fault_ == "tangent" && kind == StateKind::tangent) ||
                       (fault_ == "squares" && kind == StateKind::squared_cotangent);
    if (wrong) return true;  // as if it did not move
    return fault_ != "refuses" && inner_->transport(values, kind);
  }

 private:
  std::unique_ptr<BasicOrbit<double>> inner_;
  std::string fault_;
  bool moved_ = false;
};

class BrokenScaling final : public Symmetry {
 public:
  explicit BrokenScaling(std::string fault) : fault_(std::move(fault)) {}
  std::string name() const override { return "broken"; }
  bool transports(StateKind) const override { return true; }
  OrbitOrReason<double> orbit(const Objective& objective, In<double> w) const override {
    if (fault_ == "there is none") return OrbitOrReason<double>::none("for no reason");
    return std::make_unique<BrokenOrbit>(
        objective, PositiveScalingSymmetry<double>().orbit(objective, w).take(), fault_);
  }

 private:
  std::string fault_;
};

TEST(CheckSymmetry, NamesThePlantedFaultOfAnOrbit) {
  Random random(67);
  const auto problem =
      testing::random_problem<double>({4, 5, 3}, "leaky_relu", "cross_entropy", true, 6, random);
  for (const char* fault : {"there is none", "its start", "invariance", "J", "Phi", "aim",
                            "way back", "gradient", "point", "tangent", "squares", "refuses"}) {
    const auto verdict =
        testing::check_symmetry(BrokenScaling(fault), problem.objective, problem.w, random);
    EXPECT_FALSE(verdict) << fault;
    EXPECT_THAT(verdict.detail, HasSubstr(fault));
  }
  const auto verdict =
      testing::check_symmetry(BrokenScaling("nothing"), problem.objective, problem.w, random);
  EXPECT_TRUE(verdict) << verdict.detail;
}

TEST(CheckSymmetry, FindsASymmetryOfAnotherObjective) {
  Random random(65);
  const auto verdict =
      testing::check_symmetry(ellipse_rotation(5.0), Ellipse(4.0), Vector{{1.0, 1.0}}, random);
  EXPECT_FALSE(verdict);
  // By how much at an element of usual size: a tiny one would be off by 1e-9.
  double error = 0.0;
  ASSERT_EQ(std::sscanf(verdict.detail.c_str(), "SO(2): invariance is off by %lf", &error), 1)
      << verdict.detail;
  EXPECT_GT(error, 1e-3);
}

TEST(CheckSymmetry, SaysWhereThereIsNothingToCompare) {
  Random random(66);
  const auto verdict =
      testing::check_symmetry(ellipse_rotation(5.0), Ellipse(5.0), Vector{{0.0, 0.0}}, random);
  EXPECT_FALSE(verdict);
  EXPECT_THAT(verdict.detail, HasSubstr("choose another point"));
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
