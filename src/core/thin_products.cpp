// SPDX-License-Identifier: MIT
#include "core/thin_products.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace symport {

namespace {

/// 32 bytes of numbers, anywhere in memory.
template <class Scalar>
struct LanesOf;
template <>
struct LanesOf<float> {
  using type [[gnu::vector_size(32), gnu::aligned(4), gnu::may_alias]] = float;
};
template <>
struct LanesOf<double> {
  using type [[gnu::vector_size(32), gnu::aligned(8), gnu::may_alias]] = double;
};
template <class Scalar>
using Lanes = typename LanesOf<Scalar>::type;
template <class Scalar>
constexpr Index lanes = 32 / static_cast<Index>(sizeof(Scalar));

template <class Scalar>
Lanes<Scalar> load(const Scalar* p) {
  return *reinterpret_cast<const Lanes<Scalar>*>(p);
}
template <class Scalar>
void store(Scalar* p, Lanes<Scalar> v) {
  *reinterpret_cast<Lanes<Scalar>*>(p) = v;
}

/// Zeros, then the `count` numbers before `end`; those before them may be read.
template <class Scalar>
Lanes<Scalar> load_last(const Scalar* end, Index count) {
  using Bits [[gnu::vector_size(32)]] =
      std::conditional_t<sizeof(Scalar) == 4, std::int32_t, std::int64_t>;
  Bits mask;
  for (Index i = 0; i < lanes<Scalar>; ++i) mask[i] = i < lanes<Scalar> - count ? 0 : -1;
  return Lanes<Scalar>(Bits(load(end - lanes<Scalar>)) & mask);
}

/// The sum of the lanes.
float total(Lanes<float> v) {
  using Four [[gnu::vector_size(16)]] = float;
  const Four s = Four(__builtin_shufflevector(v, v, 0, 1, 2, 3)) +
                 Four(__builtin_shufflevector(v, v, 4, 5, 6, 7));
  return (s[0] + s[2]) + (s[1] + s[3]);
}
double total(Lanes<double> v) { return (v[0] + v[2]) + (v[1] + v[3]); }

/// Columns of a tile: two vectors each are 12 sums, which with the operands fill the registers.
constexpr int widest = 6;
/// Columns of A at a time: so much of B stays in the first cache.
constexpr Index depth = 200;

/// The tile C (thin_rows x columns) of sums over k products.
template <class Scalar, int columns>
struct Tile {
  Lanes<Scalar> sums[columns][2] = {};  // not std::array, which would drop the type's attributes

