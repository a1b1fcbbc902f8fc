// SPDX-License-Identifier: MIT
// A model that is no multi-layer perceptron, trained by Algorithm 2 with rescaling that is found
// from its slots, and by Adam in round trips: a convolution over time, Leaky ReLU, pooling by means
// and a linear layer.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <numbers>
#include <symport/symport.hpp>
#include <symport/testing/check_symmetry.hpp>

namespace {

using namespace symport;

constexpr Index inputs = 2, length = 20, channels = 6, width = 5, pool = 4, classes = 3;
constexpr Index positions = length - width + 1;  ///< 16 of the kernel
constexpr Index pooled = positions / pool;       ///< 4 means per channel
constexpr double leak = 0.1;

/// Columns of X are signals, inputs x length each. With U the windows of a signal (inputs * width x
/// positions): Z = K U + b, h = sigma(Z), F the means of h over `pool` positions, flattened channel
/// by channel, and the outputs are V F + c.
class Convolution final : public BatchObjective<double> {
 public:
  Convolution() {
    layout_.add("K", {channels, inputs, width}).add("b", channels);
    layout_.add("V", classes, channels * pooled).add("c", classes);
  }

  /// sigma(s x) = s sigma(x) for s > 0, so channel i may be scaled in K and b and unscaled in V,
  /// where it has `pooled` columns.
  SlotSymmetry<double> rescaling() const {
    return {
        layout_,
        {{GroupKind::scaling,
          channels,
          {{.tensor = "K"},
           {.tensor = "b"},
           {.tensor = "V", .axis = 1, .representation = Representation::dual, .repeat = pooled}}}},
        "rescale channels"};
  }

  void bind(MatrixIn<double> X, const Targets<double>& targets) override {
    if (X.rows() != inputs * length) {
      throw InvalidArgument("X", std::to_string(X.rows()) + " features",
                            std::to_string(inputs * length));
    }
    loss_.check(targets, classes, X.cols());
    targets_ = targets;
    // A window is a piece of its signal: channels of the input run fastest, then time.
    U_.resize(inputs * width, positions * X.cols());
    for (Index n = 0; n < X.cols(); ++n) {
      for (Index t = 0; t < positions; ++t) {
        U_.col(n * positions + t) = X.col(n).segment(inputs * t, inputs * width);
      }
    }
  }
  Index samples() const override { return U_.cols() / positions; }
  std::unique_ptr<BatchObjective<double>> clone() const override {
    return std::make_unique<Convolution>();
  }
  Loss::Reduction reduction() const override { return loss_.reduction(); }
  const ParameterLayout& layout() const override { return layout_; }

  Index dimension() const override { return layout_.size(); }
  double value(In<double> w) const override {
    return loss_.value<double>(forward(w).outputs, targets_);
  }
  double gradient(In<double> w, Out<double> gradient) const override {
    const States s = forward(w);
    Matrix delta(classes, samples());
    const double loss = loss_.delta<double>(s.outputs, targets_, delta);
    const Matrix dZ = s.slope.cwiseProduct(spread(tensor("V", w).transpose() * delta));
    write(gradient, dZ * U_.transpose(), dZ.rowwise().sum(), delta * s.F.transpose(),
          delta.rowwise().sum());
    return loss;
  }
  /// The derivative of the gradient along v, term by term; sigma'' = 0.
  void hessian_vector(In<double> w, In<double> v, Out<double> result) const override {
    const States s = forward(w);
    Matrix delta(classes, samples()), delta_dot(classes, samples());
    loss_.delta<double>(s.outputs, targets_, delta);
    const Matrix F_dot = means(s.slope.cwiseProduct(convolved(v)));
    const Matrix outputs_dot =
        (tensor("V", v) * s.F + tensor("V", w) * F_dot).colwise() + tensor("c", v).col(0);
    loss_.hessian_product<double>(s.outputs, outputs_dot, delta_dot);
    const Matrix dZ_dot = s.slope.cwiseProduct(
        spread(tensor("V", v).transpose() * delta + tensor("V", w).transpose() * delta_dot));
    write(result, dZ_dot * U_.transpose(), dZ_dot.rowwise().sum(),
          delta_dot * s.F.transpose() + delta * F_dot.transpose(), delta_dot.rowwise().sum());
  }
  /// For round trips: K multiplies windows of the signals, V the means.
  void weight_inputs(In<double> w, const UseInputs<double>& use) const override {
    use({.first = layout_.block("K").offset,
         .outputs = channels,
         .h = U_,
         .kind = InputKind::data});
    use({.first = layout_.block("V").offset, .outputs = classes, .h = forward(w).F});
  }

 private:
  struct States {
    Matrix slope;  ///< sigma'(Z)
    Matrix F, outputs;
  };

