// SPDX-License-Identifier: MIT
// Specifications of runs: options in, configuration files out and in again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "lab/compare/compare_options.hpp"
#include "lab/config/config_reader.hpp"
#include "lab/config/config_writer.hpp"
#include "lab/runs/run_config.hpp"
#include "lab/runs/weights_teleport.hpp"

namespace symport::lab {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Texts = std::vector<std::pair<std::string, std::string>>;

Arguments arguments_of(const Texts& texts) {
  Arguments arguments;
  for (const auto& [name, text] : texts) arguments.add({name, text, "--" + name});
  return arguments;
}

/// What a table writes, reads and writes again is the same; all these options are in it.
template <class Spec>
void expect_round_trip(const OptionTable<Spec>& table, const std::string& command,
                       const Texts& texts) {
  const std::vector<ConfigEntry> entries = table.write(table.read(arguments_of(texts)));
  const std::string text = config_text("", entries);
  for (const auto& [name, value] : texts) EXPECT_THAT(text, HasSubstr("\n" + name + " = "));
  const Spec again = table.read(parse_config(text, "run.toml", command, table.options()));
  EXPECT_EQ(config_text("", table.write(again)), text);
}

TEST(Specs, EveryOptionOfAFunctionGoesToAFileAndBack) {
  expect_round_trip(function_run_options(), "optimize",
                    {{"function", "quadratic:5,1e3"},
                     {"symmetry", "rotation"},
                     {"start", "-1e-7,3,0,0.1,2"},
                     {"stop-at", "1e-9"},
                     {"optimizer", "adam"},
                     {"lr", "cosine:0.1,9"},
                     {"steps", "12"},
                     {"seed", "18446744073709551615"},
                     {"teleport", "2..8:2"},
                     {"search", "ascent"},
                     {"search-steps", "3"},
                     {"search-rate", "0.3"},
                     {"objective", "gradient_norm"},
                     {"bound", "1.75"},
                     {"cap", "inf"},
                     {"state", "reset"},
                     {"round-trip", "metric"},
                     {"power", "0.5"},
                     {"damping", "0.5"},
                     {"refresh", "7"}});
}

TEST(Specs, EveryOptionOfANetworkGoesToAFileAndBack) {
  expect_round_trip(network_run_options(), "train",
                    {{"data", "csv:/a/b.csv"},
                     {"test", "/c.npz"},
                     {"samples", "100"},
                     {"validation", "7"},
                     {"label", "kind \"x\""},
                     {"target", "price"},
                     {"layers", "4,8,3"},
                     {"weights", "/w.npz"},
                     {"activation", "asinh"},
                     {"bias", "true"},
                     {"loss", "mean_squares"},
                     {"init", "he"},
                     {"precision", "float"},
                     {"optimizer", "rmsprop"},
                     {"lr", "0.25"},
                     {"batch", "20"},
                     {"epochs", "3"},
                     {"patience", "2"},
                     {"stop-at", "0.125"},
                     {"train-loss", "running"},
                     {"evaluate-every", "50"},
                     {"threads", "2"},
                     {"seed", "9"},
                     {"checkpoint-every", "40"},
                     {"teleport", "every:2"},
                     {"teleport-batches", "5"},
                     {"teleport-batch-size", "8"},
                     {"symmetry", "rescale"},
                     {"kappa", "2"},
                     {"allow-partial-batch", "true"},
                     {"round-trip", "kept"},
                     {"power", "0.25"},
                     {"damping", "0.25"},
                     {"refresh", "7"}});
}

TEST(Specs, NumbersAreNumbersAndListsOfWidthsAreWhole) {
  const NetworkRunSpec spec = network_run_options().read(arguments_of(
      {{"data", "regression"}, {"layers", "784,512,10"}, {"lr", "1e-2"}, {"seed", "7"}}));
  const std::string text = config_of(spec);
  EXPECT_THAT(text, HasSubstr("\nlayers = [784, 512, 10]\n"));
  EXPECT_THAT(text, HasSubstr("\nlr = 0.01\n"));
  EXPECT_THAT(text, HasSubstr("\nseed = 7\n"));
  EXPECT_THAT(text, Not(HasSubstr("steps")));
}

TEST(Specs, APartOfTheSamplesIsWrittenAsOne) {
  const NetworkRunSpec spec =
      network_run_options().read(arguments_of({{"data", "regression"}, {"validation", "12.5%"}}));
  EXPECT_EQ(spec.validation.of(200), 25);
  EXPECT_THAT(config_of(spec), HasSubstr("\nvalidation = \"12.5%\"\n"));
  for (const char* bad : {"100%", "-1%", "%", "20 percent", "1e999%", "nan%"}) {
    EXPECT_THROW(as_share().parse(bad), InvalidArgument) << bad;
  }
}

TEST(Specs, NamesAreUnderstoodHoweverTheyAreSpelt) {
  const NetworkRunSpec spec = network_run_options().read(arguments_of({{"data", "Regression"},
                                                                       {"optimizer", "SGD"},
                                                                       {"activation", "LeakyReLU"},
                                                                       {"loss", "MSE"},
                                                                       {"init", "He"},
                                                                       {"precision", "Double"},
                                                                       {"symmetry", "Rescale"},
                                                                       {"batch", "FULL"}}));
  EXPECT_EQ(spec.optimizer, "gd");
  EXPECT_EQ(spec.activation->name(), "leaky_relu:0.1");
  EXPECT_EQ(spec.loss->name(), "mean_squares:mean");
  EXPECT_EQ(spec.how.symmetry, "rescale");
  EXPECT_EQ(resolve(spec).data, "regression");
}

TEST(Specs, AnotherNameOfAnOptionIsTheOption) {
  const Arguments arguments =
      parse_config("learning-rate = 0.5\n", "run.toml", "train", network_run_options().options());
  EXPECT_EQ(network_run_options().read(arguments).learning_rate->text(), "0.5");
}

/// Version 0.1.0 wrote widths as 784.0, rates and seeds as text.
constexpr const char* earlier_config = R"(# A run of symport 0.1.0. To repeat it:
#   symport train --config config.toml

command = "train"
data = "regression"
init = "unit"
layers = [5.0, 6.0, 7.0, 8.0]
activation = "leaky_relu:0.1"
bias = false
loss = "half_sum_squares:sum"
optimizer = "gd"
lr = "1e-4"
batch = "full"
steps = 40
validation = 0
teleport = "5"
symmetry = "gl"
search = "ascent"
search-steps = 10
search-rate = 0.1
bound = inf
kappa = "auto"
allow-partial-batch = false
state = "keep"
precision = "double"
threads = 1
seed = "7"
)";

