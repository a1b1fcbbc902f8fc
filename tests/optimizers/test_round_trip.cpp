// SPDX-License-Identifier: MIT
#include "symport/optimizers/round_trip.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/dense.hpp"
#include "support/golden.hpp"
#include "support/network_golden.hpp"
#include "support/networks.hpp"
#include "support/one_step.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/objectives/counting.hpp"
#include "symport/objectives/generic_objective.hpp"
#include "symport/objectives/matrix_factorization.hpp"
#include "symport/optimizers/adam.hpp"
#include "symport/optimizers/adamw.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/optimizers/momentum.hpp"
#include "symport/optimizers/nesterov.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

using testing::golden_matrix;
using testing::one_step;
using testing::random_problem;

/// One weight with inputs and gradient that a test knows.
template <Real Scalar>
class OneWeight final : public BasicObjective<Scalar> {
 public:
  MatrixOf<Scalar> G, h;
  InputKind kind = InputKind::hidden;

  Index dimension() const override { return G.size(); }
  double value(In<Scalar>) const override { return 0.0; }
  double gradient(In<Scalar>, Out<Scalar> gradient) const override {
    gradient = G.reshaped();
    return 0.0;
  }
  void weight_inputs(In<Scalar>, const UseInputs<Scalar>& use) const override {
    use({.first = 0, .outputs = G.rows(), .h = h, .kind = kind});
  }
};

/// Steps along the orthogonal factor of each matrix's momentum, exactly.
template <Real Scalar>
class ExactMuon final : public FirstOrderOptimizer<Scalar> {
 public:
  explicit ExactMuon(ParameterLayout layout) : layout_(std::move(layout)) {}
  std::string_view name() const override { return "exact_muon"; }
  bool entry_by_entry() const override { return false; }
  OptimizerState<Scalar> init(Index dimension) const override {
    OptimizerState<Scalar> state;
    state.add("velocity", StateKind::cotangent, dimension);
    return state;
  }
  void update(In<Scalar>, In<Scalar> gradient, double rate, const StateRange<Scalar>& state,
              Out<Scalar> u) const override {
    auto velocity = state[0];
    velocity = Scalar(0.9) * velocity + gradient;
    Index done = 0;
    for (const ParameterBlock& block : layout_.blocks()) {
      if (block.offset < state.first() || block.offset >= state.first() + state.size()) continue;
      const Matrix M = velocity.segment(block.offset - state.first(), block.size())
                           .reshaped(block.rows, block.cols)
                           .template cast<double>();
      const SingularValues svd = singular_values(M);
      const Matrix factor = svd.U * svd.V.transpose();
      u.segment(block.offset - state.first(), block.size()) =
          static_cast<Scalar>(rate) * factor.reshaped().template cast<Scalar>();
      done += block.size();
    }
    EXPECT_EQ(done, state.size()) << "a part of a matrix";
  }

 private:
  ParameterLayout layout_;
};

template <Real Scalar>
std::shared_ptr<const FirstOrderOptimizer<Scalar>> rule_named(const std::string& name,
                                                              const ParameterLayout& layout) {
  if (name == "gd") return std::make_shared<GradientDescent<Scalar>>();
  if (name == "momentum") return std::make_shared<Momentum<Scalar>>();
  if (name == "adam") return std::make_shared<Adam<Scalar>>(AdamOptions{.beta2 = 0.99});
  return std::make_shared<ExactMuon<Scalar>>(layout);
}

template <class Scalar>
class RoundTripIn : public ::testing::Test {};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(RoundTripIn, Precisions);