  Eigen::Map<const Matrix> tensor(const char* name, In<double> w) const {
    return ParameterLayout::view(layout_.block(name), w.data());
  }
  /// K U + b, channels x (positions of all samples)
  Matrix convolved(In<double> w) const {
    return (tensor("K", w) * U_).colwise() + tensor("b", w).col(0);
  }
  States forward(In<double> w) const {
    const Matrix Z = convolved(w);
    States s;
    s.slope = (Z.array() > 0.0).select(Matrix::Ones(Z.rows(), Z.cols()), leak);
    s.F = means(s.slope.cwiseProduct(Z));
    s.outputs = (tensor("V", w) * s.F).colwise() + tensor("c", w).col(0);
    return s;
  }
  /// Means over `pool` positions; entry channel * pooled + p of column n.
  Matrix means(const Matrix& h) const {
    Matrix F(channels * pooled, samples());
    for (Index n = 0; n < samples(); ++n) {
      for (Index p = 0; p < pooled; ++p) {
        const Vector mean = h.middleCols(n * positions + p * pool, pool).rowwise().mean();
        for (Index i = 0; i < channels; ++i) F(i * pooled + p, n) = mean[i];
      }
    }
    return F;
  }
  /// The transpose of `means`.
  Matrix spread(const Matrix& F) const {
    Matrix h(channels, positions * samples());
    for (Index n = 0; n < samples(); ++n) {
      for (Index t = 0; t < positions; ++t) {
        for (Index i = 0; i < channels; ++i) {
          h(i, n * positions + t) = F(i * pooled + t / pool, n) / static_cast<double>(pool);
        }
      }
    }
    return h;
  }
  void write(Out<double> w, const Matrix& K, const Matrix& b, const Matrix& V,
             const Matrix& c) const {
    w << K.reshaped(), b, V.reshaped(), c;
  }

  ParameterLayout layout_;
  Loss loss_{Loss::Kind::cross_entropy};
  Targets<double> targets_;
  Matrix U_;
};

/// Noisy waves in two channels; the class is how often they swing.
DenseSource<double> waves(Index samples) {
  Random random(11);
  Matrix X(inputs * length, samples);
  std::vector<int> swings;
  for (Index n = 0; n < samples; ++n) {
    swings.push_back(static_cast<int>(n % classes));
    const double rate = 2.0 * std::numbers::pi * (1.0 + static_cast<double>(n % classes)) / length;
    const double phase = random.uniform(0.0, 2.0 * std::numbers::pi);
    for (Index t = 0; t < length; ++t) {
      const double angle = rate * static_cast<double>(t) + phase;
      X(inputs * t, n) = std::sin(angle) + 0.3 * random.normal();
      X(inputs * t + 1, n) = std::cos(angle) + 0.3 * random.normal();
    }
  }
  return {X, swings};
}

}  // namespace

int main() {
  const auto source = waves(300);
  const Split parts = split(source.samples(), /*validation=*/60, /*seed=*/0);
  Convolution model;
  const SlotSymmetry<double> symmetry = model.rescaling();

  // An uneven start: the first layer is large, the second one small.
  Random random(12);
  Vector start = 0.1 * random.normal_matrix(model.dimension(), 1);
  ParameterLayout::view(model.layout().block("K"), start.data()) *= 10.0;

  // Derivatives and laws, on one batch.
  Matrix X;
  Targets<double> targets;
  source.load(parts.validation, X, targets);
  model.bind(X, targets);
  bool sound = true;
  for (const auto& verdict : {testing::check_gradient(model, start, random),
                              testing::check_hessian_vector(model, start, random),
                              testing::check_symmetry(symmetry, model, start, random)}) {
    sound = sound && verdict;
    std::cout << (verdict ? "ok      " : "FAILED  ") << verdict.detail << '\n';
  }

  // At a rate that is too small for this start, and at one that suits it.
  const GradientDescent<double> sgd;
  const auto loss_after = [&](double rate, const Teleportation<double>& teleport) {
    Vector w = start;
    return train_minibatch<double>(model, source, parts, sgd, w,
                                   {.epochs = 8,
                                    .batch_size = 20,
                                    .learning_rate = rate,
                                    .teleport = teleport,
                                    .teleport_batches = 2,
                                    .teleport_batch_size = 120})
        .final_loss;
  };
  std::cout << "loss after 8 epochs\nrate     without teleports    with\n";
  bool helped = false;
  for (const double rate : {0.002, 0.5}) {
    const double plain = loss_after(rate, {});
    // An epoch has twelve steps, too few for a rehearsal: the next step alone decides.
    const double teleported =
        loss_after(rate, {.symmetry = &symmetry, .schedule = at({0}), .rehearsal = 0});
    helped = helped || teleported < 0.9 * plain;
    std::cout << rate << "    " << plain << "    " << teleported << '\n';
  }

  // Adam, with and without a borrowed gauge, at the same rate.
  const auto rule = std::make_shared<Adam<double>>();
  const auto loss_with = [&](const Optimizer& optimizer) {
    Vector w = start;
    return train_minibatch<double>(model, source, parts, optimizer, w,
                                   {.epochs = 8, .batch_size = 20, .learning_rate = 0.01})
        .final_loss;
  };
  const double plain = loss_with(*rule);
  const double in_gauge = loss_with(RoundTrip<double>(rule, {.data_power = 0.25}));
  std::cout << "Adam    " << plain << ", in a borrowed gauge " << in_gauge << '\n';
  helped = helped && in_gauge < plain;
  return sound && helped ? EXIT_SUCCESS : EXIT_FAILURE;
}
