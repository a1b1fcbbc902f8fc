// SPDX-License-Identifier: MIT
#include "symport/training/batch_source.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/networks.hpp"
#include "support/refusal.hpp"
#include "symport/optimizers/curvature_descent.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/training/train_minibatch.hpp"
#include "tolerances.hpp"

namespace symport {
namespace {

template <class Scalar>
class DenseSourceTest : public ::testing::Test {
 protected:
  /// `rows` numbers for each of `samples` samples, from which both can be told.
  static MatrixOf<Scalar> numbered(Index rows, Index samples) {
    MatrixOf<Scalar> numbers(rows, samples);
    for (Index j = 0; j < samples; ++j) {
      for (Index i = 0; i < rows; ++i) numbers(i, j) = static_cast<Scalar>(100 * j + i);
    }
    return numbers;
  }
};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(DenseSourceTest, Precisions);

const std::vector<std::vector<Index>> batches{{0, 1, 2}, {6, 3, 3, 0}, {5}, {}};

TYPED_TEST(DenseSourceTest, LoadsRealTargetsInTheOrderThatIsAskedFor) {
  const DenseSource<TypeParam> source(this->numbered(3, 7),
                                      Targets<TypeParam>(-this->numbered(2, 7)));
  EXPECT_EQ(source.samples(), 7);
  EXPECT_EQ(source.features(), 3);
  EXPECT_FALSE(source.categorical());
  // What an earlier batch of classes left behind does not stay.
  MatrixOf<TypeParam> X;
  Targets<TypeParam> targets(std::vector<int>{1, 0, 2});
  for (const std::vector<Index>& batch : batches) {
    source.load(batch, X, targets);
    EXPECT_FALSE(targets.categorical());
    ASSERT_EQ(X.rows(), 3);
    ASSERT_EQ(targets.values.rows(), 2);
    ASSERT_EQ(X.cols(), static_cast<Index>(batch.size()));
    ASSERT_EQ(targets.samples(), X.cols());
    for (Index j = 0; j < X.cols(); ++j) {
      const Index sample = 100 * batch[static_cast<std::size_t>(j)];
      for (Index i = 0; i < 3; ++i) EXPECT_EQ(X(i, j), static_cast<TypeParam>(sample + i));
      for (Index i = 0; i < 2; ++i) {
        EXPECT_EQ(targets.values(i, j), -static_cast<TypeParam>(sample + i));
      }
    }
  }
}

TYPED_TEST(DenseSourceTest, LoadsClassesInTheOrderThatIsAskedFor) {
  const std::vector<int> classes{4, 0, 3, 1, 2, 6, 5};
  const DenseSource<TypeParam> source(this->numbered(3, 7), Targets<TypeParam>(classes));
  EXPECT_TRUE(source.categorical());
  MatrixOf<TypeParam> X;
  Targets<TypeParam> targets(this->numbered(2, 2));
  for (const std::vector<Index>& batch : batches) {
    source.load(batch, X, targets);
    EXPECT_EQ(targets.values.size(), 0);
    ASSERT_EQ(targets.classes.size(), batch.size());
    for (std::size_t j = 0; j < batch.size(); ++j) {
      EXPECT_EQ(targets.classes[j], classes[static_cast<std::size_t>(batch[j])]);
    }
  }
}

TYPED_TEST(DenseSourceTest, RefusesSetsThatDoNotFit) {
  EXPECT_EQ(test::refusal([&] {
              DenseSource<TypeParam>(this->numbered(3, 7),
                                     Targets<TypeParam>(this->numbered(2, 6)));
            }),
            "samples: found 7 inputs and 6 targets, allowed is as many targets as inputs, at least "
            "one");
  EXPECT_THROW(DenseSource<TypeParam>(this->numbered(3, 0), Targets<TypeParam>()), InvalidArgument);
}

/// A network without hidden layers is W X, and its loss |W X - Y|^2 / 2 has the gradient
/// (W X - Y) X': Algorithm 2 on real-valued targets, written out.
TEST(MinibatchRegression, IsStochasticDescentOnTheLinearModel) {
  const Mlp network({3, 2}, Activation::parse("linear"));
  const Loss loss = Loss::parse("half_sum_squares:sum");
  Random random(171);
  const Matrix X = random.normal_matrix(3, 23), Y = random.normal_matrix(2, 23);
  const Matrix start = random.normal_matrix(2, 3);
  const Split parts = split(23, 5, 9);
  constexpr double rate = 0.01;

  const auto loss_of = [&](const Matrix& W, const std::vector<Index>& samples) {
    double sum = 0.0;
    for (const Index i : samples) sum += 0.5 * (W * X.col(i) - Y.col(i)).squaredNorm();
    return sum;
  };
  Matrix W = start;
  std::vector<double> training{loss_of(W, parts.training)};  // row 0: before training
  std::vector<double> validation{loss_of(W, parts.validation)};
  const Batches order(parts.training, 4, 8);
  ASSERT_EQ(order.count(), 5);  // the last one has two samples
  for (Index epoch = 0; epoch < 3; ++epoch) {
    const std::vector<Index> shuffled = order.order(epoch);
    for (Index i = 0; i < order.count(); ++i) {
      Matrix gradient = Matrix::Zero(2, 3);
      for (const Index sample : order.batch(shuffled, i)) {
        gradient += (W * X.col(sample) - Y.col(sample)) * X.col(sample).transpose();
      }
      W -= rate * gradient;
    }
    training.push_back(loss_of(W, parts.training));
    validation.push_back(loss_of(W, parts.validation));
  }

  Vector w(6);
  network.augmented(1, w.data()) = start;
  const RunSummary run = train_minibatch<double>(
      MlpObjective<double>(network, loss), DenseSource<double>(X, Targets<double>(Y)), parts,
      GradientDescent<double>(), w,
      {.epochs = 3, .batch_size = 4, .learning_rate = rate, .seed = 8});
  EXPECT_LE((Matrix(network.augmented(1, w.data())) - W).norm(), tolerance::rounding * W.norm());
  ASSERT_EQ(run.trace.rows.size(), 4U);
  for (std::size_t epoch = 0; epoch < 4; ++epoch) {
    const TraceRow& row = run.trace.rows[epoch];
    EXPECT_EQ(row.epoch, static_cast<Index>(epoch));
    EXPECT_EQ(row.step, order.count() * row.epoch);
    EXPECT_EQ(row.evaluations, static_cast<double>(row.step));
    EXPECT_EQ(row.learning_rate, rate);
    EXPECT_NEAR(row.loss, training[epoch], tolerance::rounding * training[epoch]);
    EXPECT_NEAR(row.valid_loss, validation[epoch], tolerance::rounding * validation[epoch]);
    EXPECT_TRUE(std::isnan(row.valid_accuracy));
  }
  EXPECT_LT(training.back(), 0.9 * loss_of(start, parts.training));
}

TEST(MinibatchRegression, RefusesOtherStartsAndAutomaticRates) {
  const MlpObjective<double> objective(Mlp({3, 2}, Activation::parse("linear")),
                                       Loss::parse("half_sum_squares"));
  const DenseSource<double> source(Matrix::Ones(3, 4), Targets<double>(Matrix::Ones(2, 4)));
  const Split parts = split(4, 0, 1);
  Vector five = Vector::Zero(5), six = Vector::Zero(6);
  EXPECT_EQ(test::refusal([&] {
              train_minibatch<double>(objective, source, parts, GradientDescent<double>(), five,
                                      {});
            }),
            "start: found 5 numbers, allowed is 6 numbers");
  EXPECT_THAT(
      test::refusal([&] {
        train_minibatch<double>(objective, source, parts, CurvatureDescent<double>(), six, {});
      }),
      ::testing::HasSubstr("optimizer: found an automatic learning rate with mini-batches"));
  EXPECT_EQ(five, Vector(Vector::Zero(5)));
  EXPECT_EQ(six, Vector(Vector::Zero(6)));
}

}  // namespace
}  // namespace symport