TYPED_TEST(RoundTripIn, GivesTheGoldenWeights) {
  using Scalar = TypeParam;
  const bool exact = std::is_same_v<Scalar, double>;
  const nlohmann::json golden = testing::read_golden("round_trips.json");
  ASSERT_EQ(golden.at("runs").size(), 16u);
  const MatrixOf<Scalar> W = golden_matrix(golden.at("W")).cast<Scalar>();
  for (const auto& run : golden.at("runs")) {
    SCOPED_TRACE(run.at("rule").dump() + run.at("length").dump() + run.at("power").dump());
    const RoundTrip<Scalar> trip(
        rule_named<Scalar>(run.at("rule"), ParameterLayout().add("W", W.rows(), W.cols())),
        {.length = run.at("length") == "kept" ? Length::kept : Length::metric,
         .power = run.at("power").get<double>(),
         .refresh = golden.at("refresh")});
    OneWeight<Scalar> objective;
    VectorOf<Scalar> w = W.reshaped();
    OptimizerState<Scalar> state = trip.init(w.size());
    for (std::size_t t = 0; t < golden.at("steps").size(); ++t) {
      const auto& step = golden.at("steps")[t];
      objective.G = golden_matrix(step.at("G")).cast<Scalar>();
      objective.h = golden_matrix(step.at("H")).cast<Scalar>();
      MeasuredPoint<Scalar> here;
      trip.measure(objective, w, here);
      trip.step(objective, here, golden.at("rate"), state, w);
      const Vector expected = golden_matrix(run.at("points")[t]).reshaped();
      EXPECT_LE((w.template cast<double>() - expected).cwiseAbs().maxCoeff(),
                (exact ? 1e-10 : 1e-4) * expected.cwiseAbs().maxCoeff())
          << "step " << t;
    }
    EXPECT_EQ(state.count, 5);
  }
}

/// The first weights of a network after ten steps, where weights and data are seen through an
/// invertible matrix, W C^-1 and C X, and as they would be without it. The statistics of the data
/// stand for so many rows that their gauge has no damping but rounding.
Matrix trained(const testing::Problem<double>& problem, const std::string& rule, const Matrix& C,
               Length length) {
  const Mlp& network = problem.objective.network();
  const MlpObjective<double> objective(network, problem.objective.loss(),
                                       C * problem.objective.inputs(), problem.objective.targets());
  Vector w = problem.w;
  network.weights(1, w.data()) = Matrix(network.weights(1, w.data())) * inverse(C);
  const RoundTrip<double> trip(
      rule_named<double>(rule, network.layout()),
      {.length = length, .power = 0.5, .data_power = 0.5, .damping = 0.0, .rows = 0});
  OptimizerState<double> state = trip.init(w.size());
  MeasuredPoint<double> here;
  const auto step = [&](OptimizerState<double>& with, Vector& at) {
    trip.measure(objective, at, here);
    trip.step(objective, here, 0.02, with, at);
  };
  OptimizerState<double> tried = state;
  Vector elsewhere = w;
  step(tried, elsewhere);  // makes room
  constexpr double many = 1e14;
  const Matrix& X = objective.inputs();
  Vector& gauges = state["gauges"];
  gauges = tried["gauges"];
  gauges[0] = many;
  gauges.segment(1, C.size()) =
      (many / static_cast<double>(X.cols())) * Matrix(X * X.transpose()).reshaped();
  for (int t = 0; t < 10; ++t) step(state, w);
  return network.weights(1, w.data()) * C;
}

// What a rule that does not feel rotations does in the metric form depends neither on the units nor
// on any other linear change of a layer's inputs. With kept lengths only rotations are not felt,
// and Adam feels everything.
TEST(RoundTrip, FeelsNoLinearChangeOfTheInputsInTheMetricForm) {
  Random random(5);
  const auto problem =
      random_problem<double>({6, 8, 3}, "tanh", "cross_entropy:mean", false, 100, random);
  const Matrix shear = Matrix::Identity(6, 6) + 0.3 * random.normal_matrix(6, 6);
  const Matrix rotation = orthogonal_factor(shear);
  const auto difference = [&](const char* rule, const Matrix& change, Length length) {
    const Matrix plain = trained(problem, rule, Matrix::Identity(6, 6), length);
    return (trained(problem, rule, change, length) - plain).norm() / plain.norm();
  };
  for (const char* rule : {"gd", "momentum", "muon"}) {
    EXPECT_LT(difference(rule, shear, Length::metric), 1e-11) << rule;
    EXPECT_LT(difference(rule, 1e3 * shear, Length::metric), 1e-11) << rule;
    EXPECT_LT(difference(rule, rotation, Length::kept), 1e-11) << rule;
    EXPECT_GT(difference(rule, shear, Length::kept), 1e-3) << rule;
  }
  EXPECT_GT(difference("adam", rotation, Length::kept), 1e-3);
  EXPECT_GT(difference("adam", rotation, Length::metric), 1e-3);
}

