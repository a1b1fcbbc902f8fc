// SPDX-License-Identifier: MIT
#include "lab/options/registry.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lab/options/own_function.hpp"
#include "lab/text/parse_numbers.hpp"
#include "symport/objectives/booth.hpp"
#include "symport/objectives/ellipse.hpp"
#include "symport/objectives/matrix_completion.hpp"
#include "symport/objectives/matrix_factorization.hpp"
#include "symport/objectives/quadratic.hpp"
#include "symport/objectives/rosenbrock.hpp"
#include "symport/search/angle_scan.hpp"
#include "symport/search/auto_search.hpp"
#include "symport/search/closed_form.hpp"
#include "symport/search/fixed_ascent.hpp"
#include "symport/search/orbit_ascent.hpp"
#include "symport/search/random_search.hpp"
#include "symport/symmetries/factor_pair.hpp"
#include "symport/symmetries/general_linear.hpp"
#include "symport/symmetries/level_set.hpp"
#include "symport/symmetries/linear_network.hpp"
#include "symport/symmetries/orthogonal.hpp"
#include "symport/symmetries/paper_action.hpp"
#include "symport/symmetries/permutation.hpp"
#include "symport/symmetries/positive_scaling.hpp"
#include "symport/symmetries/rotation.hpp"
#include "symport/symmetries/sign_flip.hpp"

namespace symport::lab {

namespace {

/// Larger problems than these take minutes to set up, or all the memory.
constexpr double largest_size = 1000;

Index whole(double value) { return static_cast<Index>(value); }

template <class Function, class Group>
FunctionProblem problem(Function function, Group group) {
  return {std::make_unique<Function>(std::move(function)),
          std::make_unique<Group>(std::move(group)),
          {}};
}

// Types are given twice, as clang 14 fails at template parameters with a concept.
template <class InDouble, class InFloat>
SymmetryFactory symmetry() {
  return {[](const auto&) { return std::make_unique<InDouble>(); },
          [](const auto&) { return std::make_unique<InFloat>(); }};
}

SymmetryFactory general_linear() {
  const auto options = [](const NetworkSymmetryOptions& given) {
    return GeneralLinearOptions{.allow_partial_batch = given.allow_partial_batch};
  };
  return {
      [=](const auto& given) { return std::make_unique<GeneralLinear<double>>(options(given)); },
      [=](const auto& given) { return std::make_unique<GeneralLinear<float>>(options(given)); }};
}

/// A function's entry with the values of its parameters.
struct ParsedFunction {
  const FunctionEntry& entry;
  std::vector<double> values;

