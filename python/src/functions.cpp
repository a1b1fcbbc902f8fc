// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <limits>

#include "arrays.hpp"
#include "bindings.hpp"
#include "lab/data/gauge_file.hpp"
#include "lab/options/usual_rate.hpp"
#include "lab/runs/function_run.hpp"
#include "run.hpp"
#include "symport/symmetries/slot_symmetry.hpp"

namespace symport::python {

using namespace nb::literals;

namespace {

/// A loss and its gradient from Python functions of a flat array. Second derivatives along a
/// direction are central differences of gradients, unless there is a function for them.
class PythonObjective final : public Objective {
 public:
  PythonObjective(Index dimension, nb::callable loss, nb::callable gradient,
                  std::optional<nb::callable> hessian_vector)
      : dimension_(dimension),
        loss_(std::move(loss)),
        gradient_(std::move(gradient)),
        hessian_vector_(std::move(hessian_vector)) {}

  Index dimension() const override { return dimension_; }
  double value(In<double> w) const override {
    return nb::cast<double>(nb::float_(loss_(to_python(w))));
  }
  double gradient(In<double> w, Out<double> gradient) const override {
    gradient = to_vector(gradient_(to_python(w)), dimension_, "grad");
    return value(w);
  }
  void hessian_vector(In<double> w, In<double> v, Out<double> result) const override {
    if (hessian_vector_) {
      result =
          to_vector((*hessian_vector_)(to_python(w), to_python(v)), dimension_, "hessian_vector");
      return;
    }
    const double h = step(w, v, 1.0 / 3.0);
    result = h > 0.0 ? Vector((slope(w + h * v) - slope(w - h * v)) / (2.0 * h))
                     : Vector::Zero(dimension_);
  }
  /// Of gradients directly: a difference of differences would lose twice the digits.
  void third_derivative(In<double> w, In<double> v, Out<double> result) const override {
    if (hessian_vector_) return Objective::third_derivative(w, v, result);
    const double h = step(w, v, 0.25);
    result = h > 0.0 ? Vector((slope(w + h * v) - 2.0 * slope(w) + slope(w - h * v)) / (h * h))
                     : Vector::Zero(dimension_);
  }

 private:
  Vector slope(const Vector& w) const {
    return to_vector(gradient_(to_python(w)), dimension_, "grad");
  }
  /// eps^power of the size of w, along v; 0 where v is.
  static double step(In<double> w, In<double> v, double power) {
    const double length = v.norm();
    if (!(length > 0.0)) return 0.0;
    return std::pow(std::numeric_limits<double>::epsilon(), power) * std::max(1.0, w.norm()) /
           length;
  }