  /// += a column of A times an entry of B for each column.
  template <class Entry>
  void add(Lanes<Scalar> top, Lanes<Scalar> bottom, const Entry& entry) {
#pragma GCC unroll 6
    for (int j = 0; j < columns; ++j) {
      const Scalar x = entry(j);
      sums[j][0] += top * x;
      sums[j][1] += bottom * x;
    }
  }
};

/// C <- alpha A B + beta C for one tile. The first tile of some rows reads A itself and leaves its
/// columns in `packed`, in order; the others read those.
template <class Scalar, int columns, bool first>
void tile_product(Index k, const Scalar* a, Index lda, const Scalar* b, Index ldb, Scalar alpha,
                  Scalar beta, Scalar* c, Index ldc, Scalar* packed) {
  constexpr Index half = lanes<Scalar>;
  Tile<Scalar, columns> tile;
  for (Index p = 0; p < k; ++p, packed += 2 * half) {
    if constexpr (first) {
      const Scalar* column = a + p * lda;
      store<Scalar>(packed, load(column));
      store<Scalar>(packed + half, load(column + half));
      __builtin_prefetch(column + 2 * half, 0, 2);
    }
    tile.add(load(packed), load(packed + half), [&](int j) { return b[p + j * ldb]; });
  }
  for (int j = 0; j < columns; ++j) {
    Scalar* to = c + j * ldc;
    Lanes<Scalar> top = alpha * tile.sums[j][0], bottom = alpha * tile.sums[j][1];
    if (beta != Scalar(0)) {
      top += beta * load(to);
      bottom += beta * load(to + half);
    }
    store<Scalar>(to, top);
    store<Scalar>(to + half, bottom);
  }
}

/// Columns of A and of B in a tile of A'B: 10 sums and 6 operands fill the registers.
constexpr int most_left = 5, most_right = 2;
/// Rows of A and B at a time: so much of B stays in the second cache.
constexpr Index transposed_depth = 1024;

/// C <- alpha A'B + beta C for one tile: every entry sums products down a column of A and one of B.
template <class Scalar, int rows, int columns>
void transposed_tile(Index k, const Scalar* a, Index lda, const Scalar* b, Index ldb, Scalar alpha,
                     Scalar beta, Scalar* c, Index ldc) {
  Lanes<Scalar> sums[columns][rows] = {};
  const auto add = [&](const auto& read) {
    Lanes<Scalar> left[rows];
#pragma GCC unroll 5
    for (int i = 0; i < rows; ++i) left[i] = read(a + i * lda);
#pragma GCC unroll 2
    for (int j = 0; j < columns; ++j) {
      const Lanes<Scalar> right = read(b + j * ldb);
#pragma GCC unroll 5
      for (int i = 0; i < rows; ++i) sums[j][i] += left[i] * right;
    }
  };
  const Index rest = k % lanes<Scalar>;
  for (Index p = 0; p < k - rest; p += lanes<Scalar>) {
    add([&](const Scalar* x) { return load(x + p); });
  }
  if (rest > 0) add([&](const Scalar* x) { return load_last(x + k, rest); });
#pragma GCC unroll 2
  for (int j = 0; j < columns; ++j) {
#pragma GCC unroll 5
    for (int i = 0; i < rows; ++i) {
      Scalar& to = c[i + j * ldc];
      const Scalar product = alpha * total(sums[j][i]);
      to = beta == Scalar(0) ? product : product + beta * to;
    }
  }
}

/// Calls f with the number of columns as a constant.
template <class F>
void with_columns(int columns, const F& f) {
  switch (columns) {
    case 1:
      return f(std::integral_constant<int, 1>{});
    case 2:
      return f(std::integral_constant<int, 2>{});
    case 3:
      return f(std::integral_constant<int, 3>{});
    case 4:
      return f(std::integral_constant<int, 4>{});
    case 5:
      return f(std::integral_constant<int, 5>{});
    default:
      return f(std::integral_constant<int, widest>{});
  }
}

}  // namespace

template <Real Scalar>
bool thin_enough(Index m, Index n, Index k) {
  // B is read again for every few rows of A: it has few columns, or fits into the second cache.
  constexpr Index cache = 1 << 18, size = sizeof(Scalar);
  return n >= 2 && m >= thin_rows<Scalar> && k >= 8 && (n <= 64 || n * k * size <= cache);
}

template <Real Scalar>
void thin_multiply(Index m, Index n, Index k, Scalar alpha, const Scalar* a, Index lda,
                   const Scalar* b, Index ldb, Scalar beta, Scalar* c, Index ldc) {
  constexpr Index rows = thin_rows<Scalar>;
  const Index blocks = (k + depth - 1) / depth, tiles = (n + widest - 1) / widest;
  alignas(64) std::array<Scalar, static_cast<std::size_t>(rows * depth)> packed;
  alignas(64) std::array<Scalar, static_cast<std::size_t>(rows * widest)> edge;
  for (Index block = 0; block < blocks; ++block) {
    const Index from = k * block / blocks, count = k * (block + 1) / blocks - from;
    const Scalar keep = block == 0 ? beta : Scalar(1);
    for (Index i = 0; i < m; i += rows) {
      // The last rows are computed with some before them, in a tile aside.
      const Index first = std::min(i, m - rows), height = rows - (i - first);
      for (Index t = 0; t < tiles; ++t) {
        const Index j = n * t / tiles, width = n * (t + 1) / tiles - j;
        with_columns(static_cast<int>(width), [&](auto columns) {
          const auto product =
              t == 0 ? tile_product<Scalar, columns, true> : tile_product<Scalar, columns, false>;
          const bool whole = first == i;
          product(count, a + first + from * lda, lda, b + from + j * ldb, ldb, alpha,
                  whole ? keep : Scalar(0), whole ? c + i + j * ldc : edge.data(),
                  whole ? ldc : rows, packed.data());
        });
        if (height == rows) continue;
        for (Index q = 0; q < width; ++q) {
          const Scalar* from_edge = edge.data() + (q + 1) * rows - height;
          Scalar* to = c + i + (j + q) * ldc;
          for (Index r = 0; r < height; ++r) {
            to[r] = keep == Scalar(0) ? from_edge[r] : from_edge[r] + keep * to[r];
          }
        }
      }
    }
  }
}