// Pieces of a mini-batch, more samples than outputs and fewer, and the whole gradient: one step.
TYPED_TEST(RoundTripIn, AMinibatchStepIsTheStep) {
  using Scalar = TypeParam;
  const double allowed = std::is_same_v<Scalar, double> ? 1e-9 : 2e-3;
  for (const Index samples : {4, 30}) {
    Random random(4);
    const auto problem = random_problem<Scalar>({12, 20, 9, 5}, "leaky_relu:0.1",
                                                "cross_entropy:mean", true, samples, random);
    const std::vector<std::shared_ptr<const FirstOrderOptimizer<Scalar>>> rules{
        std::make_shared<GradientDescent<Scalar>>(), std::make_shared<Momentum<Scalar>>(),
        std::make_shared<Nesterov<Scalar>>(), std::make_shared<Adam<Scalar>>(),
        std::make_shared<AdamW<Scalar>>()};
    for (const auto& rule : rules) {
      for (const double data_power : {0.0, 0.25}) {
        const RoundTrip<Scalar> trip(rule, {.data_power = data_power, .refresh = 3});
        VectorOf<Scalar> w = problem.w, pieces = w;
        auto state = trip.init(w.size()), other = trip.init(w.size());
        MeasuredPoint<Scalar> here;
        for (int t = 0; t < 7; ++t) {
          trip.measure(problem.objective, w, here);
          trip.step(problem.objective, here, 0.01, state, w);
          const double loss = trip.minibatch_step(problem.objective, 0.01, other, pieces);
          EXPECT_NEAR(loss, here.loss, allowed * here.loss);
        }
        EXPECT_LE((w - pieces).norm(), allowed * w.norm()) << rule->name() << data_power;
        EXPECT_EQ(other.count, 7);
      }
    }
  }
}

TEST(RoundTrip, WithoutPowerIsTheRule) {
  Random random(4);
  const auto problem =
      random_problem<double>({6, 8, 5}, "leaky_relu:0.1", "cross_entropy:mean", true, 15, random);
  const auto rule = std::make_shared<AdamW<double>>(AdamWOptions{.weight_decay = 0.3});
  const RoundTrip<double> trip(rule, {.power = 0.0});
  Vector w = problem.w, plain = w;
  auto state = trip.init(w.size()), other = rule->init(w.size());
  for (int t = 0; t < 5; ++t) {
    trip.minibatch_step(problem.objective, 0.01, state, w);
    rule->minibatch_step(problem.objective, 0.01, other, plain);
  }
  EXPECT_EQ(w, plain);
}

// Where there is no gradient, weights only decay, and to the bits that they have without a gauge.
TEST(RoundTrip, LeavesDecayToTheRule) {
  const auto rule = std::make_shared<AdamW<double>>(AdamWOptions{.weight_decay = 0.3});
  const RoundTrip<double> trip(rule);
  OneWeight<double> objective;
  Random random(2);
  objective.G = Matrix::Zero(4, 6);
  objective.h = random.normal_matrix(6, 20);
  Vector w = random.normal_matrix(24, 1), plain = w;
  auto state = trip.init(24), other = rule->init(24);
  for (int t = 0; t < 5; ++t) {
    one_step<double>(trip, objective, 0.0, Vector::Zero(24), 0.1, state, w);
    one_step<double>(*rule, objective, 0.0, Vector::Zero(24), 0.1, other, plain);
    EXPECT_EQ(w, plain);
  }
}