  std::string text() const {
    std::string text = entry.name;
    for (std::size_t i = 0; i < values.size() && !std::isnan(values[i]); ++i) {
      text += fmt::format("{}{}", i == 0 ? ':' : ',', values[i]);
    }
    return text;
  }
};

ParsedFunction parse_function(const std::string& specification) {
  if (specification.find_first_of("^*/+()") != std::string::npos) {
    throw InvalidArgument("function", fmt::format("'{}'", specification),
                          "a name, or a formula in x1, x2, ..., such as x1^2 + x2^2");
  }
  const std::size_t colon = specification.find(':');
  ParsedFunction parsed{find_entry(functions(), specification.substr(0, colon)), {}};
  const FunctionEntry& entry = parsed.entry;
  const auto reject = [&](const std::string& problem, const std::string& allowed) {
    throw InvalidArgument("function", fmt::format("'{}' ({})", specification, problem), allowed);
  };
  for (const Parameter& parameter : entry.parameters) parsed.values.push_back(parameter.value);
  if (colon == std::string::npos) return parsed;
  std::string_view rest = std::string_view(specification).substr(colon + 1);
  for (std::size_t i = 0;; ++i) {
    const std::size_t comma = rest.find(',');
    if (i == entry.parameters.size()) reject("too many parameters", entry.usage());
    const Parameter& parameter = entry.parameters[i];
    double& value = parsed.values[i];
    try {
      value = parse_number(rest.substr(0, comma));
    } catch (const InvalidArgument&) {
      reject(parameter.name + " is no number", parameter.name + " " + parameter.allowed());
    }
    const bool inside = value >= parameter.smallest && value <= parameter.largest;
    const bool fits = !parameter.whole || value == std::floor(value);
    if (!inside || !fits || value <= 0.0) {
      reject(fmt::format("{} is {}", parameter.name, value),
             parameter.name + " " + parameter.allowed());
    }
    if (comma == std::string_view::npos) return parsed;
    rest.remove_prefix(comma + 1);
  }
}

/// The paper maximises the gradient's norm, whatever the optimizer.
ObjectiveKind the_papers_objective(const Optimizer&) { return ObjectiveKind::gradient_norm; }

}  // namespace

std::string Parameter::allowed() const {
  if (whole) return fmt::format("a whole number from {} to {}", smallest, largest);
  return smallest > 0.0 ? fmt::format("a finite number >= {}", smallest) : "a finite number > 0";
}

std::string FunctionEntry::usage() const {
  if (parameters.empty()) return name;
  return fmt::format("{}[:{}]", name, join(names_of(parameters), ","));
}

const std::vector<FunctionEntry>& functions() {
  static const std::vector<FunctionEntry> entries{
      {"ellipse",
       "x1^2 + A x2^2",
       {{.name = "A", .value = Ellipse().a(), .smallest = 0.0}},
       [](const std::vector<double>& p) { return problem(Ellipse(p[0]), ellipse_rotation(p[0])); }},
      {"rosenbrock",
       "100 (x1^2 - x2)^2 + (x1 - 1)^2, summed over PAIRS of variables",
       {{.name = "PAIRS",
         .value = static_cast<double>(Rosenbrock().dimension() / 2),
         .whole = true,
         .largest = largest_size / 2}},
       [](const std::vector<double>& p) {
         return problem(Rosenbrock(whole(p[0])), rosenbrock_rotation(whole(p[0])));
       }},
      {"booth",
       "(x1 + 2 x2 - 7)^2 + (2 x1 + x2 - 5)^2",
       {},
       [](const std::vector<double>&) { return problem(Booth(), booth_rotation()); }},
      {"quadratic",
       "w'Aw in N variables, eigenvalues of A from 1 to CONDITION",
       {{.name = "N", .value = 10, .whole = true, .largest = largest_size},
        {.name = "CONDITION", .value = 100, .largest = 1e12}},
       [](const std::vector<double>& p) {
         const Quadratic quadratic = Quadratic::diagonal(whole(p[0]), p[1]);
         return problem(quadratic, OrthogonalSymmetry(quadratic));
       }},
      {"rotated_quadratic",
       "the same with fixed random eigenvectors in place of the axes",
       {{.name = "N", .value = 10, .whole = true, .largest = largest_size},
        {.name = "CONDITION", .value = 100, .largest = 1e12}},
       [](const std::vector<double>& p) {
         const Quadratic quadratic = Quadratic::rotated(whole(p[0]), p[1], 0);
         return problem(quadratic, OrthogonalSymmetry(quadratic));
       }},
      {"factorization",
       "|Y - UV|^2, Y a fixed random matrix of that rank; with CONDITION its singular values fall "
       "from 1 to 1/CONDITION; IMBALANCE makes U larger than V at the start",
       {{.name = "ROWS", .value = 8, .whole = true, .largest = largest_size},
        {.name = "COLS", .value = 6, .whole = true, .largest = largest_size},
        {.name = "RANK", .value = 3, .whole = true, .largest = largest_size},
        {.name = "CONDITION", .value = std::numeric_limits<double>::quiet_NaN(), .largest = 1e12},
        {.name = "IMBALANCE", .value = 1, .smallest = 1e-12, .largest = 1e12}},
       [](const std::vector<double>& p) {
         const auto factorization =
             std::isnan(p[3])
                 ? MatrixFactorization::random(whole(p[0]), whole(p[1]), whole(p[2]), 0)
                 : MatrixFactorization::conditioned(whole(p[0]), whole(p[1]), whole(p[2]), p[3], 0,
                                                    p[4]);
         return problem(factorization, FactorPairSymmetry(factorization));
       }},
      {"completion",
       "|M o (Y - UV)|^2, the matrix of factorization from the part SHARE of its entries",
       {{.name = "ROWS", .value = 20, .whole = true, .largest = largest_size},
        {.name = "COLS", .value = 15, .whole = true, .largest = largest_size},
        {.name = "RANK", .value = 3, .whole = true, .largest = largest_size},
        {.name = "CONDITION", .value = 10, .largest = 1e12},
        {.name = "SHARE", .value = 0.6, .smallest = 1e-6, .largest = 1}},
       [](const std::vector<double>& p) {
         MatrixCompletion completion =
             MatrixCompletion::random(whole(p[0]), whole(p[1]), whole(p[2]), p[3], p[4], 0);
         FactorPairSymmetry symmetry(completion.full());
         return problem(std::move(completion), std::move(symmetry));
       }},
  };
  return entries;
}

const std::vector<SymmetryEntry>& symmetries() {
  static const std::vector<SymmetryEntry> entries{
      {"SO(2)",
       "rotations of the coordinates in which the loss is |u|^2: ellipse, rosenbrock, booth"},
      {"SO(2N)", "the same for N pairs: rosenbrock:N"},
      {"O(n)", "rotations and reflections, g.w = A^-1/2 g A^1/2 w: quadratic, rotated_quadratic"},
      {"GL(r)", "invertible matrices on a factor pair, (U g^-1, g V): factorization, completion"},
  };
  return entries;
}

const std::vector<NetworkSymmetryEntry>& network_symmetries() {
  static const std::vector<NetworkSymmetryEntry> entries{
      {"gl",
       "invertible matrices on every hidden layer; keeps the loss on the teleport's batch only; "
       "bijective activations",
       "auto", general_linear()},
      {"rescale", "positive rescaling of hidden units, on all data; leaky_relu, relu, linear",
       "closed", symmetry<PositiveScalingSymmetry<double>, PositiveScalingSymmetry<float>>()},
      {"linear_gl", "invertible matrices on hidden layers of a linear network, on all data",
       "closed", symmetry<LinearNetworkSymmetry<double>, LinearNetworkSymmetry<float>>()},
      {"permutation", "of hidden units, on all data; changes no gradient norm", "random",
       symmetry<PermutationSymmetry<double>, PermutationSymmetry<float>>()},
      {"sign_flip", "of hidden units, on all data; odd activations; changes no gradient norm",
       "random", symmetry<SignFlipSymmetry<double>, SignFlipSymmetry<float>>()},
      {"level_set",
       "no symmetry: any point with the same loss on the teleport's batch (Mishkin et al., 2024); "
       "every network",
       "closed", symmetry<LevelSet<double>, LevelSet<float>>()},
      // Steps and rate of appendix D, for gradient descent on the regression.
      {"paper", "eq. (8) as printed, with I+T and I-T: NOT loss-invariant, to reproduce the paper",
       "fixed", symmetry<PaperAction<double>, PaperAction<float>>(), 8, 1e-7},
  };
  return entries;
}

const std::vector<SearchEntry>& searches() {
  static const std::vector<SearchEntry> entries{
      {.name = "auto",
       .summary =
           "the best for the symmetry: scan, else closed, else ascent (gl in mini-batches or "
           "with --search-steps or --search-rate: ascent)",
       .make = [](Index, double) { return std::make_unique<AutoSearch>(); }},
      {.name = "scan",
       .summary = "global maximum over the angle; SO(2) only",
       .make = [](Index, double) { return std::make_unique<AngleScan>(); }},
      {.name = "ascent",
       .summary = "gradient ascent along the orbit with backtracking; every symmetry",
       .steps = OrbitAscentOptions{}.max_steps,
       .rate = OrbitAscentOptions{}.step_size,
       .make =
           [](Index steps, double rate) {
             const double longest = std::max(rate, OrbitAscentOptions{}.max_length);
             return std::make_unique<OrbitAscent>(
                 OrbitAscentOptions{.max_steps = steps, .step_size = rate, .max_length = longest});
           }},
      {.name = "fixed",
       .summary = "the paper's: fixed number of steps at a fixed rate, no checks",
       .steps = FixedAscentOptions{}.steps,
       .rate = FixedAscentOptions{}.rate,
       .objective = the_papers_objective,
       .make =
           [](Index steps, double rate) {
             return std::make_unique<FixedAscent>(FixedAscentOptions{.steps = steps, .rate = rate});
           }},
      {.name = "closed",
       .summary = "straight to a destination by a formula: eigenvectors, white gauges, scales; "
                  "quadratic, factorization, gl, linear_gl, rescale",
       .make = [](Index, double) { return std::make_unique<ClosedFormSearch>(); }},
      {.name = "random",
       .summary = "the best of some random group elements (--search-steps: how many)",
       .steps = RandomSearchOptions{}.samples,
       .make =
           [](Index steps, double) {
             return std::make_unique<RandomSearch>(RandomSearchOptions{.samples = steps});
           }},
      {.name = "blind",
       .summary = "one random group element, accepted without comparison (Armenta et al.)",
       .make =
           [](Index, double) {
             return std::make_unique<RandomSearch>(RandomSearchOptions{.keep_the_best = false});
           }},
  };
  return entries;
}

const std::vector<ObjectiveEntry>& objectives() {
  const auto entry = [](ObjectiveKind kind, std::string summary) {
    return ObjectiveEntry{std::string(to_string(kind)), std::move(summary), kind};
  };
  static const std::vector<ObjectiveEntry> entries{
      entry(ObjectiveKind::gradient_norm, "J = |gradient|^2, the paper's"),
      entry(ObjectiveKind::predicted_decrease,
            "what the optimizer's next step gains by the quadratic model, at the given rate"),
      entry(ObjectiveKind::decrement,
            "J^2/(2 Phi), what the best step length gains; for --lr auto"),
      entry(ObjectiveKind::sharpness,
            "the smallest largest eigenvalue of the Hessian: flat, not fast"),
      entry(ObjectiveKind::weight_norm,
            "the smallest |w|^2: balanced between the layers, whatever the loss does"),
  };
  return entries;
}

const std::vector<StateEntry>& states() {
  const auto entry = [](StatePolicy policy, std::string summary) {
    return StateEntry{std::string(to_string(policy)), std::move(summary), policy};
  };
  static const std::vector<StateEntry> entries{
      entry(StatePolicy::keep, "a teleport leaves the optimizer's state as it is"),
      entry(StatePolicy::reset, "a teleport clears it"),
      entry(StatePolicy::transport,
            "a teleport moves it along; squares of gradients only where that is exact (rescale, "
            "permutation, sign_flip), else they are kept"),
  };
  return entries;
}

FunctionProblem make_problem(const std::string& specification) {
  if (is_own_name(specification)) {
    throw InvalidArgument("function",
                          fmt::format("'{}', a function of another program", specification),
                          join(names_of(functions())));
  }
  if (is_formula(specification)) return {make_own_function(specification), nullptr, specification};
  const ParsedFunction parsed = parse_function(specification);
  FunctionProblem problem = parsed.entry.make(parsed.values);
  problem.specification = parsed.text();
  return problem;
}

std::string full_specification(const std::string& specification) {
  if (is_formula(specification) || is_own_name(specification)) return specification;
  return parse_function(specification).text();
}

std::vector<std::string> fitting_searches(const Orbit& orbit) {
  std::vector<std::string> names;
  for (const SearchEntry& entry : searches()) {
    if (entry.make(entry.steps.value_or(1), entry.rate.value_or(1.0))->fits(orbit)) {
      names.push_back(entry.name);
    }
  }
  return names;
}

}  // namespace symport::lab
