// SPDX-License-Identifier: MIT
#include "symport/data/synthetic.hpp"

#include <cmath>
#include <numbers>
#include <string>

#include "symport/core/invalid_argument.hpp"
#include "symport/core/random.hpp"

namespace symport {

namespace {

/// Streams of their own: the same seed may also initialise weights and drive searches.
constexpr std::uint64_t input_stream = 0x64617461'00000000;
constexpr std::uint64_t target_stream = input_stream + 1;
constexpr std::uint64_t centre_stream = input_stream + 2;
constexpr std::uint64_t cloud_stream = input_stream + 3;
constexpr std::uint64_t spiral_stream = input_stream + 4;

void require_positive(const char* field, Index value) {
  if (value < 1) throw InvalidArgument(field, std::to_string(value), "an integer >= 1");
}

void require_size(const char* field, double value) {
  if (!(value >= 0.0) || !std::isfinite(value)) {
    throw InvalidArgument(field, std::to_string(value), "a finite number >= 0");
  }
}

Matrix uniform_matrix(Index rows, Index cols, Random random) {
  Matrix matrix(rows, cols);
  for (double& entry : matrix.reshaped()) entry = random.uniform();
  return matrix;
}

}  // namespace

SampleSet<> regression_data(const RegressionOptions& options) {
  require_positive("features", options.features);
  require_positive("outputs", options.outputs);
  require_positive("samples", options.samples);
  SampleSet<> samples;
  samples.X = uniform_matrix(options.features, options.samples, Random(options.seed, input_stream));
  samples.Y = uniform_matrix(options.outputs, options.samples, Random(options.seed, target_stream));
  return samples;
}

SampleSet<> classification_data(const ClassificationOptions& options) {
  require_positive("features", options.features);
  require_positive("classes", options.classes);
  require_positive("samples", options.samples);
  require_size("spread", options.spread);
  const Matrix centre =
      Random(options.seed, centre_stream).normal_matrix(options.features, options.classes);
  SampleSet<> samples;
  samples.X = options.spread *
              Random(options.seed, cloud_stream).normal_matrix(options.features, options.samples);
  for (Index i = 0; i < options.samples; ++i) {
    samples.classes.push_back(i % options.classes);
    samples.X.col(i) += centre.col(i % options.classes);
  }
  return samples;
}

SampleSet<> spiral_data(const SpiralOptions& options) {
  require_positive("samples", options.samples);
  require_size("turns", options.turns);
  require_size("noise", options.noise);
  Random random(options.seed, spiral_stream);
  SampleSet<> samples;
  samples.X.resize(2, options.samples);
  for (Index i = 0; i < options.samples; ++i) {
    const Index arm = i % 2;
    const double radius = std::sqrt(random.uniform());
    const double angle =
        std::numbers::pi * (2.0 * options.turns * radius + static_cast<double>(arm));
    samples.classes.push_back(arm);
    samples.X.col(i) << radius * std::cos(angle), radius * std::sin(angle);
    samples.X.col(i) += options.noise * random.normal_matrix(2, 1);
  }
  return samples;
}

}  // namespace symport
