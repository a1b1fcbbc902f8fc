// SPDX-License-Identifier: MIT
#include "symport/optimizers/round_trip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "core/position.hpp"
#include "optimizers/input_gauge.hpp"
#include "optimizers/option_checks.hpp"
#include "symport/objectives/mlp_objective.hpp"

namespace symport {

namespace {

/// Beyond a gradient, of an own model that is asked for the inputs of its weights.
constexpr double inputs_cost = 0.5;

template <Real Scalar>
InputGauge<Scalar> gauge_at(Index outputs, Index inputs, Index numbers, VectorOf<Scalar>& gauges) {
  return {InputBlocks(outputs, inputs), gauges.data() + numbers};
}

/// After the buffers of the rule.
template <Real Scalar>
VectorOf<Scalar>& gauges_of(OptimizerState<Scalar>& state) {
  return state.buffers.back().values;
}

/// Of gauges that were made by a run with another model or other options.
void require_numbers(Index found, Index needed) {
  if (found == needed) return;
  throw InvalidArgument("state", fmt::format("gauges of {} numbers", found),
                        fmt::format("{}, for this model and these options", needed));
}

double power_or(const std::optional<double>& given, double usual, const char* field) {
  if (given && !(*given >= 0.0 && *given <= 1.0)) {
    throw InvalidArgument(field, fmt::format("{}", *given), "a number from 0 to 1");
  }
  return given.value_or(usual);
}

}  // namespace

std::string_view to_string(Length length) { return length == Length::kept ? "kept" : "metric"; }

template <Real Scalar>
RoundTrip<Scalar>::RoundTrip(std::shared_ptr<const FirstOrderOptimizer<Scalar>> rule,
                             const RoundTripOptions& options)
    : rule_(std::move(rule)), options_(options) {
  if (!rule_) throw std::logic_error("RoundTrip: no rule");
  require_not_negative("damping", options.damping);
  require_count("refresh", options.refresh);
  require_not_negative("rows", static_cast<double>(options.rows));
  const bool metric = options.length == Length::metric;
  const double usual = metric ? 0.5 : rule_->amplification() > 0.0 ? 0.125 : 0.25;
  hidden_power_ = power_or(options.power, usual, "power");
  data_power_ = power_or(options.data_power, metric ? 0.5 : 0.0, "data_power");
}

template <Real Scalar>
OptimizerState<Scalar> RoundTrip<Scalar>::init(Index dimension) const {
  OptimizerState<Scalar> state = rule_->init(dimension);
  state.add("gauges", StateKind::scalar, 0);
  return state;
}

template <Real Scalar>
std::optional<typename RoundTrip<Scalar>::Weight> RoundTrip<Scalar>::place(
    Index first, Index outputs, Index inputs, InputKind kind, Index& next) const {
  if (kind == InputKind::factor) {
    throw InvalidArgument("objective", "a product of factors, each of which is the other's input",
                          "a model whose weights multiply inputs, or MetricRoundTrip");
  }
  const double power = kind == InputKind::data ? data_power_ : hidden_power_;
  if (power == 0.0) return std::nullopt;
  const Weight weight{first, outputs, inputs, power, next};
  next += InputBlocks(outputs, inputs).numbers();
  return weight;
}

template <Real Scalar>
std::vector<std::optional<typename RoundTrip<Scalar>::Weight>> RoundTrip<Scalar>::weights_of(
    const Mlp& network) const {
  std::vector<std::optional<Weight>> weights;
  Index next = 0;
  for (Index m = 1; m <= network.layers(); ++m) {
    weights.push_back(place(network.offset(m), network.width(m), network.width(m - 1),
                            m == 1 ? InputKind::data : InputKind::hidden, next));
  }
  return weights;
}

template <Real Scalar>
void RoundTrip<Scalar>::prepare(const std::vector<std::optional<Weight>>& weights,
                                OptimizerState<Scalar>& state) const {
  VectorOf<Scalar>& gauges = gauges_of(state);
  Index numbers = 1;  // so that it is not empty
  for (const std::optional<Weight>& weight : weights) {
    if (weight) numbers = weight->numbers + InputBlocks(weight->outputs, weight->inputs).numbers();
  }
  if (gauges.size() > 0) {
    require_numbers(gauges.size(), numbers);
    return;
  }
  gauges.setZero(numbers);
  for (const std::optional<Weight>& weight : weights) {
    if (weight) gauge_at(weight->outputs, weight->inputs, weight->numbers, gauges).begin();
  }
}

template <Real Scalar>
void RoundTrip<Scalar>::see(const Weight& weight, const Eigen::Ref<const MatrixOf<Scalar>>& h,
                            OptimizerState<Scalar>& state, Workspace& own) const {
  VectorOf<Scalar>& gauges = gauges_of(state);
  const Index end = weight.numbers + InputBlocks(weight.outputs, weight.inputs).numbers();
  if (end > gauges.size()) require_numbers(gauges.size(), end);
  auto gauge = gauge_at(weight.outputs, weight.inputs, weight.numbers, gauges);
  const Index step = state.count, n = h.cols();
  if (options_.rows > 0 && n > options_.rows) {
    // All rows have their turn.
    const Index stride = (n + options_.rows - 1) / options_.rows;
    const auto first = static_cast<Index>(static_cast<std::uint64_t>(step) * 2654435761u %
                                          static_cast<std::uint64_t>(stride));
    own.sample = h(Eigen::all, Eigen::seq(first, n - 1, stride));
    gauge.see(own.sample);
  } else {
    gauge.see(h);
  }
  const bool early = step < options_.refresh && (step & (step - 1)) == 0;
  if (!early && step % options_.refresh != 0) return;
  std::vector<typename InputGauge<Scalar>::Weights> moving;
  for (StateBuffer<Scalar>& buffer : state.buffers) {
    if (buffer.kind != StateKind::cotangent) continue;
    moving.emplace_back(buffer.values.data() + weight.first, weight.outputs, weight.inputs);
  }
  gauge.renew({.power = weight.power,
               .damping = options_.damping,
               .kept = options_.length == Length::kept,
               .squared = rule_->amplification() > 0.0},
              moving);
  rule_->bound_moments(StateRange<Scalar>(state, weight.first, weight.size()));
}

template <Real Scalar>
void RoundTrip<Scalar>::enter(const Weight& weight, OptimizerState<Scalar>& state,
                              Workspace& own) const {
  Eigen::Map<MatrixOf<Scalar>> G(own.gradient.data() + weight.first, weight.outputs, weight.inputs);
  own.product = G;
  gauge_at(weight.outputs, weight.inputs, weight.numbers, gauges_of(state))
      .times(1, own.product, 0, G);
}

template <Real Scalar>
void RoundTrip<Scalar>::step_weight(const Weight& weight, double learning_rate,
                                    OptimizerState<Scalar>& state, Workspace& own,
                                    Out<Scalar> w) const {
  const Index size = weight.size();
  const auto G = own.gradient.segment(weight.first, size);
  if (rule_->amplification() > 0.0) {  // t is g^2, and the way back is in it
    rule_->step_range(weight.first, G, learning_rate, state, w);
    return;
  }
  own.u.resize(size);
  own.zero.setZero(size);
  rule_->update(own.zero, G, learning_rate, StateRange<Scalar>(state, weight.first, size), own.u);
  const auto decay = static_cast<Scalar>(learning_rate * rule_->decoupled_decay(weight.first));
  Eigen::Map<MatrixOf<Scalar>> W(w.data() + weight.first, weight.outputs, weight.inputs);
  if (decay != Scalar(0)) W -= decay * W;
  gauge_at(weight.outputs, weight.inputs, weight.numbers, gauges_of(state))
      .times(-1, Eigen::Map<const MatrixOf<Scalar>>(own.u.data(), weight.outputs, weight.inputs), 1,
             W);
}

template <Real Scalar>
StepOutcome RoundTrip<Scalar>::step(const BasicObjective<Scalar>& objective,
                                    MeasuredPoint<Scalar>& here, double learning_rate,
                                    OptimizerState<Scalar>& state, Out<Scalar> w) const {
  typename Workspaces<Workspace>::Loan own(workspaces_);
  own->gradient = here.gradient;
  std::vector<std::optional<Weight>> weights;
  const MlpObjective<Scalar>* mlp = objective.mlp();
  if (mlp) {
    weights = weights_of(mlp->network());
    prepare(weights, state);
    for (Index m = 1; m <= mlp->network().layers(); ++m) {
      const std::optional<Weight>& weight = weights[at(m - 1)];
      if (!weight) continue;
      see(*weight, mlp->h(m - 1, here.states).topRows(weight->inputs), state, *own);
      enter(*weight, state, *own);
    }
  } else {
    Index next = 0;
    const auto place_of = [&](const WeightInputs<Scalar>& inputs) {
      return place(inputs.first, inputs.outputs, inputs.h.rows(), inputs.kind, next);
    };
    if (gauges_of(state).size() == 0) {
      objective.weight_inputs(
          w, [&](const WeightInputs<Scalar>& inputs) { weights.push_back(place_of(inputs)); });
      prepare(weights, state);
      weights.clear();
      next = 0;
    }
    objective.weight_inputs(w, [&](const WeightInputs<Scalar>& inputs) {
      weights.push_back(place_of(inputs));
      if (!weights.back()) return;
      see(*weights.back(), inputs.h, state, *own);
      enter(*weights.back(), state, *own);
    });
    objective.note_work(inputs_cost);
  }
  std::erase(weights, std::nullopt);
  std::sort(weights.begin(), weights.end(),
            [](const auto& a, const auto& b) { return a->first < b->first; });
  Index done = 0;
  const auto step_others = [&](Index end) {
    if (end == done) return;
    rule_->step_range(done, own->gradient.segment(done, end - done), learning_rate, state, w);
  };
  for (const std::optional<Weight>& weight : weights) {
    step_others(weight->first);
    step_weight(*weight, learning_rate, state, *own, w);
    done = weight->first + weight->size();
  }
  step_others(w.size());
  ++state.count;
  return {true, learning_rate, mlp ? 0.0 : inputs_cost};
}

template <Real Scalar>
double RoundTrip<Scalar>::network_step(const MlpObjective<Scalar>& mlp, double learning_rate,
                                       OptimizerState<Scalar>& state, Out<Scalar> w) const {
  typename Workspaces<Workspace>::Loan own(workspaces_);
  const Mlp& network = mlp.network();
  const auto weights = weights_of(network);
  prepare(weights, state);
  own->gradient.resize(w.size());
  const bool at_once = rule_->entry_by_entry();  // where there is no gauge
  const std::optional<Weight>* now = nullptr;    // whose pieces come
  std::vector<bool> entered(weights.size());
  const auto inputs = [&](Index m, const MatrixOf<Scalar>& h) -> const MatrixOf<Scalar>& {
    now = &weights[at(m - 1)];
    if (!*now) return h;
    const Weight& weight = **now;
    see(weight, h.topRows(weight.inputs), state, *own);
    if (h.cols() >= weight.outputs) return h;  // G g is cheaper than g h
    own->mapped = h;
    gauge_at(weight.outputs, weight.inputs, weight.numbers, gauges_of(state))
        .of(h.topRows(weight.inputs), own->mapped.topRows(weight.inputs));
    entered[at(m - 1)] = true;
    return own->mapped;
  };
  const double loss = mlp.gradient_ranges(w, inputs, [&](Index first, In<Scalar> range) {
    if (*now || !at_once) {
      own->gradient.segment(first, range.size()) = range;
    } else {
      rule_->step_range(first, range, learning_rate, state, w);
    }
  });
  for (Index m = network.layers(); m >= 1; --m) {
    const std::optional<Weight>& weight = weights[at(m - 1)];
    Index first = network.offset(m);
    const Index end = first + network.width(m) * network.augmented_width(m - 1);
    if (weight) {
      if (!entered[at(m - 1)]) enter(*weight, state, *own);
      step_weight(*weight, learning_rate, state, *own, w);
      first += weight->size();
    } else if (at_once) {
      continue;
    }
    rule_->step_range(first, own->gradient.segment(first, end - first), learning_rate, state, w);
  }
  ++state.count;
  return loss;
}

template <Real Scalar>
double RoundTrip<Scalar>::minibatch_step(const BatchObjective<Scalar>& objective,
                                         double learning_rate, OptimizerState<Scalar>& state,
                                         Out<Scalar> w, double* evaluations) const {
  if (const MlpObjective<Scalar>* mlp = objective.mlp()) {
    if (evaluations) *evaluations = 1.0;
    return network_step(*mlp, learning_rate, state, w);
  }
  return BasicOptimizer<Scalar>::minibatch_step(objective, learning_rate, state, w, evaluations);
}

template class RoundTrip<float>;
template class RoundTrip<double>;

}  // namespace symport