  Index dimension_;
  nb::callable loss_, gradient_;
  std::optional<nb::callable> hessian_vector_;
};

/// The names and shapes of the tensors that a flat array in C order is made of.
using Shapes = std::vector<std::pair<std::string, std::vector<Index>>>;

/// A list of slots; the axes of a C-ordered tensor are those of a column-major one in reverse.
std::unique_ptr<Symmetry> slot_symmetry(const std::string& text, const Shapes& shapes) {
  const lab::Gauge gauge = lab::parse_gauge(text, "symmetry");
  ParameterLayout layout;
  for (const auto& [name, shape] : shapes) {
    layout.add(name, std::vector<Index>(shape.rbegin(), shape.rend()));
  }
  std::vector<SlotGroup> groups;
  for (const lab::Gauge::Group& group : gauge.groups) {
    SlotGroup& placed = groups.emplace_back(SlotGroup{group.kind, group.size, {}});
    for (const lab::Gauge::Place& slot : group.slots) {
      const Index axes = std::ssize(layout.block(slot.tensor).shape);
      if (slot.axis >= axes) {
        throw InvalidArgument("symmetry, slot " + slot.tensor, fmt::format("axis {}", slot.axis),
                              fmt::format("0 to {}", axes - 1));
      }
      if (slot.shift != 0.0) {
        throw InvalidArgument("symmetry, slot " + slot.tensor, "a shift", "0");
      }
      placed.slots.push_back(slot);
      placed.slots.back().axis = axes - 1 - slot.axis;
    }
  }
  return std::make_unique<SlotSymmetry<double>>(layout, std::move(groups));
}

/// How a function of somebody's own is optimized; as `lab::resolve`, with less to go by.
void settle(lab::FunctionRunSpec& spec, const Symmetry* symmetry, const Optimizer& optimizer) {
  if (spec.trip.on()) {
    throw lab::OptionError("round-trip", "needs a function of the program, such as factorization");
  }
  if (!spec.how.objective) {
    spec.how.objective = lab::find_entry(lab::searches(), spec.how.search).objective(optimizer);
  }
  if (!spec.how.cap) spec.how.cap = default_cap(*spec.how.objective);
  if (symmetry == nullptr && !spec.teleport.empty()) {
    throw lab::OptionError("teleport", "needs a symmetry");
  }
  if (symmetry != nullptr && spec.teleport.empty()) spec.teleport = Schedule::parse("auto");
  if (!spec.how.rehearsal) {
    spec.how.rehearsal = lab::rehearsal_of(spec.how, spec.teleport, optimizer);
  }
}

/// A function of somebody's own: a loss and its gradient, of a flat array or of its parts.
struct OwnFunction {
  std::string name;
  nb::callable loss, gradient;
  std::optional<nb::callable> hessian_vector;
  Shapes shapes;
  std::optional<std::string> named_symmetry, slots;
};

Run optimize_function(const OwnFunction& function, const Vector& start,
                      const lab::Arguments& arguments) {
  const Index dimension = start.size();
  lab::FunctionResult result;
  result.x = start;
  lab::FunctionRunSpec& spec = result.spec = lab::function_run_options().read(arguments);
  spec.function = "own:" + function.name;
  spec.start.emplace(result.x.begin(), result.x.end());
  if (!spec.steps) spec.steps = TrainOptions<double>{}.max_steps;
  if (!spec.learning_rate) {
    if (spec.optimizer != "gd" && !lab::finds_its_own_steps(spec.optimizer)) {
      throw lab::OptionError("lr", "missing, allowed is a learning rate; gd measures its own");
    }
    spec.learning_rate.emplace();
  }
  const PythonObjective objective(dimension, function.loss, function.gradient,
                                  function.hessian_vector);
  lab::FunctionProblem problem;
  std::unique_ptr<Symmetry> own;
  if (function.slots) own = slot_symmetry(*function.slots, function.shapes);
  if (function.named_symmetry) {
    problem =
        lab::for_option("symmetry", [&] { return lab::make_problem(*function.named_symmetry); });
  }
  const Symmetry* symmetry = function.named_symmetry ? problem.symmetry.get() : own.get();

  const auto optimizer =
      lab::make_optimizer<double>(spec.optimizer, spec.learning_rate->automatic(), dimension);
  const auto search = lab::resolve_search(spec.how);
  settle(spec, symmetry, *optimizer);
  if (symmetry != nullptr) {
    const auto orbit = symmetry->orbit(objective, result.x);
    if (!orbit) throw lab::OptionError("symmetry", orbit.reason());
    if (!search->fits(*orbit)) {
      throw lab::OptionError("search", fmt::format("found '{}', allowed is {}", spec.how.search,
                                                   lab::join(lab::fitting_searches(*orbit))));
    }
  }
  SignalCheck check;
  result.formula = "a function of another program";
  result.minimum = std::numeric_limits<double>::quiet_NaN();
  result.summary = train<double>(
      objective, *optimizer, result.x,
      {.max_steps = *spec.steps,
       .learning_rate = spec.learning_rate->rate.value_or(TrainOptions<double>{}.learning_rate),
       .teleport = {.symmetry = spec.teleport.empty() ? nullptr : symmetry,
                    .search = search.get(),
                    .schedule = spec.teleport,
                    .state = spec.how.state,
                    .objective = spec.how.objective,
                    .bound = spec.how.bound,
                    .cap = spec.how.cap,
                    .rehearsal = *spec.how.rehearsal},
       .seed = spec.seed,
       .watcher = [&](const TraceRow&) {
         check();
         return true;
       }});
  return {std::move(result)};
}

Run optimize_own(const std::string& name, nb::callable loss, nb::callable gradient,
                 std::optional<nb::callable> hessian_vector, const nb::object& start,
                 const Shapes& shapes, const std::optional<std::string>& named_symmetry,
                 const std::optional<std::string>& slots, const Texts& options) {
  const OwnFunction function{
      name, std::move(loss), std::move(gradient), std::move(hessian_vector), shapes, named_symmetry,
      slots};
  const Vector x = to_vector(start, static_cast<Index>(nb::len(start)), "start");
  const lab::Arguments arguments = to_arguments(options, lab::function_run_options().options());
  return explained([&] { return optimize_function(function, x, arguments); });
}

Run optimize_named(const Texts& options) {
  const lab::Arguments arguments = to_arguments(options, lab::function_run_options().options());
  return explained([&] {
    const nb::gil_scoped_release released;
    const lab::FunctionRun run = lab::resolve(lab::function_run_options().read(arguments));
    SignalCheck check;
    return Run{lab::run_function(run, true, [&](const TraceRow&) {
      check();
      return true;
    })};
  });
}

}  // namespace

void bind_functions(nb::module_& m) {
  m.def("optimize_named", optimize_named, "options"_a);
  m.def("optimize_own", optimize_own, "name"_a, "loss"_a, "gradient"_a, "hessian_vector"_a.none(),
        "start"_a, "shapes"_a, "named_symmetry"_a.none(), "slots"_a.none(), "options"_a);
}

}  // namespace symport::python
