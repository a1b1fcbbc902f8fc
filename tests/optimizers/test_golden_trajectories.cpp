// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "support/golden.hpp"
#include "support/network_golden.hpp"
#include "symport/core/thread_scope.hpp"
#include "symport/objectives/mlp_objective.hpp"
#include "symport/optimizers/kfac.hpp"
#include "symport/optimizers/muon.hpp"
#include "symport/optimizers/prodigy.hpp"
#include "symport/optimizers/shampoo.hpp"
#include "symport/optimizers/soap.hpp"

// Trajectories of tests/golden/make_optimizers.py.
namespace symport {
namespace {

using nlohmann::json;
using testing::golden_matrix;
using testing::golden_vector;

template <Real Scalar>
std::unique_ptr<BasicOptimizer<Scalar>> make(const json& run, const Mlp& network) {
  const json& given = run.at("options");
  const auto number = [&](const char* name) { return given.at(name).get<double>(); };
  const auto whole = [&](const char* name) { return given.at(name).get<Index>(); };
  const std::string name = run.at("optimizer");
  if (name == "prodigy") {
    return std::make_unique<Prodigy<Scalar>>(
        ProdigyOptions{.first_distance = number("first_distance"),
                       .distance_factor = number("distance_factor"),
                       .weight_decay = number("weight_decay"),
                       .unbiased = given.at("unbiased"),
                       .safeguard_warm_up = given.at("safeguard_warm_up")});
  }
  if (name == "kfac") {
    const bool exact = given.at("fisher") == "exact";
    return std::make_unique<Kfac<Scalar>>(
        network, KfacOptions{.damping = number("damping"),
                             .decay = number("decay"),
                             .refresh = whole("refresh"),
                             .momentum = number("momentum"),
                             .fisher = exact ? Fisher::exact : Fisher::empirical,
                             .kl_clip = number("kl_clip")});
  }
  if (name == "muon" || name == "torch_muon") {
    const bool original = given.at("scale") == to_string(MuonScale::original);
    return std::make_unique<Muon<Scalar>>(
        network.layout(),
        MuonOptions{.momentum = number("momentum"),
                    .nesterov = given.at("nesterov"),
                    .weight_decay = number("weight_decay"),
                    .scale = original ? MuonScale::original : MuonScale::match_rms_adamw,
                    .rest_rate = number("rest_rate")});
  }
  if (name == "soap") {
    return std::make_unique<Soap<Scalar>>(network.layout(),
                                          SoapOptions{.beta1 = number("beta1"),
                                                      .beta2 = number("beta2"),
                                                      .epsilon = number("epsilon"),
                                                      .weight_decay = number("weight_decay"),
                                                      .refresh = whole("refresh"),
                                                      .largest_side = whole("largest_side")});
  }
  ShampooOptions options{.momentum = number("momentum"),
                         .decay = number("decay"),
                         .epsilon = number("epsilon"),
                         .refresh = whole("refresh"),
                         .largest_side = whole("largest_side")};
  for (const Grafting grafting : {Grafting::none, Grafting::sgd, Grafting::adagrad}) {
    if (given.at("grafting") == to_string(grafting)) options.grafting = grafting;
  }
  return std::make_unique<Shampoo<Scalar>>(network.layout(), options);
}

template <Real Scalar>
MlpObjective<Scalar> objective_of(const json& problem) {
  Mlp network(problem.at("widths").get<std::vector<Index>>(),
              Activation::parse(problem.at("activation").get<std::string>()), problem.at("biases"));
  const Loss loss = Loss::parse(problem.at("loss").get<std::string>());
  const MatrixOf<Scalar> X = golden_matrix(problem.at("X")).cast<Scalar>();
  if (loss.categorical()) {
    return {network, loss, X, Targets<Scalar>(problem.at("Y").get<std::vector<int>>())};
  }
  return {network, loss, X, Targets<Scalar>(golden_matrix(problem.at("Y")).cast<Scalar>())};
}

/// How a step is taken: two ways that must be the same.
enum class Way { step, minibatch };

template <Real Scalar>
void take_step(Way way, const BasicOptimizer<Scalar>& optimizer,
               const MlpObjective<Scalar>& objective, double rate, OptimizerState<Scalar>& state,
               VectorOf<Scalar>& w) {
  MeasuredPoint<Scalar> here;
  switch (way) {
    case Way::step:
      optimizer.measure(objective, w, here);
      optimizer.step(objective, here, rate, state, w);
      break;
    case Way::minibatch:
      optimizer.minibatch_step(objective, rate, state, w);
      break;
  }
}

/// The largest deviation from the golden points up to that step, relative to their largest entry.
template <Real Scalar>
double deviation(const json& run, const json& problem, Way way, int steps) {
  const MlpObjective<Scalar> objective = objective_of<Scalar>(problem);
  const auto optimizer = make<Scalar>(run, objective.network());
  VectorOf<Scalar> w = golden_vector(problem.at("w")).cast<Scalar>();
  OptimizerState<Scalar> state = optimizer->init(w.size());
  double worst = 0.0;
  for (int t = 1; t <= steps; ++t) {
    take_step<Scalar>(way, *optimizer, objective, run.at("rate"), state, w);
    const auto found = run.at("points").find(std::to_string(t));
    if (found == run.at("points").end()) continue;
    const Vector there = golden_vector(*found);
    const Vector error = w.template cast<double>() - there;
    worst = std::max(worst, error.cwiseAbs().maxCoeff() / there.cwiseAbs().maxCoeff());
  }
  EXPECT_EQ(state.count, steps);
  return worst;
}

/// What PyTorch's Muon, which orthogonalizes in bfloat16, may be off by.
constexpr double half_precision = 2e-2;

double tolerance_of(const json& run) {
  if (run.at("optimizer") == "torch_muon") return half_precision;
  return run.at("optimizer") == "muon" ? 1e-10 : 1e-8;
}

TEST(GoldenTrajectories, AreFollowedForFortySteps) {
  const json golden = testing::read_golden("optimizers.json");
  for (const json& run : golden.at("runs")) {
    const json& problem = golden.at("cases").at(run.at("case").get<std::size_t>());
    SCOPED_TRACE(run.at("optimizer").get<std::string>() + " " + run.at("options").dump() + " on " +
                 problem.at("loss").get<std::string>());
    for (const Way way : {Way::step, Way::minibatch}) {
      EXPECT_LE(deviation<double>(run, problem, way, 40), tolerance_of(run));
    }
    const ThreadScope threads(2, 2);
    EXPECT_LE(deviation<double>(run, problem, Way::minibatch, 40), tolerance_of(run));
  }
}

// Ten steps: after more of them the roundings of the first have grown. SOAP's second gradient is
// its first, here in full batches, which its bases make diagonal: with a small epsilon its first
// step is as long in the other entries, by their roundings.
TEST(GoldenTrajectories, AreFollowedInFloat) {
  const json golden = testing::read_golden("optimizers.json");
  for (const json& run : golden.at("runs")) {
    const json& problem = golden.at("cases").at(run.at("case").get<std::size_t>());
    if (run.at("optimizer") == "soap" && run.at("options").at("epsilon") < 1e-6) continue;
    SCOPED_TRACE(run.at("optimizer").get<std::string>() + " " + run.at("options").dump() + " on " +
                 problem.at("loss").get<std::string>());
    EXPECT_LE(deviation<float>(run, problem, Way::minibatch, 10),
              std::max(tolerance_of(run), 1e-3));
  }
}

}  // namespace
}  // namespace symport
