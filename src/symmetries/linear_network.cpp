// SPDX-License-Identifier: MIT
#include "symport/symmetries/linear_network.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/dense.hpp"
#include "symmetries/linear_orbit.hpp"
#include "symmetries/network_requirements.hpp"
#include "symmetries/white_map.hpp"
#include "symport/objectives/mlp_objective.hpp"

namespace symport {

namespace {

using Matrices = std::vector<Matrix>;  // one per hidden layer, layer m at index m-1

std::size_t at(Index m) { return static_cast<std::size_t>(m - 1); }

void require_linear(const Activation& activation) {
  if (activation.kind() == Activation::Kind::linear) return;
  throw InvalidArgument("activation", activation.name(),
                        "linear for the symmetry linear_gl: a matrix does not commute with another "
                        "activation (gl does it on one batch)");
}

/// [W_m b_m] <- left[m-1] [W_m b_m], W_(m+1) <- W_(m+1) right[m-1], in double.
template <Real Scalar>
void multiply_layers(const Mlp& network, const Matrices& left, const Matrices& right,
                     Out<Scalar> w) {
  for (Index m = 1; m <= network.layers(); ++m) {
    auto W = network.augmented(m, w.data());
    Matrix product = W.template cast<double>();
    if (m > 1) {
      product.leftCols(network.width(m - 1)) =
          (product.leftCols(network.width(m - 1)) * right[at(m - 1)]).eval();
    }
    if (m < network.layers()) product = (left[at(m)] * product).eval();
    W = product.template cast<Scalar>();
  }
}

template <Real Scalar>
class LinearNetworkOrbit final : public LinearOrbit<Scalar> {
 public:
  LinearNetworkOrbit(const Mlp& network, const BasicObjective<Scalar>& objective, In<Scalar> w)
      : LinearOrbit<Scalar>(objective, w), network_(network) {
    for (Index m = 1; m < network.layers(); ++m) {
      g_.push_back(Matrix::Identity(network.width(m), network.width(m)));
      direction_.push_back(Matrix::Zero(network.width(m), network.width(m)));
    }
    inverse_ = base_ = base_inverse_ = g_;
  }

  double aim(const Slope& slope) override {
    adopt();
    for (Matrix& T : direction_) T.setZero();
    if (slope.grad_sq != 0.0 || slope.curvature != 0.0) add_gradient_directions(slope);
    if (slope.covector) add_covector_direction(*slope.covector);
    return normalize_direction();
  }

  bool move(double length) override {
    if (length == 0.0) return place(base_, base_inverse_);
    Matrices g, inverse;
    for (std::size_t l = 0; l < g_.size(); ++l) {
      g.push_back(matrix_exponential(length * direction_[l]) * base_[l]);
      inverse.push_back(base_inverse_[l] * matrix_exponential(-length * direction_[l]));
    }
    if (place(std::move(g), std::move(inverse))) return true;
    place(base_, base_inverse_);
    return false;
  }

  void restart() override {
    for (std::size_t l = 0; l < g_.size(); ++l) {
      base_[l].setIdentity();
      base_inverse_[l].setIdentity();
    }
    place(base_, base_inverse_);
  }

  bool has_candidates() const override { return true; }
  std::vector<Candidate> candidates(const Worth& worth) override {
    std::vector<Candidate> all;
    for (const bool features : {true, false}) {
      if (!go_white(features, {})) continue;
      const std::optional<Vector> log_c = best_scales(this->layer_model(network_), worth);
      if (!log_c) continue;
      const Vector c = log_c->array().exp();
      all.push_back({features ? "white gauge" : "white gauge of the layers above", false,
                     [this, features, c](double) { return go_white(features, c); }});
    }
    all.push_back({"closed form", true, [this](double kappa) { return go_to_ends(kappa); }, true});
    return all;
  }

  bool randomize(Random& random, double spread) override {
    for (Matrix& T : direction_) T = random.normal_matrix(T.rows(), T.cols());
    normalize_direction();
    restart();
    if (!move(spread)) return false;
    adopt();
    return true;
  }

  double condition() const override {
    double largest = 0.0, smallest = std::numeric_limits<double>::infinity();
    for (const Matrix& g : g_) {
      const Vector singular = Eigen::BDCSVD<Matrix>(g).singularValues();
      largest = std::max(largest, singular.maxCoeff());
      smallest = std::min(smallest, singular.minCoeff());
    }
    return largest / smallest;
  }

