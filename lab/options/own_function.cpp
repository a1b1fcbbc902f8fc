// SPDX-License-Identifier: MIT
#include "lab/options/own_function.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lab/text/parse_numbers.hpp"
#include "symport/objectives/expression.hpp"
#include "symport/objectives/generic_objective.hpp"
#include "symport/symmetries/level_set.hpp"
#include "symport/symmetries/rotation.hpp"
#include "symport/symmetries/slot_symmetry.hpp"

namespace symport::lab {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

struct Evaluate {
  Expression formula;
  template <class Point>
  typename Point::Scalar operator()(const Point& x) const {
    return formula(x);
  }
};

class OwnFunction final : public TestFunction {
 public:
  explicit OwnFunction(const Expression& formula)
      : text_(formula.text()), objective_(formula.dimension(), Evaluate{formula}) {}

  Index dimension() const override { return objective_.dimension(); }
  double value(In<double> w) const override { return objective_.value(w); }
  double gradient(In<double> w, Out<double> gradient) const override {
    return objective_.gradient(w, gradient);
  }
  void hessian_vector(In<double> w, In<double> v, Out<double> result) const override {
    objective_.hessian_vector(w, v, result);
  }
  void third_derivative(In<double> w, In<double> v, Out<double> result) const override {
    objective_.third_derivative(w, v, result);
  }

  std::string name() const override { return text_; }
  std::string formula() const override { return text_; }
  std::string citation() const override { return "typed by its user"; }
  Vector start() const override { return Vector::Constant(dimension(), unknown); }
  Vector minimizer() const override { return Vector::Constant(dimension(), unknown); }
  double minimum() const override { return unknown; }
  UsualRun usual_run() const override { return {.learning_rate = 1e-2, .steps = 1000}; }

 private:
  std::string text_;
  GenericObjective<Evaluate> objective_;
};

/// The numbers after the colon; `usual` without one.
std::vector<double> numbers_of(const std::string& name, std::vector<double> usual,
                               Index dimension) {
  const std::size_t colon = name.find(':');
  if (colon == std::string::npos) return usual;
  std::vector<double> numbers = parse_list(name.substr(colon + 1));
  if (std::ssize(numbers) != dimension) {
    throw InvalidArgument("symmetry", fmt::format("'{}' of {} numbers", name, numbers.size()),
                          fmt::format("{}, one for each variable", dimension));
  }
  return numbers;
}

std::unique_ptr<Symmetry> rotation_about(const std::vector<double>& centre, Index dimension) {
  Vector shift = Vector::Zero(dimension);
  for (Index i = 0; i < std::ssize(centre); ++i) shift[i] = -centre[static_cast<std::size_t>(i)];
  return std::make_unique<RotationSymmetry>(
      std::make_shared<AffineVariables>(Matrix::Identity(dimension, dimension), shift));
}

/// x_i -> s^c_i x_i
std::unique_ptr<Symmetry> scaling_by(const std::vector<double>& charges) {
  ParameterLayout layout;
  SlotGroup group{GroupKind::scaling, 1, {}};
  for (std::size_t i = 0; i < charges.size(); ++i) {
    const std::string name = fmt::format("x{}", i + 1);
    layout.add(name, Index{1});
    if (charges[i] == 0.0) continue;
    group.slots.push_back(
        {.tensor = name, .representation = Representation::power, .charge = charges[i]});
  }
  if (group.slots.empty()) {
    throw InvalidArgument("symmetry", "a scaling that moves nothing", "an exponent other than 0");
  }
  return std::make_unique<SlotSymmetry<double>>(layout, std::vector{group}, "scaling");
}

/// A map whose components are formulas.
struct EvaluateEach {
  std::vector<Expression> components;
  template <class Point>
  Point operator()(const Point& x) const {
    Point image(x.size());
    for (Index i = 0; i < x.size(); ++i) image[i] = components[static_cast<std::size_t>(i)](x);
    return image;
  }
};

/// "x1 - 1,x2" for so many variables.
EvaluateEach parse_map(std::string_view text, Index dimension) {
  EvaluateEach map;
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t last = std::min(text.find(',', first), text.size());
    map.components.push_back(Expression::parse(text.substr(first, last - first)));
    if (map.components.back().dimension() > dimension) {
      throw InvalidArgument("symmetry", fmt::format("x{}", map.components.back().dimension()),
                            fmt::format("x1 to x{}, as the formula has", dimension));
    }
    first = last + 1;
  }
  if (std::ssize(map.components) != dimension) {
    throw InvalidArgument("symmetry",
                          fmt::format("'{}', {} formula{}", text, map.components.size(),
                                      map.components.size() == 1 ? "" : "s"),
                          fmt::format("{}, one for each variable", dimension));
  }
  return map;
}