template <Real Scalar>
bool thin_enough_transposed(Index m, Index n, Index k) {
  return (n <= 24 || m * n <= 1600) && n >= 2 && k >= 64;
}

template <Real Scalar>
void thin_transposed(Index m, Index n, Index k, Scalar alpha, const Scalar* a, Index lda,
                     const Scalar* b, Index ldb, Scalar beta, Scalar* c, Index ldc) {
  const Index blocks = (k + transposed_depth - 1) / transposed_depth;
  const Index bands = (m + most_left - 1) / most_left;
  for (Index block = 0; block < blocks; ++block) {
    const Index from = k * block / blocks, count = k * (block + 1) / blocks - from;
    const Scalar keep = block == 0 ? beta : Scalar(1);
    for (Index band = 0; band < bands; ++band) {
      const Index i = m * band / bands;
      with_columns(static_cast<int>(m * (band + 1) / bands - i), [&](auto rows) {
        constexpr int height = std::min<int>(rows, most_left);
        for (Index j = 0; j < n; j += most_right) {
          const auto product = n - j >= most_right ? transposed_tile<Scalar, height, most_right>
                                                   : transposed_tile<Scalar, height, 1>;
          product(count, a + from + i * lda, lda, b + from + j * ldb, ldb, alpha, keep,
                  c + i + j * ldc, ldc);
        }
      });
    }
  }
}

template <Real Scalar>
void OuterProduct<Scalar>::pack(MatrixIn<Scalar> A) {
  constexpr Index rows = thin_rows<Scalar>;
  rows_ = A.rows();
  depth_ = A.cols();
  const Index panels = (rows_ + rows - 1) / rows;
  panels_.resize(static_cast<std::size_t>(panels * rows * depth_));
  Scalar* to = panels_.data();
  for (Index i = 0; i < rows_; i += rows) {
    const Index count = std::min(rows, rows_ - i);
    for (Index p = 0; p < depth_; ++p, to += rows) {
      std::copy_n(A.data() + i + p * A.outerStride(), count, to);
      std::fill(to + count, to + rows, Scalar(0));
    }
  }
}

template <Real Scalar>
void OuterProduct<Scalar>::columns(MatrixIn<Scalar> B, Index first, Index count,
                                   Scalar* out) const {
  constexpr Index rows = thin_rows<Scalar>, half = lanes<Scalar>;
  const Index ldb = B.outerStride();
  for (Index j = 0; j < count; j += widest) {
    const Scalar* b = B.data() + first + j;
    with_columns(static_cast<int>(std::min<Index>(widest, count - j)), [&](auto columns) {
      const Scalar* panel = panels_.data();
      for (Index i = 0; i < rows_; i += rows) {
        Tile<Scalar, columns> tile;
        for (Index p = 0; p < depth_; ++p, panel += rows) {
          const Scalar* entries = b + p * ldb;
          tile.add(load(panel), load(panel + half), [&](int q) { return entries[q]; });
        }
        for (int q = 0; q < columns; ++q) {
          Scalar* to = out + (j + q) * rows_ + i;
          const auto& sums = tile.sums[q];
          if (rows_ - i >= rows) {
            store<Scalar>(to, sums[0]);
            store<Scalar>(to + half, sums[1]);
          } else {
            std::memcpy(to, &sums, static_cast<std::size_t>(rows_ - i) * sizeof(Scalar));
          }
        }
      }
    });
  }
}

template bool thin_enough<float>(Index, Index, Index);
template bool thin_enough<double>(Index, Index, Index);
template void thin_multiply(Index, Index, Index, float, const float*, Index, const float*, Index,
                            float, float*, Index);
template void thin_multiply(Index, Index, Index, double, const double*, Index, const double*, Index,
                            double, double*, Index);
template bool thin_enough_transposed<float>(Index, Index, Index);
template bool thin_enough_transposed<double>(Index, Index, Index);
template void thin_transposed(Index, Index, Index, float, const float*, Index, const float*, Index,
                              float, float*, Index);
template void thin_transposed(Index, Index, Index, double, const double*, Index, const double*,
                              Index, double, double*, Index);
template class OuterProduct<float>;
template class OuterProduct<double>;

}  // namespace symport
