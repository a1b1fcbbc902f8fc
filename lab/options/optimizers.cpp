// SPDX-License-Identifier: MIT
#include <algorithm>

#include "lab/options/registry.hpp"
#include "symport/objectives/matrix_completion.hpp"
#include "symport/objectives/matrix_factorization.hpp"
#include "symport/optimizers/adagrad.hpp"
#include "symport/optimizers/adam.hpp"
#include "symport/optimizers/adamw.hpp"
#include "symport/optimizers/curvature_descent.hpp"
#include "symport/optimizers/g_sgd.hpp"
#include "symport/optimizers/gradient_descent.hpp"
#include "symport/optimizers/kfac.hpp"
#include "symport/optimizers/lbfgs.hpp"
#include "symport/optimizers/levenberg_marquardt.hpp"
#include "symport/optimizers/line_search_descent.hpp"
#include "symport/optimizers/momentum.hpp"
#include "symport/optimizers/muon.hpp"
#include "symport/optimizers/natural_gradient.hpp"
#include "symport/optimizers/nesterov.hpp"
#include "symport/optimizers/newton.hpp"
#include "symport/optimizers/path_sgd.hpp"
#include "symport/optimizers/prodigy.hpp"
#include "symport/optimizers/random_direction.hpp"
#include "symport/optimizers/rmsprop.hpp"
#include "symport/optimizers/shampoo.hpp"
#include "symport/optimizers/soap.hpp"

