// SPDX-License-Identifier: MIT
#include "harm/harm_grid.hpp"

#include <fmt/format.h>

#include <cmath>

#include "symport/symport.hpp"

namespace symport::harm {

namespace {

constexpr double moved_by = 1e-3;

std::unique_ptr<Optimizer> make_optimizer(const std::string& name) {
  if (name == "momentum") return std::make_unique<Momentum<double>>();
  if (name == "nesterov") return std::make_unique<Nesterov<double>>();
  if (name == "adagrad") return std::make_unique<AdaGrad<double>>();
  if (name == "rmsprop") return std::make_unique<RmsProp<double>>();
  if (name == "adam") return std::make_unique<Adam<double>>();
  return std::make_unique<GradientDescent<double>>();
}

struct Problem {
  std::string family;
  std::unique_ptr<TestFunction> function;
  std::unique_ptr<Symmetry> symmetry;
};

std::vector<Problem> problems() {
  const std::string convex = "ellipse, booth, quadratic";
  std::vector<Problem> all;
  const auto add = [&](const std::string& family, auto function, auto symmetry) {
    all.push_back({family, std::make_unique<decltype(function)>(std::move(function)),
                   std::make_unique<decltype(symmetry)>(std::move(symmetry))});
  };
  add(convex, Ellipse{}, ellipse_rotation());
  add(convex, Booth{}, booth_rotation());
  const Quadratic quadratic = Quadratic::diagonal(10, 100.0);
  add(convex, quadratic, OrthogonalSymmetry(quadratic));
  add("rosenbrock", Rosenbrock{}, rosenbrock_rotation());
  const MatrixFactorization factorization = MatrixFactorization::random(8, 6, 3, 0);
  add("factorization", factorization, FactorPairSymmetry(factorization));
  return all;
}

/// A learning rate with which each optimizer is usable, for a function on which gradient descent
/// is at `descent`.
double usable_rate(const std::string& optimizer, double descent) {
  if (optimizer == "gd") return descent;
  if (optimizer == "momentum" || optimizer == "nesterov") return 0.1 * descent;
  return optimizer == "adagrad" ? 0.1 : 0.01;
}

/// What a pair of runs has in common, in the words of HarmedPair.
struct Setting {
  std::string problem;
  double rate = 0.0;
  double spread = 0.0;
  Index steps = 0;
  int seed = 0;
};

/// Both runs of a pair; `start` is where the plain one begins.
class Pair {
 public:
  Pair(const Objective& objective, const Optimizer& optimizer, Vector start, Setting setting)
      : objective_(objective),
        optimizer_(optimizer),
        start_(std::move(start)),
        setting_(std::move(setting)) {
    options_.max_steps = setting_.steps;
    options_.learning_rate = setting_.rate;
    options_.trace = false;
    loss_ = objective.value(start_);
    plain_ = run(start_, options_);
  }

  void add_to(Table& table, const Cell& cell, const Symmetry* symmetry, const GridOptions& grid,
              Random& random) {
    const auto& [family, rule, schedule] = cell;
    TrainOptions<double> options = options_;
    Vector start = start_;
    if (grid.treatment == Treatment::moved_start) {
      for (double& x : start) x += moved_by * std::abs(x) * random.normal();
    } else {
      options.teleport.symmetry = symmetry;
      options.teleport.schedule = Schedule::parse(schedule);
      if (grid.treatment != Treatment::defaults) options.teleport.rehearsal = 0;
    }
    const RunSummary other = run(start, options);
    if (table[cell].add(loss_, plain_, other) && grid.on_harm) {
      grid.on_harm({family, setting_.problem, rule, schedule, setting_.rate, setting_.spread,
                    setting_.steps, setting_.seed, loss_, plain_, other});
    }
  }

 private:
  RunSummary run(Vector w, const TrainOptions<double>& options) const {
    return train<double>(objective_, optimizer_, w, options);
  }