 private:
  /// The gauge in which the states of the batch are white in every hidden layer (`features`), or
  /// the products W_p ... W_(m+1) are, (W6), with the layers then scaled by c (empty: 1).
  bool go_white(bool features, const Vector& c) {
    const std::vector<Matrix> sides = features ? batch_states() : products_above();
    Matrices g, inverse;
    for (Index m = 1; m < network_.layers(); ++m) {
      const Index d = network_.width(m);
      const LowRankElement<double> white =
          white_map<double>(sides[at(m)], {.floor = white_floor<double>});
      Matrix forth = Matrix::Identity(d, d), back = forth;
      white.apply(forth);
      white.apply_inverse(back);
      if (!features) std::swap(forth, back);  // the inverse acts on the layers above
      const double scale = c.size() == 0 ? 1.0 : c[m - 1];
      g.push_back(scale * forth);
      inverse.push_back(back / scale);
    }
    if (!place(std::move(g), std::move(inverse))) {
      place(base_, base_inverse_);
      return false;
    }
    adopt();
    return true;
  }

  /// h_m of the batch at the start, in double.
  Matrices batch_states() const {
    const MlpObjective<Scalar>& mlp = *this->objective().mlp();
    Matrices states;
    Matrix h = mlp.inputs().template cast<double>();
    for (Index m = 1; m < network_.layers(); ++m) {
      Matrix next = network_.augmented(m, this->start().data()).template cast<double>() * h;
      states.push_back(next);
      h.setOnes(network_.augmented_width(m), next.cols());
      h.topRows(next.rows()) = next;
    }
    return states;
  }

  /// (W_p ... W_(m+1))' at the start, in double.
  Matrices products_above() const {
    Matrices products(at(network_.layers()));
    Matrix above =
        Matrix::Identity(network_.width(network_.layers()), network_.width(network_.layers()));
    for (Index m = network_.layers() - 1; m >= 1; --m) {
      above = (network_.weights(m + 1, this->start().data()).template cast<double>().transpose() *
               above)
                  .eval();
      products[at(m)] = above;
    }
    return products;
  }

  /// g = P / kappa + kappa (I - P) in every hidden layer, bottom-up (see the header).
  bool go_to_ends(double kappa) {
    const VectorOf<Scalar>& gradient = this->start_gradient();
    Matrices g, inverse;
    for (Index m = 1; m < network_.layers(); ++m) {
      const Index d = network_.width(m);
      Matrix G = network_.augmented(m, gradient.data()).template cast<double>();
      if (m > 1) {
        const Index columns = network_.width(m - 1);
        G.leftCols(columns) = (G.leftCols(columns) * g.back().transpose()).eval();
      }
      const Matrix upper = network_.weights(m + 1, gradient.data()).template cast<double>();
      const Eigen::SelfAdjointEigenSolver<Matrix> solver(G * G.transpose() -
                                                         upper.transpose() * upper);
      const Matrix& V = solver.eigenvectors();
      const Vector scales =
          (solver.eigenvalues().array() > 0.0)
              .select(Vector::Constant(d, 1.0 / kappa), Vector::Constant(d, kappa));
      g.push_back(V * scales.asDiagonal() * V.transpose());
      inverse.push_back(V * scales.cwiseInverse().asDiagonal() * V.transpose());
    }
    if (!place(std::move(g), std::move(inverse))) {
      place(base_, base_inverse_);
      return false;
    }
    adopt();
    return true;
  }

  void add_gradient_directions(const Slope& slope) {
    const Matrices G = layers_of_current(this->start_gradient());
    for (Index m = 1; m < network_.layers(); ++m) {
      direction_[at(m)] +=
          2.0 * slope.grad_sq *
          (above(G, m).transpose() * above(G, m) - G[at(m)] * G[at(m)].transpose());
    }
    if (slope.curvature == 0.0) return;
    // H G at the current point is A^-T (H v), see LinearOrbit.
    const Matrices Q = layers_of_current(this->pulled_hessian_gradient());
    for (Index m = 1; m < network_.layers(); ++m) {
      const Matrix half = above(G, m).transpose() * above(Q, m) - G[at(m)] * Q[at(m)].transpose();
      direction_[at(m)] += 2.0 * slope.curvature * (half + half.transpose());
    }
  }

