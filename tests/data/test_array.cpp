// SPDX-License-Identifier: MIT
#include "symport/data/array.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace symport {
namespace {

TEST(Array, WritesShapesAsPythonDoes) {
  EXPECT_EQ(shape_string({}), "()");
  EXPECT_EQ(shape_string({3}), "(3,)");
  EXPECT_EQ(shape_string({3, 0, 12}), "(3, 0, 12)");
}

TEST(Array, HoldsAMatrixRowAfterRow) {
  const Matrix m{{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}};
  const Array expected{{2, 3}, std::vector<double>{1, 2, 3, 4, 5, 6}, Order::c};
  EXPECT_EQ(to_array(m), expected);
  const MatrixOf<float> single = m.cast<float>();
  EXPECT_EQ(to_array(single).dtype(), DType::f4);
}

TEST(Array, GivesTheSameMatrixInEitherOrder) {
  const Matrix m{{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}};
  const Array by_rows{{2, 3}, std::vector<std::int32_t>{1, 2, 3, 4, 5, 6}, Order::c};
  const Array by_columns{{2, 3}, std::vector<std::uint8_t>{1, 4, 2, 5, 3, 6}, Order::fortran};
  EXPECT_EQ(to_matrix(by_rows), m);
  EXPECT_EQ(to_matrix(by_columns), m);
  EXPECT_EQ(to_matrix<float>(by_columns), m.cast<float>());
}

TEST(Array, ComesBackFromVectorsAndEmptyMatrices) {
  const Vector v{{1.5, -2.5}};
  EXPECT_EQ(to_vector(to_array(v)), v);
  const Matrix none(0, 4);
  EXPECT_EQ(to_array(none).shape, (std::vector<Index>{0, 4}));
  EXPECT_EQ(to_matrix(to_array(none)), none);
}

TEST(Array, RefusesValuesThatDoNotFillTheShape) {
  const Array wrong{{2, 3}, std::vector<double>(5), Order::c};
  EXPECT_THROW(to_matrix(wrong), std::logic_error);
  const Array overflowing{{Index{1} << 40, Index{1} << 40}, std::vector<double>(), Order::c};
  EXPECT_THROW(to_matrix(overflowing), std::logic_error);
  EXPECT_THROW(to_matrix(Array{{3}, std::vector<double>(3), Order::c}), std::logic_error);
  EXPECT_THROW(to_vector(Array{{3, 1}, std::vector<double>(3), Order::c}), std::logic_error);
}

}  // namespace
}  // namespace symport