  const Objective& objective_;
  const Optimizer& optimizer_;
  Vector start_;
  Setting setting_;
  TrainOptions<double> options_;
  double loss_ = 0.0;
  RunSummary plain_;
};

bool rose(double start, const RunSummary& run) {
  return run.status == RunStatus::diverged || !(run.final_loss <= start);
}

std::string per_cent(Index part, Index whole) {
  return fmt::format("{:.0f}", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace

bool Tally::add(double start, const RunSummary& plain, const RunSummary& other) {
  if (rose(start, plain)) return false;
  ++runs;
  moved += other.accepted_teleports() > 0;
  gradients += other.evaluations;
  plain_gradients += plain.evaluations;
  const double floor = 1e-12 * start;
  const double a = std::max(plain.final_loss, floor), b = std::max(other.final_loss, floor);
  const bool lost = rose(start, other);
  const bool harm = lost || b >= 2.0 * a;
  harmed += harm;
  serious += lost || (b >= 10.0 * a && b > 1e-4 * start);
  diverged += other.status == RunStatus::diverged;
  helped += !lost && b <= 0.5 * a;
  return harm;
}

Tally& Tally::operator+=(const Tally& other) {
  runs += other.runs;
  moved += other.moved;
  harmed += other.harmed;
  serious += other.serious;
  diverged += other.diverged;
  helped += other.helped;
  gradients += other.gradients;
  plain_gradients += other.plain_gradients;
  return *this;
}

std::string HarmedPair::brief_report() const {
  std::string where;
  Index left_out = 0;
  for (const Certificate& c : other.teleports) {
    if (!c.accepted) continue;
    if (where.size() > 60) {
      ++left_out;
    } else {
      where += fmt::format("{}{}", where.empty() ? "" : ",", c.step);
    }
  }
  if (left_out > 0) where += fmt::format(" and {} more", left_out);
  return fmt::format(
      "{} {} {} rate {:.3g} spread {} steps {} seed {}: loss {:.3g}, plain {:.3g}, teleported "
      "{:.3g} ({:.3g} times); accepted {} of {}: {}",
      problem, optimizer, schedule, rate, spread, steps, seed, start, plain.final_loss,
      other.final_loss, other.final_loss / plain.final_loss, other.accepted_teleports(),
      other.teleports.size(), where);
}

Table function_grid(const GridOptions& options) {
  Table table;
  for (const Problem& problem : problems()) {
    if (problem.family.find(options.family) == std::string::npos) continue;
    const TestFunction& function = *problem.function;
    for (const std::string& rule : options.optimizers) {
      const auto optimizer = make_optimizer(rule);
      const double usual = usable_rate(rule, function.usual_run().learning_rate);
      for (int seed = options.first_seed; seed < options.first_seed + options.seeds; ++seed) {
        for (const double spread : {0.1, 0.5}) {
          Random random(static_cast<std::uint64_t>(seed));
          Vector start = function.start();
          for (double& x : start) x += spread * std::max(1.0, std::abs(x)) * random.normal();
          for (const double factor : {0.1, 0.3, 1.0, 2.0}) {
            for (const Index steps : options.lengths) {
              Pair pair(function, *optimizer, start,
                        {std::string(function.name()), factor * usual, spread, steps, seed});
              for (const std::string& schedule : options.schedules) {
                pair.add_to(table, {problem.family, rule, schedule}, problem.symmetry.get(),
                            options, random);
              }
            }
          }
        }
      }
    }
  }
  return table;
}

Table network_grid(const GridOptions& options) {
  struct Shape {
    std::vector<Index> widths;
    Index samples;
    Loss::Kind loss;
  };
  const Shape shapes[] = {{{5, 8, 9, 10, 8}, 4, Loss::Kind::half_sum_squares},
                          {{6, 12, 3}, 12, Loss::Kind::cross_entropy},
                          {{8, 16, 16, 4}, 16, Loss::Kind::half_sum_squares}};
  const GeneralLinear<double> general_linear;
  const PositiveScalingSymmetry<double> rescale;
  const std::pair<std::string, const Symmetry*> symmetries[] = {{"gl", &general_linear},
                                                                {"rescale", &rescale}};
  Table table;
  for (const Shape& shape : shapes) {
    const Mlp network(shape.widths, Activation::parse("leaky_relu:0.1"), /*biases=*/false);
    for (int seed = options.first_seed; seed < options.first_seed + options.seeds; ++seed) {
      const auto data_seed = static_cast<std::uint64_t>(seed);
      const SampleSet<> data = shape.loss == Loss::Kind::cross_entropy
                                   ? classification_data({.features = shape.widths.front(),
                                                          .classes = shape.widths.back(),
                                                          .samples = shape.samples,
                                                          .seed = data_seed})
                                   : regression_data({.features = shape.widths.front(),
                                                      .outputs = shape.widths.back(),
                                                      .samples = shape.samples,
                                                      .seed = data_seed});
      const MlpObjective<double> objective(network, Loss(shape.loss), data.X, targets_of(data));
      for (const std::string& rule : options.optimizers) {
        const auto optimizer = make_optimizer(rule);
        for (const double factor : {0.1, 0.3, 1.0}) {
          Random random(data_seed, 1);
          const Vector start = initialize<double>(network, Initialization::fan_in, random);
          const double rate = factor * usable_rate(rule, 0.03);
          for (const Index steps : options.lengths) {
            Pair pair(objective, *optimizer, start,
                      {fmt::format("{}", fmt::join(shape.widths, "-")), rate, 0.0, steps, seed});
            for (const auto& [name, symmetry] : symmetries) {
              if (name.find(options.family) == std::string::npos) continue;
              for (const std::string& schedule : options.schedules) {
                pair.add_to(table, {name, rule, schedule}, symmetry, options, random);
              }
            }
          }
        }
      }
    }
  }
  return table;
}

Tally total(const Table& table) {
  Tally all;
  for (const auto& [cell, tally] : table) all += tally;
  return all;
}

std::string markdown(const Table& table, const std::vector<std::string>& schedules) {
  std::string text = "| | optimizer |";
  for (const std::string& schedule : schedules) text += fmt::format(" `{}` |", schedule);
  text += "\n| --- | --- |";
  for (std::size_t i = 0; i < schedules.size(); ++i) text += " --- |";
  text += "\n";
  std::pair<std::string, std::string> last;
  for (const auto& [cell, tally] : table) {
    const auto& [family, optimizer, schedule] = cell;
    if (last == std::pair(family, optimizer)) continue;
    last = {family, optimizer};
    text += fmt::format("| {} | {} |", family, optimizer);
    for (const std::string& column : schedules) {
      const Tally& t = table.at({family, optimizer, column});
      text += fmt::format(" {}/{}/{}", per_cent(t.harmed, t.runs), per_cent(t.serious, t.runs),
                          per_cent(t.helped, t.runs));
      if (t.diverged > 0) text += fmt::format(" d{}", per_cent(t.diverged, t.runs));
      text += " |";
    }
    text += "\n";
  }
  const Tally all = total(table);
  text += fmt::format(
      "\n{} pairs, {} of them with an accepted teleport: harm {:.1f} %, serious "
      "{:.1f} %, diverged {:.1f} %, help {:.1f} %; {:.2f} times the gradients of plain runs\n",
      all.runs, all.moved, 100.0 * static_cast<double>(all.harmed) / static_cast<double>(all.runs),
      100.0 * static_cast<double>(all.serious) / static_cast<double>(all.runs),
      100.0 * static_cast<double>(all.diverged) / static_cast<double>(all.runs),
      100.0 * static_cast<double>(all.helped) / static_cast<double>(all.runs),
      all.gradients / all.plain_gradients);
  return text;
}

}  // namespace symport::harm
