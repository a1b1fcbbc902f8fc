// SPDX-License-Identifier: MIT
#include "symport/objectives/loss.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "symport/core/invalid_argument.hpp"
#include "symport/core/same_name.hpp"

namespace symport {

namespace {

constexpr std::string_view allowed_losses =
    "half_sum_squares, mean_squares or cross_entropy, with :sum or :mean over the samples; mse is "
    "mean_squares:mean";

std::string_view to_string(Loss::Kind kind) {
  switch (kind) {
    case Loss::Kind::half_sum_squares:
      return "half_sum_squares";
    case Loss::Kind::mean_squares:
      return "mean_squares";
    case Loss::Kind::cross_entropy:
      return "cross_entropy";
  }
  return "";
}

/// -log of a class's share of the softmax: its output lies `behind` below the largest one, and
/// `others` is the sum of exp(z_k - largest) over the other classes. Exact to rounding however
/// small the loss or large the outputs.
double negative_log_share(double others, double behind) {
  return behind == 0.0 ? std::log1p(others) : std::log(others + std::exp(-behind)) + behind;
}

}  // namespace

Loss::Loss(Kind kind)
    : Loss(kind, kind == Kind::half_sum_squares ? Reduction::sum : Reduction::mean) {}

Loss Loss::parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  for (const Kind kind : {Kind::half_sum_squares, Kind::mean_squares, Kind::cross_entropy}) {
    if (!same_name(text.substr(0, colon), to_string(kind))) continue;
    if (colon == std::string_view::npos) return Loss(kind);
    if (same_name(text.substr(colon + 1), "sum")) return Loss(kind, Reduction::sum);
    if (same_name(text.substr(colon + 1), "mean")) return Loss(kind, Reduction::mean);
  }
  if (same_name(text, "mse")) return Loss(Kind::mean_squares, Reduction::mean);
  throw InvalidArgument("loss", std::string(text), std::string(allowed_losses));
}

Loss Loss::usual(bool categorical) {
  return Loss(categorical ? Kind::cross_entropy : Kind::half_sum_squares);
}

std::string Loss::name() const {
  return fmt::format("{}:{}", to_string(kind_), reduction_ == Reduction::sum ? "sum" : "mean");
}

double Loss::scale(Index outputs, Index samples) const {
  const double kind = kind_ == Kind::mean_squares ? 2.0 / static_cast<double>(outputs) : 1.0;
  return reduction_ == Reduction::mean ? kind / static_cast<double>(samples) : kind;
}

template <Real Scalar>
void Loss::check(const Targets<Scalar>& targets, Index outputs, Index samples) const {
  if (targets.samples() != samples) {
    throw InvalidArgument("targets", fmt::format("{} samples", targets.samples()),
                          fmt::format("{}, one per input", samples));
  }
  if (categorical()) {
    if (!targets.categorical() && samples > 0) {
      throw InvalidArgument("targets", "numbers", "one class per sample for " + name());
    }
    for (const Index c : targets.classes) {
      if (c < 0 || c >= outputs) {
        throw InvalidArgument("targets", fmt::format("class {}", c),
                              fmt::format("0 to {}: classes count from 0, and the network has {} "
                                          "outputs",
                                          outputs - 1, outputs));
      }
    }
  } else {
    if (targets.categorical()) {
      throw InvalidArgument("targets", "classes", "numbers (Y, not y) for " + name());
    }
    if (targets.values.rows() != outputs) {
      throw InvalidArgument("targets", fmt::format("{} rows", targets.values.rows()),
                            fmt::format("{}, the network's outputs", outputs));
    }
    if (!targets.values.allFinite()) {
      throw InvalidArgument("targets", "a non-finite number", "finite numbers");
    }
  }
}