  /// dW_m = T_m [W_m b_m] and dW_(m+1) = -W_(m+1) T_m
  void add_covector_direction(const Vector& covector) {
    VectorOf<Scalar> w(covector.size());
    this->commit(w);
    const Matrices W = layers_of<Scalar>(w), C = layers_of<double>(covector);
    for (Index m = 1; m < network_.layers(); ++m) {
      direction_[at(m)] += C[at(m)] * W[at(m)].transpose() - above(W, m).transpose() * above(C, m);
    }
  }

  void act(Out<Scalar> w) const override { multiply_layers(network_, g_, inverse_, w); }

  void act_on_covector(Out<Scalar> covector) const override {
    Matrices left, right;
    for (std::size_t l = 0; l < g_.size(); ++l) {
      left.push_back(inverse_[l].transpose());
      right.push_back(g_[l].transpose());
    }
    multiply_layers(network_, left, right, covector);
  }

  void pull_to_start(Out<Scalar> covector) const override {
    Matrices left, right;
    for (std::size_t l = 0; l < g_.size(); ++l) {
      left.push_back(inverse_[l] * inverse_[l].transpose());
      right.push_back(g_[l].transpose() * g_[l]);
    }
    multiply_layers(network_, left, right, covector);
  }

  bool place(Matrices g, Matrices inverse) {
    g_ = std::move(g);
    inverse_ = std::move(inverse);
    this->element_changed();
    const auto finite = [](const Matrix& a) { return a.allFinite(); };
    return std::all_of(g_.begin(), g_.end(), finite) &&
           std::all_of(inverse_.begin(), inverse_.end(), finite);
  }

  void adopt() {
    base_ = g_;
    base_inverse_ = inverse_;
  }

  /// A covector at the start, moved to the current point: its part in [W_m b_m] at index m-1.
  Matrices layers_of_current(VectorOf<Scalar> covector) const {
    act_on_covector(covector);
    return layers_of<Scalar>(covector);
  }

  template <Real Number>
  Matrices layers_of(const VectorOf<Number>& all) const {
    Matrices layers;
    for (Index m = 1; m <= network_.layers(); ++m) {
      layers.push_back(network_.augmented(m, all.data()).template cast<double>());
    }
    return layers;
  }

  /// The part of layer m+1 that g_m acts on: its weights without biases.
  auto above(const Matrices& layers, Index m) const {
    return layers[at(m + 1)].leftCols(network_.width(m));
  }

  double normalize_direction() {
    double sum = 0.0;
    for (const Matrix& T : direction_) sum += T.squaredNorm();
    const double norm = std::sqrt(sum);
    const bool usable = norm > 0.0 && std::isfinite(norm);
    for (Matrix& T : direction_) {
      if (usable) {
        T /= norm;
      } else {
        T.setZero();
      }
    }
    return usable ? norm : 0.0;
  }

  const Mlp& network_;
  Matrices g_, inverse_, base_, base_inverse_, direction_;
};

}  // namespace

template <Real Scalar>
OrbitOrReason<Scalar> LinearNetworkSymmetry<Scalar>::orbit(const BasicObjective<Scalar>& objective,
                                                           In<Scalar> w) const {
  const Mlp& network = require_network<Scalar>(name(), objective, w);
  require_linear(network.activation());
  return std::make_unique<LinearNetworkOrbit<Scalar>>(network, objective, w);
}

template <Real Scalar>
void LinearNetworkSymmetry<Scalar>::act(const Mlp& network, const std::vector<Matrix>& g,
                                        Out<Scalar> w) {
  require_linear(network.activation());
  require_elements(network, g, w.size(),
                   [](const Matrix& a) { return a.rows() == a.cols() ? a.rows() : Index{-1}; });
  Matrices inverse;
  for (const Matrix& a : g) {
    const Eigen::FullPivLU<Matrix> lu(a);
    if (!a.allFinite() || !lu.isInvertible()) {
      throw InvalidArgument("g", fmt::format("a matrix of rank {}", lu.rank()),
                            fmt::format("an invertible one of order {}", a.rows()));
    }
    inverse.push_back(lu.inverse());
  }
  multiply_layers(network, g, inverse, w);
}

template class LinearNetworkSymmetry<float>;
template class LinearNetworkSymmetry<double>;

}  // namespace symport
