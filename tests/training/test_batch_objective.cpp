// SPDX-License-Identifier: MIT
#include "symport/objectives/batch_objective.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/networks.hpp"
#include "support/numbers.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/optimizers/adam.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/optimizers/newton.hpp"
#include "symport/training/train_minibatch.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

/// L = sum |W x - y|^2 / 2 over a batch: a model that is no multi-layer perceptron and overrides
/// nothing that it need not.
class LinearRegression final : public BatchObjective<double> {
 public:
  LinearRegression(Index outputs, Index features) { layout_.add("slope", outputs, features); }

  void bind(MatrixIn<double> X, const Targets<double>& targets) override {
    X_ = X;
    Y_ = targets.values;
  }
  Index samples() const override { return X_.cols(); }
  std::unique_ptr<BatchObjective<double>> clone() const override {
    const ParameterBlock& block = layout_.blocks().front();
    return std::make_unique<LinearRegression>(block.rows, block.cols);
  }
  Loss::Reduction reduction() const override { return Loss::Reduction::sum; }
  const ParameterLayout& layout() const override { return layout_; }

  Index dimension() const override { return layout_.size(); }
  double value(In<double> w) const override { return 0.5 * (W(w) * X_ - Y_).squaredNorm(); }
  double gradient(In<double> w, Out<double> gradient) const override {
    const Matrix residual = W(w) * X_ - Y_;
    gradient = (residual * X_.transpose()).reshaped();
    return 0.5 * residual.squaredNorm();
  }
  void hessian_vector(In<double>, In<double> v, Out<double> result) const override {
    result = (W(v) * X_ * X_.transpose()).reshaped();
  }

 private:
  Eigen::Map<const Matrix> W(In<double> w) const {
    return ParameterLayout::view(layout_.blocks().front(), w.data());
  }

  ParameterLayout layout_;
  Matrix X_, Y_;
};

// A network without hidden layers is the same function with the same order of parameters.
TEST(BatchObjective, AnyModelCanBeTrainedInMiniBatches) {
  Random random(1);
  const Matrix X = random.normal_matrix(4, 60), Y = random.normal_matrix(3, 60);
  const DenseSource<double> source(X, Y);
  const Split parts = split(60, 12, 7);
  const LinearRegression model(3, 4);
  const MlpObjective<double> network(Mlp({4, 3}, Activation{}), Loss::parse("half_sum_squares"));
  const GradientDescent<double> descent;
  const Adam<double> adam;
  const Newton<double> newton;
  for (const Optimizer* optimizer :
       {static_cast<const Optimizer*>(&descent), static_cast<const Optimizer*>(&adam),
        static_cast<const Optimizer*>(&newton)}) {
    MinibatchOptions<double> options{.epochs = 3, .batch_size = 8, .learning_rate = 1e-2};
    Vector w = random.normal_matrix(12, 1), v = w;
    const RunSummary run = train_minibatch<double>(model, source, parts, *optimizer, w, options);
    const RunSummary expected =
        train_minibatch<double>(network, source, parts, *optimizer, v, options);
    EXPECT_LE(testing::distance(w, v), tolerance::accumulated) << optimizer->name();
    ASSERT_EQ(run.trace.rows.size(), 4u);
    for (std::size_t i = 0; i < 4; ++i) {
      const TraceRow &row = run.trace.rows[i], &same = expected.trace.rows[i];
      EXPECT_LE(testing::distance(row.loss, same.loss), tolerance::accumulated);
      EXPECT_LE(testing::distance(row.valid_loss, same.valid_loss), tolerance::accumulated);
      EXPECT_LE(testing::distance(row.grad_sq, same.grad_sq), tolerance::accumulated);
      EXPECT_TRUE(std::isnan(row.valid_accuracy));
    }
    EXPECT_EQ(run.evaluations, expected.evaluations);
    EXPECT_LT(run.final_loss, run.trace.rows.front().loss);
  }
}

