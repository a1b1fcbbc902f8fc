// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "symport/core/types.hpp"

namespace symport {

/// A formula in x1, x2, ..., as people type it: "(x1 - 2)^2 + 50*(x2 - sin(x1))^2".
///
/// It has decimal numbers, pi and e, the operators + - * / ^, parentheses, and the functions sqrt,
/// exp, log, sin, cos, tanh, asinh and abs. ^ groups to the right and binds tighter than the sign
/// before it: -x1^2 is -(x1^2). A power whose exponent has variables is exp(b log a). Evaluated
/// with dual numbers it has exact derivatives: see `GenericObjective`.
class Expression {
 public:
  /// Throws InvalidArgument that names the column of the first thing it does not understand, for a
  /// formula without variables, with more than `most_variables`, longer than `longest` or nested
  /// more than `deepest`.
  static Expression parse(std::string_view text);

  static constexpr Index most_variables = 1000;
  static constexpr std::size_t longest = 10000;
  static constexpr int deepest = 100;

  const std::string& text() const { return text_; }
  /// The largest number of a variable.
  Index dimension() const { return dimension_; }

  /// The value at x, an Eigen vector of `dimension()` numbers of any kind.
  template <class Point>
  typename Point::Scalar operator()(const Point& x) const {
    return evaluate<typename Point::Scalar>(nodes_, x);
  }

 private:
  friend class ExpressionParser;

  enum class Operation {
    number,
    variable,
    plus,
    minus,
    times,
    divide,
    negate,
    fixed_power,  ///< of one value, to `value`
    power,
    sqrt,
    exp,
    log,
    sin,
    cos,
    tanh,
    asinh,
    abs,
  };
  /// In postfix order: operands come first.
  struct Node {
    Operation operation = Operation::number;
    double value = 0.0;
    Index variable = 0;  ///< from 0
  };

  template <class Number, class Point>
  static Number evaluate(const std::vector<Node>& nodes, const Point& x);

  std::string text_;
  std::vector<Node> nodes_;
  Index dimension_ = 0;
};

template <class Number, class Point>
Number Expression::evaluate(const std::vector<Node>& nodes, const Point& x) {
  using std::abs, std::asinh, std::cos, std::exp, std::log, std::pow, std::sin, std::sqrt,
      std::tanh;
  std::vector<Number> stack;
  const auto take = [&stack] {
    Number top = stack.back();
    stack.pop_back();
    return top;
  };
  for (const Node& node : nodes) {
    if (node.operation == Operation::number) {
      stack.push_back(Number(node.value));
      continue;
    }
    if (node.operation == Operation::variable) {
      stack.push_back(x[node.variable]);
      continue;
    }
    const Number b = take();
    switch (node.operation) {
      case Operation::plus:
        stack.push_back(take() + b);
        break;
      case Operation::minus:
        stack.push_back(take() - b);
        break;
      case Operation::times:
        stack.push_back(take() * b);
        break;
      case Operation::divide:
        stack.push_back(take() / b);
        break;
      case Operation::power:
        stack.push_back(exp(b * log(take())));
        break;
      case Operation::negate:
        stack.push_back(-b);
        break;
      case Operation::fixed_power:
        stack.push_back(pow(b, node.value));
        break;
      case Operation::sqrt:
        stack.push_back(sqrt(b));
        break;
      case Operation::exp:
        stack.push_back(exp(b));
        break;
      case Operation::log:
        stack.push_back(log(b));
        break;
      case Operation::sin:
        stack.push_back(sin(b));
        break;
      case Operation::cos:
        stack.push_back(cos(b));
        break;
      case Operation::tanh:
        stack.push_back(tanh(b));
        break;
      case Operation::asinh:
        stack.push_back(asinh(b));
        break;
      case Operation::abs:
        stack.push_back(abs(b));
        break;
      case Operation::number:
      case Operation::variable:
        break;
    }
  }
  return stack.back();
}

}  // namespace symport