namespace symport::lab {

namespace {

/// Of a type without options. (Given twice, as clang 14 fails at template parameters with a
/// concept.)
template <class InDouble, class InFloat>
OptimizerFactory optimizer() {
  return {[](const auto&) { return std::make_unique<InDouble>(); },
          [](const auto&) { return std::make_unique<InFloat>(); }};
}

/// The parameters as blocks; one vector where nothing else is known.
ParameterLayout layout_of(const OptimizerPlace& place) {
  return place.layout ? *place.layout : ParameterLayout().add("w", place.parameters);
}

/// Of a type that asks for the blocks of the parameters.
template <class InDouble, class InFloat>
OptimizerFactory block_optimizer() {
  return {[](const auto& place) { return std::make_unique<InDouble>(layout_of(place)); },
          [](const auto& place) { return std::make_unique<InFloat>(layout_of(place)); }};
}

/// Of a type that steps matrices: in a network all but the head, elsewhere all that there are.
template <class InDouble, class InFloat>
OptimizerFactory matrix_optimizer() {
  const auto options = [](const OptimizerPlace& place) {
    if (place.network) return MuonOptions{};
    const ParameterLayout layout = layout_of(place);
    const bool matrices =
        std::any_of(layout.blocks().begin(), layout.blocks().end(),
                    [](const ParameterBlock& block) { return block.rows > 1 && block.cols > 1; });
    if (!matrices) {
      throw InvalidArgument("optimizer", "one for matrices",
                            "another one for this function, which has none; symport train trains "
                            "networks");
    }
    return MuonOptions{.others = std::vector<std::string>{}};
  };
  return {[=](const auto& place) {
            return std::make_unique<InDouble>(layout_of(place), options(place));
          },
          [=](const auto& place) {
            return std::make_unique<InFloat>(layout_of(place), options(place));
          }};
}

/// Of a type that asks for the layers of a network.
template <class InDouble, class InFloat>
OptimizerFactory network_optimizer() {
  const auto network = [](const OptimizerPlace& place) -> const Mlp& {
    if (place.network) return *place.network;
    throw InvalidArgument("optimizer", "one for the layers of a network",
                          "another one for this function; symport train trains networks");
  };
  return {[=](const auto& place) { return std::make_unique<InDouble>(network(place)); },
          [=](const auto& place) { return std::make_unique<InFloat>(network(place)); }};
}

}  // namespace

const std::vector<OptimizerEntry>& optimizers() {
  // The velocity adds up ten gradients.
  static const UsualRate with_velocity{.share = 0.1};
  static const std::vector<OptimizerEntry> entries{
      {"gd",
       "gradient descent (sgd is the same name for mini-batches); with --lr auto the curvature "
       "step J/Phi with backtracking",
       optimizer<GradientDescent<double>, GradientDescent<float>>(),
       optimizer<CurvatureDescent<double>, CurvatureDescent<float>>(),
       {"sgd"}},
      {"momentum",
       "heavy ball",
       optimizer<Momentum<double>, Momentum<float>>(),
       {},
       {},
       with_velocity},
      {"nesterov",
       "Nesterov momentum",
       optimizer<Nesterov<double>, Nesterov<float>>(),
       {},
       {},
       with_velocity},
      {"adagrad",
       "AdaGrad (Duchi et al., 2011)",
       optimizer<AdaGrad<double>, AdaGrad<float>>(),
       {},
       {},
       {0.01, 0.1}},
      {"rmsprop", "RMSprop", optimizer<RmsProp<double>, RmsProp<float>>(), {}, {}, {0.001, 0.01}},
      {"adam",
       "Adam (Kingma and Ba, 2015)",
       optimizer<Adam<double>, Adam<float>>(),
       {},
       {},
       {0.001, 0.1}},
      {"adamw",
       "Adam with decoupled weight decay",
       optimizer<AdamW<double>, AdamW<float>>(),
       {},
       {},
       {0.001, 0.1}},
      {"prodigy",
       "Prodigy (Mishchenko and Defazio, 2023): Adam that finds its own step length; --lr, 1 by "
       "default, multiplies it",
       optimizer<Prodigy<double>, Prodigy<float>>(),
       {},
       {},
       {1.0, 1.0}},
      {"shampoo",
       "Shampoo (Gupta et al., 2018) with the step length of gradient descent and momentum: --lr "
       "as for momentum",
       block_optimizer<Shampoo<double>, Shampoo<float>>(),
       {},
       {},
       with_velocity},
      {"soap",
       "SOAP (Vyas et al., 2024): Adam in the eigenvectors of Shampoo's statistics",
       block_optimizer<Soap<double>, Soap<float>>(),
       {},
       {},
       {0.003, 0.1}},
      {"muon",
       "Muon (Jordan et al., 2024): momentum of matrices with equal singular values; the head and "
       "vectors by AdamW at a twentieth of --lr",
       matrix_optimizer<Muon<double>, Muon<float>>(),
       {},
       {},
       {0.02, 0.1}},
      {"kfac",
       "K-FAC (Martens and Grosse, 2015): natural gradient of networks by layers; --lr has no unit",
       network_optimizer<Kfac<double>, Kfac<float>>(),
       {},
       {},
       {.on_networks = 0.01}},
      {"path_sgd",
       "Path-SGD (Neyshabur et al., 2015): independent of the scale of hidden units; relu, "
       "leaky_relu, linear",
       network_optimizer<PathSgd<double>, PathSgd<float>>()},
      {"g_sgd",
       "G-SGD (Meng et al., 2019): gradient descent on products of weights along paths; relu, "
       "leaky_relu, linear, no biases",
       network_optimizer<Gsgd<double>, Gsgd<float>>()},
      {"newton",
       "damped Newton's method, for small problems (--lr 1 is the full step)",
       optimizer<Newton<double>, Newton<float>>(),
       {},
       {},
       {1.0, 1.0}},
      {"line_search", "gradient descent to the minimum along every gradient; full batches, no --lr",
       OptimizerFactory{}, optimizer<LineSearchDescent<double>, LineSearchDescent<float>>()},
      {"lbfgs",
       "L-BFGS with a strong Wolfe line search (Liu and Nocedal, 1989); full batches, no --lr",
       OptimizerFactory{}, optimizer<Lbfgs<double>, Lbfgs<float>>()},
      {"lm",
       "Levenberg-Marquardt, for sums of squares with at most a few thousand parameters or "
       "targets; full batches, no --lr",
       OptimizerFactory{}, optimizer<LevenbergMarquardt<double>, LevenbergMarquardt<float>>()},
      {"natural_gradient",
       "exact natural gradient (Amari, 1998), for networks of that size with any loss; full "
       "batches, no --lr",
       OptimizerFactory{}, optimizer<NaturalGradient<double>, NaturalGradient<float>>()},
      {"random_direction",
       "a control: steps as long as those of gradient descent, in random directions",
       optimizer<RandomDirection<double>, RandomDirection<float>>()},
  };
  return entries;
}

template <Real Scalar>
std::unique_ptr<BasicOptimizer<Scalar>> make_optimizer(const std::string& name, bool automatic,
                                                       const OptimizerPlace& place) {
  const OptimizerEntry& entry = for_option(
      "optimizer", [&]() -> auto& { return find_entry(optimizers(), name); });
  if (automatic && !entry.automatic) {
    throw OptionError("lr", fmt::format("found 'auto', allowed with the optimizer {} is a rate; "
                                        "auto needs --optimizer gd",
                                        name));
  }
  if (!automatic && !entry.plain) {
    throw OptionError("lr", fmt::format("the optimizer {} finds its own steps: leave it out (or "
                                        "say auto)",
                                        entry.name));
  }
  return for_option("optimizer", [&] {
    auto made = (automatic ? entry.automatic : entry.plain).template make<Scalar>(place);
    made->init(place.parameters);
    return made;
  });
}

template std::unique_ptr<BasicOptimizer<float>> make_optimizer(const std::string&, bool,
                                                               const OptimizerPlace&);
template std::unique_ptr<BasicOptimizer<double>> make_optimizer(const std::string&, bool,
                                                                const OptimizerPlace&);

OptimizerPlace place_of(const TestFunction& function) {
  const auto* completion = dynamic_cast<const MatrixCompletion*>(&function);
  const auto* factorization =
      completion ? &completion->full() : dynamic_cast<const MatrixFactorization*>(&function);
  return factorization ? OptimizerPlace(factorization->layout())
                       : OptimizerPlace(function.dimension());
}

}  // namespace symport::lab
