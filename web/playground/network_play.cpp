// SPDX-License-Identifier: MIT
#include "network_play.hpp"

#include <cmath>

#include "symport/training/train.hpp"
#include "words.hpp"

namespace symport::playground {

namespace {

/// As the program draws them: apart from the numbers for the data.
constexpr std::uint64_t weights_stream = 1;

lab::NetworkRunSpec network_spec_of(const std::vector<std::string>& words) {
  const lab::Arguments arguments = arguments_of(words, lab::network_run_options().options());
  return arguments.explained([&] {
    lab::NetworkRunSpec spec = lab::resolve(lab::network_run_options().read(arguments));
    if (spec.minibatch()) throw lab::OptionError("batch", "a page trains on full batches");
    if (!spec.validation.empty()) throw lab::OptionError("validation", "a page holds none back");
    if (spec.scaling.value_or(lab::Scaling::none) != lab::Scaling::none) {
      throw lab::OptionError("scaling", "a page takes its samples as they are");
    }
    if (spec.weights) throw lab::OptionError("weights", "a page reads no files");
    if (spec.precision != lab::Precision::float64) {
      throw lab::OptionError("precision", "a page computes in double");
    }
    return spec;
  });
}

SampleSet<> generated(const lab::NetworkRunSpec& spec) {
  const lab::DataSource source = lab::parse_data_source(spec.data);
  if (!source.generated) throw lab::UsageError("--data", "a page has generated data only: spirals");
  return source.generated->make(spec.layers.front(), spec.layers.back(),
                                spec.samples.value_or(source.generated->samples), spec.seed);
}

Targets<double> targets_of(const SampleSet<>& data) {
  return data.classes.empty() ? Targets<double>(data.Y) : Targets<double>(data.classes);
}

Vector drawn(const Mlp& network, const lab::NetworkRunSpec& spec) {
  Random random(spec.seed, weights_stream);
  return initialize<double>(network, *spec.init, random);
}

}  // namespace

NetworkPlay::NetworkPlay(const std::vector<std::string>& words)
    : spec_(network_spec_of(words)),
      data_(generated(spec_)),
      network_(spec_.layers, *spec_.activation, spec_.biases),
      start_(drawn(network_, spec_)),
      w_(start_),
      objective_(network_, spec_.loss.value_or(Loss::usual(!data_.classes.empty())), data_.X,
                 targets_of(data_)),
      plan_(lab::plan_teleport<double>(spec_.how, *spec_.activation)) {
  const bool automatic = spec_.learning_rate && spec_.learning_rate->automatic();
  optimizer_ = lab::with_round_trips<double>(
      lab::make_optimizer<double>(spec_.optimizer, automatic, network_), objective_, spec_.trip,
      spec_.learning_rate);
}

std::string NetworkPlay::about() const {
  std::string text = fmt::format("parameters\t{}\n", w_.size());
  for (const lab::ConfigEntry& entry : lab::network_run_options().write(spec_)) {
    text += "--" + entry.key + "\t" + lab::text_of(entry.value) + "\n";
  }
  return text;
}

void NetworkPlay::run(const std::function<bool()>& goes_on) {
  const LearningRate usual = lab::parse_data_source(spec_.data).usual_run().learning_rate;
  w_ = start_;
  news_.clear();
  TrainOptions<double> options{
      .max_steps = *spec_.steps,
      .learning_rate = spec_.learning_rate->rate.value_or(usual),
      .teleport = plan_.teleportation(spec_.teleport),
      .stop = {.loss_below = spec_.stop_at.value_or(Stopping{}.loss_below)},
      .seed = spec_.seed};
  options.watcher = [&](const TraceRow& row) {
    news_.push_back(static_cast<double>(row.step));
    news_.push_back(row.loss);
    return goes_on();
  };
  summary_ = train<double>(objective_, *optimizer_, w_, options);
}

std::vector<double> NetworkPlay::samples() const {
  std::vector<double> numbers;
  for (Index i = 0; i < data_.samples(); ++i) {
    const double label = data_.classes.empty()
                             ? 0.0
                             : static_cast<double>(data_.classes[static_cast<std::size_t>(i)]);
    numbers.insert(numbers.end(), {data_.X(0, i), data_.X(1, i), label});
  }
  return numbers;
}

std::vector<double> NetworkPlay::region(const View& view) const {
  if (spec_.layers.front() != 2 || spec_.layers.back() != 2) {
    throw lab::UsageError("--layers", "a plane shows networks from 2 inputs to 2 outputs");
  }
  const Index count = Index{view.columns} * view.rows;
  Matrix X(2, count);
  for (Index row = 0; row < view.rows; ++row) {
    for (Index column = 0; column < view.columns; ++column) {
      const auto place = [](Index i, int n, double from, double to) {
        return from + (to - from) * static_cast<double>(i) / (n - 1);
      };
      X.col(row * view.columns + column) << place(column, view.columns, view.x0, view.x1),
          place(row, view.rows, view.y0, view.y1);
    }
  }
  const MlpObjective<double> there(network_, objective_.loss(), X,
                                   std::vector<Index>(static_cast<std::size_t>(count), 0));
  const Matrix Z = there.outputs(w_);
  std::vector<double> numbers(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) {
    numbers[static_cast<std::size_t>(i)] = 1.0 / (1.0 + std::exp(Z(0, i) - Z(1, i)));
  }
  return numbers;
}

std::vector<double> NetworkPlay::news() { return std::exchange(news_, {}); }

}  // namespace symport::playground