// What gradients can leave stays, and comes close to the bound where they fall as beta1 / beta2
// does; more than that, as where an entry gets a moment from another gauge and has no square, is
// cut.
TEST(RoundTrip, BoundsMomentsByTheirSquares) {
  const AdamOptions options{.beta1 = 0.8, .beta2 = 0.95};
  const Adam<double> adam(options);
  OptimizerState<double> state = adam.init(3);
  Vector &mean = state["mean"], &squares = state["squares"];
  for (int k = 200; k >= 0; --k) {
    const double g = std::pow(options.beta1 / options.beta2, k);
    mean[0] = options.beta1 * mean[0] + (1 - options.beta1) * g;
    squares[0] = options.beta2 * squares[0] + (1 - options.beta2) * g * g;
  }
  const double largest = mean[0];
  mean[1] = -1.01 * largest;
  squares[1] = squares[0];
  mean[2] = 0.3;
  adam.bound_moments(StateRange<double>(state, 0, 3));
  EXPECT_NEAR(mean[0], largest, 1e-12);
  EXPECT_NEAR(mean[1], -largest, 1e-12);
  EXPECT_EQ(mean[2], 0.0);
}

TEST(RoundTrip, DoesNotCountRowsOfZerosOrOfNoNumbers) {
  const RoundTrip<double> trip(std::make_shared<GradientDescent<double>>());
  Random random(2);
  OneWeight<double> objective;
  objective.G = random.normal_matrix(3, 4);
  const Matrix h = random.normal_matrix(4, 10);
  const auto step_with = [&](const Matrix& inputs) {
    objective.h = inputs;
    Vector w = Vector::Zero(12);
    auto state = trip.init(12);
    one_step<double>(trip, objective, 0.0, objective.G.reshaped(), 0.1, state, w);
    return w;
  };
  Matrix padded = Matrix::Zero(4, 60);
  padded.leftCols(10) = h;
  EXPECT_LE((step_with(h) - step_with(padded)).norm(), tolerance::rounding);
  Matrix broken = h;
  broken(1, 3) = NAN;
  EXPECT_EQ(step_with(broken), Vector(-0.1 * objective.G.reshaped()));  // as without a gauge
  EXPECT_EQ(step_with(Matrix::Zero(4, 10)), Vector(-0.1 * objective.G.reshaped()));
}

TEST(RoundTrip, CountsWhatItCosts) {
  Random random(4);
  const auto problem =
      random_problem<double>({6, 8, 5}, "leaky_relu:0.1", "cross_entropy:mean", true, 15, random);
  const CountingObjective<double> counting(problem.objective);
  const RoundTrip<double> trip(std::make_shared<Adam<double>>());
  Vector w = problem.w;
  auto state = trip.init(w.size());
  MeasuredPoint<double> here;
  trip.measure(counting, w, here);
  EXPECT_EQ(trip.step(counting, here, 0.01, state, w).evaluations, 0.0);
  EXPECT_EQ(counting.count().gradient_equivalents(), 1.0);
}

TEST(RoundTrip, RefusesWhatItCannotDo) {
  const auto gd = std::make_shared<GradientDescent<double>>();
  EXPECT_THROW(RoundTrip<double>(gd, {.power = -0.1}), InvalidArgument);
  EXPECT_THROW(RoundTrip<double>(gd, {.power = 1.5}), InvalidArgument);
  EXPECT_THROW(RoundTrip<double>(gd, {.data_power = std::nan("")}), InvalidArgument);
  EXPECT_THROW(RoundTrip<double>(gd, {.damping = -1.0}), InvalidArgument);
  EXPECT_THROW(RoundTrip<double>(gd, {.refresh = 0}), InvalidArgument);
  EXPECT_THROW(RoundTrip<double>(gd, {.rows = -1}), InvalidArgument);
  const RoundTrip<double> trip(gd);
  const auto refused = [&](const Objective& objective) {
    Vector w = Vector::Ones(objective.dimension());
    const Vector start = w;
    auto state = trip.init(w.size());
    MeasuredPoint<double> here;
    trip.measure(objective, w, here);
    EXPECT_THROW(trip.step(objective, here, 0.1, state, w), InvalidArgument);
    EXPECT_EQ(w, start);
  };
  refused(MatrixFactorization::random(6, 5, 3, 1));
  refused(GenericObjective(2, [](const auto& w) { return w[0] * w[0] + w[1]; }));
}

}  // namespace
}  // namespace symport