/// Rotations of u = h(x), from "variables:H1,H2:G1,G2" with h^-1 = (G1, G2).
std::unique_ptr<Symmetry> rotation_of_variables(std::string_view name, Index dimension) {
  const std::size_t first = name.find(':');
  const std::size_t second = first == name.npos ? name.npos : name.find(':', first + 1);
  if (second == name.npos) {
    throw InvalidArgument("symmetry", fmt::format("'{}'", name),
                          "variables:H1,H2:G1,G2, formulas in x1, x2 of a change of variables "
                          "and of its inverse");
  }
  return std::make_unique<RotationSymmetry>(
      rotation(dimension, parse_map(name.substr(first + 1, second - first - 1), dimension),
               parse_map(name.substr(second + 1), dimension)));
}

std::string point_text(const Vector& x) {
  std::string text;
  for (Index i = 0; i < std::min<Index>(x.size(), 6); ++i) {
    text += fmt::format("{}{:.6g}", i == 0 ? "" : ", ", x[i]);
  }
  return x.size() > 6 ? text + ", ..." : text;
}

}  // namespace

bool is_formula(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i - 1] == 'x' && text[i] >= '0' && text[i] <= '9') return true;
  }
  return false;
}

std::unique_ptr<TestFunction> make_own_function(const std::string& formula) {
  return std::make_unique<OwnFunction>(Expression::parse(formula));
}

const std::vector<SymmetryEntry>& own_symmetries() {
  static const std::vector<SymmetryEntry> entries{
      {"rotation",
       "rotations about the origin, or about a centre (rotation:1,2): functions of the distance "
       "from it"},
      {"scaling",
       "x_i becomes s^C_i x_i: scaling:1,-1 for functions of x1 x2 (the default for two "
       "variables)"},
      {"ellipse", "the symmetry of x1^2 + A x2^2 (ellipse:A), for any function of that"},
      {"rosenbrock", "the symmetry of Rosenbrock's function, for any function of it"},
      {"booth", "the symmetry of Booth's function, for any function of it"},
      {"variables",
       "rotations of u = h(x) for your own h: variables:H1,H2:G1,G2, formulas in x1, x2 of h and "
       "of its inverse; for any function of |h(x)|"},
      {"level_set",
       "none: any point with the same loss (Mishkin et al., 2024); for named functions too"},
  };
  return entries;
}

std::unique_ptr<Symmetry> make_own_symmetry(const std::string& name, Index dimension) {
  const std::string kind = find_entry(own_symmetries(), name.substr(0, name.find(':'))).name;
  if (kind == "level_set") return std::make_unique<LevelSet<double>>();
  if (kind == "rotation") {
    if (dimension < 2) throw InvalidArgument("symmetry", "rotations of a line", "two variables");
    return rotation_about(numbers_of(name, {}, dimension), dimension);
  }
  if (kind == "variables") {
    if (dimension < 2) throw InvalidArgument("symmetry", "rotations of a line", "two variables");
    return rotation_of_variables(name, dimension);
  }
  if (kind == "scaling") {
    const std::vector<double> usual =
        dimension == 2 ? std::vector{1.0, -1.0} : std::vector<double>{};
    const std::vector<double> charges = numbers_of(name, usual, dimension);
    if (charges.empty()) {
      throw InvalidArgument("symmetry", "'scaling' without exponents",
                            "one for each variable, such as scaling:1,-1,0");
    }
    return scaling_by(charges);
  }
  // The symmetry of a named function, with its parameters.
  FunctionProblem named = make_problem(kind + name.substr(std::min(name.find(':'), name.size())));
  if (named.function->dimension() != dimension) {
    throw InvalidArgument("symmetry",
                          fmt::format("'{}' of {} variables", name, named.function->dimension()),
                          fmt::format("one of {}, as the formula has", dimension));
  }
  return std::move(named.symmetry);
}

void require_symmetry_of(const Symmetry& symmetry, const TestFunction& function, const Vector& x) {
  const auto orbit = symmetry.orbit(function, x);
  if (!orbit) throw OptionError("symmetry", orbit.reason());
  const double loss = function.value(x);
  constexpr double tolerance = 1e-8, spread = 0.3;
  Random random(0);
  for (int i = 0; i < 3; ++i) {
    Vector there(x.size());
    if (!orbit->randomize(random, spread)) continue;
    orbit->commit(there);
    const double moved = function.value(there);
    if (!std::isfinite(moved) || std::abs(moved - loss) <= tolerance * (1.0 + std::abs(loss))) {
      continue;
    }
    throw OptionError("symmetry",
                      fmt::format("this is not a symmetry of the function: it takes ({}), where "
                                  "the loss is {:.6g}, to ({}), where it is {:.6g}",
                                  point_text(x), loss, point_text(there), moved));
  }
}

}  // namespace symport::lab