TEST(Specs, ConfigurationsOfTheVersionBeforeAreRead) {
  const auto spec = std::get<NetworkRunSpec>(parse_run_config(earlier_config, "config.toml"));
  EXPECT_EQ(spec.layers, (std::vector<Index>{5, 6, 7, 8}));
  EXPECT_EQ(spec.learning_rate->constant(), 1e-4);
  EXPECT_EQ(spec.seed, 7u);
  EXPECT_EQ(spec.steps, 40);
  // Its checkpoints are of the same run.
  EXPECT_TRUE(has_identity(earlier_config, identity_of(spec)));
  NetworkRunSpec other = spec;
  other.steps = 400;
  EXPECT_TRUE(has_identity(earlier_config, identity_of(other))) << "a run may be made longer";
  other.learning_rate = RateSpec{2e-4};
  EXPECT_FALSE(has_identity(earlier_config, identity_of(other)));
  EXPECT_FALSE(has_identity("nonsense", identity_of(spec)));
}

template <class Spec>
void expect_plain_names(const OptionTable<Spec>& table) {
  std::set<std::string> names;
  for (const Option& option : table.options()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name << " is there twice";
    EXPECT_EQ(option.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"), std::string::npos);
    EXPECT_FALSE(option.help.empty()) << option.name;
  }
}

TEST(Specs, EveryOptionHasOneNameAndAHelpText) {
  expect_plain_names(function_run_options());
  expect_plain_names(network_run_options());
  expect_plain_names(weights_teleport_options());
  expect_plain_names(compare::compare_options());
}

std::string help_of(const std::vector<Option>& options, const std::string& name) {
  for (const Option& option : options) {
    if (option.name == name) return option.help;
  }
  return "no such option";
}

TEST(Specs, HelpEndsWithTheDefaultOfTheSpecification) {
  const std::vector<Option> options = network_run_options().options();
  EXPECT_THAT(help_of(options, "optimizer"), HasSubstr("(default gd)"));
  EXPECT_THAT(help_of(options, "threads"), HasSubstr("(default 1)"));
  EXPECT_THAT(help_of(options, "batch"), HasSubstr("(default full)"));
  EXPECT_THAT(help_of(options, "kappa"), HasSubstr("(default auto)"));
  EXPECT_THAT(help_of(options, "state"), HasSubstr("(default keep)"));
  EXPECT_THAT(help_of(options, "lr"), HasSubstr("(default 0.01, regression: 0.0001; "));
  EXPECT_THAT(help_of(options, "weights"), Not(HasSubstr("default")));
}

TEST(Specs, AMalformedValueNamesItsPlace) {
  Arguments arguments;
  arguments.add({"data", "regression", "run.toml:1: data"});
  arguments.add({"steps", "-5", "run.toml:3: steps"});
  try {
    network_run_options().read(arguments);
    ADD_FAILURE() << "-5 steps";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "run.toml:3: steps: found '-5', allowed is a whole number >= 0");
  }
}

TEST(Specs, OptimizersHaveRatesOfTheirOwn) {
  const auto on_rosenbrock = [](const std::string& optimizer) {
    const FunctionRunSpec spec{.function = "rosenbrock", .optimizer = optimizer};
    return resolve(spec).learning_rate().initial();
  };
  EXPECT_EQ(on_rosenbrock("gd"), 1e-3);
  EXPECT_EQ(on_rosenbrock("momentum"), 1e-4);
  EXPECT_EQ(on_rosenbrock("adagrad"), 0.1);
  EXPECT_EQ(on_rosenbrock("newton"), 1.0);
  const auto on_iris = [](const std::string& optimizer) {
    return resolve(NetworkRunSpec{.data = "iris", .optimizer = optimizer})
        .learning_rate->rate->initial();
  };
  EXPECT_EQ(on_iris("momentum"), 0.01);
  EXPECT_EQ(on_iris("adam"), 0.001);
}

TEST(Specs, ResolvingTwiceChangesNothing) {
  const NetworkRunSpec network = resolve({.data = "regression", .teleport = at({5})});
  EXPECT_EQ(config_of(resolve(network)), config_of(network));
  const FunctionRunSpec function = resolve(FunctionRunSpec{.function = "booth"}).spec;
  EXPECT_EQ(config_of(resolve(function).spec, ""), config_of(function, ""));
}

}  // namespace
}  // namespace symport::lab
