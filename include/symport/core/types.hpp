// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <concepts>

// The library's own allocations are aligned to 32 bytes, whatever the flags of a program.
#if EIGEN_MAX_ALIGN_BYTES != 32
#error "compile with -DEIGEN_MAX_ALIGN_BYTES=32, as the CMake target symport::symport does"
#endif

namespace symport {

/// The two precisions that the library is instantiated for.
template <class T>
concept Real = std::same_as<T, float> || std::same_as<T, double>;

using Index = Eigen::Index;

template <class Scalar>
using VectorOf = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
template <class Scalar>
using MatrixOf = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
using Vector = VectorOf<double>;
using Matrix = MatrixOf<double>;

/// A vector that a function reads, and one that it writes: any contiguous vector or segment binds
/// without a copy.
template <class Scalar>
using In = const Eigen::Ref<const VectorOf<Scalar>>&;
template <class Scalar>
using Out = Eigen::Ref<VectorOf<Scalar>>;
/// The same for matrices; blocks of contiguous columns also bind.
template <class Scalar>
using MatrixIn = const Eigen::Ref<const MatrixOf<Scalar>>&;
template <class Scalar>
using MatrixOut = Eigen::Ref<MatrixOf<Scalar>>;

}  // namespace symport