TEST(BatchObjective, DefaultsEqualTheFasterWaysOfANetwork) {
  Random random(2);
  const Matrix X = random.normal_matrix(4, 9), Y = random.normal_matrix(3, 9);
  LinearRegression model(3, 4);
  model.bind(X, Targets<double>(Y));
  const MlpObjective<double> network(Mlp({4, 3}, Activation{}), Loss::parse("half_sum_squares"), X,
                                     Targets<double>(Y));
  const Vector w = random.normal_matrix(12, 1);
  Vector a = w, b = w, pieces(12), gradient(12);
  EXPECT_NEAR(model.gradient_step(a, 0.1), network.gradient_step(b, 0.1), tolerance::rounding);
  EXPECT_LE(testing::distance(a, b), tolerance::rounding);
  for (const BatchObjective<double>* each :
       {static_cast<const BatchObjective<double>*>(&model),
        static_cast<const BatchObjective<double>*>(&network)}) {
    pieces.setZero();
    const double loss = each->gradient_ranges(
        w, [&](Index first, In<double> range) { pieces.segment(first, range.size()) += range; });
    EXPECT_EQ(each->gradient(w, gradient), loss);
    EXPECT_LE(testing::distance(pieces, gradient), tolerance::rounding);
    EXPECT_EQ(each->score(w).loss, loss);
    EXPECT_TRUE(std::isnan(each->score(w).accuracy));
    EXPECT_EQ(each->score(w, pieces).loss, loss);
    EXPECT_EQ(pieces, gradient);
    EXPECT_EQ(each->clone()->samples(), 0);
    EXPECT_EQ(each->clone()->dimension(), 12);
    EXPECT_EQ(each->mlp() != nullptr, each == &network);
  }
}

// States are values: two of them of one network live side by side, and evaluations in between
// change neither.
TEST(MlpStates, AreThoseOfTheirPoint) {
  Random random(3);
  for (const bool biases : {false, true}) {
    auto [objective, w] =
        testing::random_problem<double>({5, 6, 4, 3}, "tanh", "cross_entropy", biases, 7, random);
    const Vector v = w + 0.1 * Vector(random.normal_matrix(w.size(), 1));
    MlpStates<double> at_w, at_v;
    const double loss = objective.backpropagate(w, at_w);
    objective.backpropagate(v, at_v);
    Vector gradient(w.size()), expected(w.size());
    objective.hessian_vector(v, w, gradient);
    EXPECT_EQ(objective.gradient(w, expected), loss);
    const Mlp& network = objective.network();
    for (Index m = 1; m <= network.layers(); ++m) {
      network.augmented(m, gradient.data()) =
          at_w.delta[static_cast<std::size_t>(m)] * objective.h(m - 1, at_w).transpose();
    }
    EXPECT_LE(testing::distance(gradient, expected), tolerance::rounding);
    EXPECT_EQ(objective.outputs(w), at_w.z.back());
    EXPECT_GT(testing::distance(at_v.z.back(), at_w.z.back()), 1e-3);
    // Used again for a batch of another size.
    objective.subset({0, 2}).forward(w, at_v);
    EXPECT_LE(testing::distance(at_v.z.back().col(1), at_w.z.back().col(2)), tolerance::rounding);
    if (biases) {
      EXPECT_EQ(at_v.h[1].row(6), Matrix::Ones(1, 2));
    }
  }
}

TEST(TrainMinibatch, RefusesASplitWithSamplesThatTheSourceDoesNotHave) {
  Random random(1);
  const Matrix X = random.normal_matrix(4, 60), Y = random.normal_matrix(3, 60);
  const DenseSource<double> source(X, Targets<double>(Y));
  const LinearRegression model(3, 4);
  Vector w = Vector::Zero(12);
  for (const Split& wrong : {split(61, 0, 0), split(80, 30, 0)}) {
    try {
      train_minibatch<double>(model, source, wrong, GradientDescent<double>{}, w,
                              {.epochs = 1, .batch_size = 10, .learning_rate = 1e-3});
      ADD_FAILURE() << "not refused";
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find("0 to 59, the samples of the source"),
                std::string::npos)
          << error.what();
    }
  }
}

}  // namespace
}  // namespace symport
