// SPDX-License-Identifier: MIT
// Formulas: what was read reads again as the same, and has a value, or a number that is not finite,
// at any point.
#include "symport/objectives/expression.hpp"

#include <cmath>

#include "support/bounded.hpp"
#include "support/mutate_inside.hpp"
#include "symport/core/dual.hpp"
#include "symport/core/invalid_argument.hpp"

using namespace symport;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  const fuzz::MemoryBound bound(size, fuzz::plain);
  const Expression formula = Expression::parse(fuzz::text_of(data, size));
  const Expression again = Expression::parse(formula.text());
  fuzz::require(again.dimension() == formula.dimension(), "the number of variables stays");
  const Vector x = Vector::LinSpaced(formula.dimension(), -1.0, 2.0);
  const double value = formula(x), same = again(x);
  fuzz::require(value == same || (std::isnan(value) && std::isnan(same)), "the value stays");
  const Dual<double> dual = formula(VectorOf<Dual<double>>(x.cast<Dual<double>>()));
  fuzz::require(dual.value == value || (std::isnan(value) && std::isnan(dual.value)),
                "dual numbers have the same value");
  return 0;
} catch (const InvalidArgument&) {
  return 0;
}