template <Real Scalar>
double Loss::value(MatrixIn<Scalar> Z, const Targets<Scalar>& targets) const {
  double sum = 0.0;
  if (categorical()) {
    for (Index j = 0; j < Z.cols(); ++j) {
      const Index c = targets.classes[static_cast<std::size_t>(j)];
      const double top = Z.col(j).maxCoeff();
      double others = 0.0;
      for (Index k = 0; k < Z.rows(); ++k) {
        if (k != c) others += std::exp(static_cast<double>(Z(k, j)) - top);
      }
      sum += negative_log_share(others, top - static_cast<double>(Z(c, j)));
    }
  } else {
    sum = 0.5 * (Z - targets.values).template cast<double>().squaredNorm();
  }
  return sum * scale(Z.rows(), Z.cols());
}

template <Real Scalar>
double Loss::delta(MatrixIn<Scalar> Z, const Targets<Scalar>& targets,
                   MatrixOut<Scalar> delta) const {
  const double factor = scale(Z.rows(), Z.cols());
  if (!categorical()) {
    const double loss = value<Scalar>(Z, targets);
    delta = static_cast<Scalar>(factor) * (Z - targets.values);
    return loss;
  }
  // p - e_c, p the softmax
  double sum = 0.0;
  for (Index j = 0; j < Z.cols(); ++j) {
    const Index c = targets.classes[static_cast<std::size_t>(j)];
    const double top = Z.col(j).maxCoeff();
    const double behind = top - static_cast<double>(Z(c, j));
    double others = 0.0;
    for (Index k = 0; k < Z.rows(); ++k) {
      if (k == c) continue;
      const double e = std::exp(static_cast<double>(Z(k, j)) - top);
      others += e;
      delta(k, j) = static_cast<Scalar>(e);
    }
    sum += negative_log_share(others, behind);
    const double mass = others + std::exp(-behind);
    for (Index k = 0; k < Z.rows(); ++k) {
      // p_c - 1 would lose the digits of a small loss; the others' share has them.
      const double share = k == c ? -others : static_cast<double>(delta(k, j));
      delta(k, j) = static_cast<Scalar>(factor * share / mass);
    }
  }
  return sum * factor;
}

template <Real Scalar>
void Loss::hessian_product(MatrixIn<Scalar> Z, MatrixIn<Scalar> R, MatrixOut<Scalar> out) const {
  const double factor = scale(Z.rows(), Z.cols());
  if (!categorical()) {
    out = static_cast<Scalar>(factor) * R;
    return;
  }
  // (diag(p) - p p') r. It is the same for r - r_top, with which p_top near 1 costs no digits.
  for (Index j = 0; j < Z.cols(); ++j) {
    Index at = 0;
    const double top = Z.col(j).maxCoeff(&at);
    const auto r = [&](Index k) { return static_cast<double>(R(k, j)) - double(R(at, j)); };
    double mass = 0.0, mean = 0.0;
    for (Index k = 0; k < Z.rows(); ++k) {
      const double e = std::exp(static_cast<double>(Z(k, j)) - top);
      mass += e;
      mean += e * r(k);
    }
    mean /= mass;
    for (Index k = 0; k < Z.rows(); ++k) {
      const double p = std::exp(static_cast<double>(Z(k, j)) - top) / mass;
      out(k, j) = static_cast<Scalar>(factor * p * (r(k) - mean));
    }
  }
}

template void Loss::check(const Targets<float>&, Index, Index) const;
template void Loss::check(const Targets<double>&, Index, Index) const;
template double Loss::value(MatrixIn<float>, const Targets<float>&) const;
template double Loss::value(MatrixIn<double>, const Targets<double>&) const;
template double Loss::delta(MatrixIn<float>, const Targets<float>&, MatrixOut<float>) const;
template double Loss::delta(MatrixIn<double>, const Targets<double>&, MatrixOut<double>) const;
template void Loss::hessian_product(MatrixIn<float>, MatrixIn<float>, MatrixOut<float>) const;
template void Loss::hessian_product(MatrixIn<double>, MatrixIn<double>, MatrixOut<double>) const;

}  // namespace symport
