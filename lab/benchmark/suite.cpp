// SPDX-License-Identifier: MIT
#include "lab/benchmark/suite.hpp"

#include <algorithm>

#include "lab/benchmark/benchmark_problem.hpp"
#include "lab/data/catalog.hpp"

namespace symport::lab::benchmark {

namespace {

using Names = std::vector<std::string>;

/// All lists one after the other, each name once.
Names all_of(std::initializer_list<Names> lists) {
  Names all;
  for (const Names& list : lists) {
    for (const std::string& name : list) {
      if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
    }
  }
  return all;
}

/// Methods that need no symmetry. A method that does not fit a problem is refused there, with the
/// reason in the table. Where a method finds its own step, its rate is given and not tuned.
const Names first_order{"gd", "momentum", "nesterov", "adagrad", "rmsprop", "adam", "prodigy:lr=1"};
const Names plain = all_of(
    {first_order, {"gd:lr=auto", "line_search", "lbfgs", "newton", "lm", "natural_gradient"}});
/// Those that need the matrices or the layers of a network.
const Names layered{"shampoo", "soap", "muon", "kfac", "path_sgd", "g_sgd"};
/// Teleports of factors to small weights and to flat points are not meant to speed up the next
/// steps: a rehearsal would refuse them.
const Names of_factors{
    "gd+linear_gl:every:10", "gd+teleport:every:10,objective=weight_norm,search=ascent,rehearsal=0",
    "gd+teleport:every:10,objective=sharpness,search=ascent,search-steps=2,rehearsal=0"};

/// Teleports on functions: to the usual destination, by the paper's objective, by a short search
/// with the measured step, and to a random element.
const Names function_teleports{"gd+teleport:every:10",
                               "gd+teleport:every:10,objective=gradient_norm",
                               "gd:lr=auto+teleport:every:5,search=ascent,search-steps=2",
                               "gd+random:every:10", "gd+level_set:every:10"};
const Names round_trips{"gd+round-trip", "momentum+round-trip", "adam+round-trip"};
/// Teleports of networks: rescaling, to fast, small and flat points; batch-exact GL in closed form
/// and by search, the paper's action as printed, neural teleportation, and level sets.
const Names network_teleports{
    "gd+rescale:every:50",
    "gd+rescale:every:50,objective=weight_norm,search=ascent,rehearsal=0",
    "gd+rescale:every:50,objective=sharpness,search=ascent,search-steps=2,rehearsal=0",
    "gd+gl:5",
    "gd:lr=auto+gl:every:5,search-steps=1",
    "adagrad+gl:5,state=reset",
    "gd+paper:5",
    "gd+random:every:50",
    "gd+level_set:every:50"};

/// The same where a schedule counts epochs.
const Names minibatch_teleports{"gd+rescale:0", "gd+rescale:every:5", "gd+gl:0/1",
                                "gd+random:every:5", "gd+level_set:0"};

Names table_names() {
  Names names;
  for (const CatalogEntry& entry : data_tables()) names.push_back(entry.name);
  return names;
}

const Names function_problems{"ellipse",
                              "booth",
                              "rosenbrock",
                              "rosenbrock:5",
                              "quadratic:10,100",
                              "quadratic:50,1000",
                              "quadratic:50,10000",
                              "rotated_quadratic:10,100",
                              "rotated_quadratic:50,1000",
                              "rotated_quadratic:50,10000"};
const Names factorization_problems{"factorization:20,15,4,1",
                                   "factorization:20,15,4,10",
                                   "factorization:20,15,4,100",
                                   "factorization:20,15,4,1000",
                                   "factorization:20,15,4,10000",
                                   "factorization:20,15,4,10,100",
                                   "completion:20,15,3,1,0.6",
                                   "completion:20,15,3,10,0.6",
                                   "completion:20,15,3,100,0.6",
                                   "linear-3",
                                   "linear-5"};
const Names network_problems{"regression", "spirals",    "digits-3",
                             "satimage-3", "diabetes-3", "mnist-2000"};
const Names minibatch_problems{"letter-batches",        "penbased-batches", "satimage-batches",
                               "texture-batches",       "magic-batches",    "mnist-batches",
                               "fashion-mnist-batches", "cifar10-batches"};

}  // namespace

const std::vector<Suite>& suites() {
  static const RateGrid wide{.lowest = 1e-4, .highest = 10.0, .per_decade = 2};
  static const std::vector<Suite> list{
      {.name = "quick",
       .summary = "small problems that need no data: under two minutes on two processors",
       .problems = {"ellipse", "booth", "rosenbrock", "quadratic:10,100",
                    "factorization:20,15,4,10", "completion:20,15,3,10,0.6", "linear-3",
                    "regression", "spirals"},
       .methods = {"gd", "momentum", "adam", "gd:lr=auto", "lbfgs", "newton:lr=1",
                   "gd+teleport:every:10",
                   "gd:lr=auto+teleport:every:5,search=ascent,search-steps=2", "gd+random:every:10",
                   "gd+round-trip", "adam+round-trip", "random_direction"},
       .grid = {.lowest = 1e-5, .highest = 100.0, .per_decade = 2}},
      {.name = "functions",
       .summary = "test functions with their rotations",
       .problems = function_problems,
       .methods = all_of({plain, function_teleports}),
       .grid = {.lowest = 1e-5, .highest = 10.0, .per_decade = 2}},
      {.name = "factorization",
       .summary = "matrix factorization and completion up to condition 10000, linear networks",
       .problems = factorization_problems,
       .methods = all_of({plain, function_teleports, round_trips, of_factors}),
       .grid = wide},
      {.name = "tabular",
       .summary = "tables of classification and regression, networks with two hidden layers",
       .problems = table_names(),
       .methods = all_of({plain, layered, network_teleports, round_trips}),
       .grid = wide},
      {.name = "networks",
       .summary = "the paper's regression, spirals, three hidden layers, images: full batches",
       .problems = network_problems,
       .methods = all_of({plain, layered, network_teleports, round_trips}),
       .grid = wide},
      {.name = "minibatches",
       .summary = "images and the larger tables in mini-batches of 100",
       .problems = minibatch_problems,
       .methods = all_of({first_order, layered, minibatch_teleports, round_trips}),
       .grid = wide},
      {.name = "full",
       .summary = "all of these: a night",
       .problems = all_of({function_problems, factorization_problems, table_names(),
                           network_problems, minibatch_problems}),
       .methods = all_of({plain, layered, of_factors, function_teleports, network_teleports,
                          minibatch_teleports, round_trips}),
       .grid = wide},
  };
  return list;
}

}  // namespace symport::lab::benchmark
