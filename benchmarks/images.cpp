// SPDX-License-Identifier: MIT
#include "images.hpp"

#include <cmath>
#include <cstdlib>
#include <numeric>

#include "symport/core/random.hpp"
#include "symport/objectives/initialization.hpp"

namespace symport::benchmarks {

namespace {

std::filesystem::path data_directory() {
  if (const char* data = std::getenv("XDG_DATA_HOME"); data && *data) {
    return std::filesystem::path(data) / "symport";
  }
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home ? home : ".") / ".local/share/symport";
}

/// The file, or the one with .gz behind.
std::filesystem::path plain_or_gzipped(std::filesystem::path path) {
  if (!std::filesystem::exists(path)) path += ".gz";
  return path;
}

/// One smooth random pattern per class, with noise: learnable, and no two images are dependent.
ImageSet generate() {
  constexpr Index count = 60000, side = 28, classes = 10;
  Random random(2022);
  const Matrix patterns = random.normal_matrix(side * side, classes);
  ImageSet set;
  set.rows = set.cols = side;
  set.pixels.reserve(static_cast<std::size_t>(count * side * side));
  for (Index i = 0; i < count; ++i) {
    const auto c = static_cast<Index>(random.below(classes));
    set.classes.push_back(static_cast<std::uint8_t>(c));
    for (Index j = 0; j < side * side; ++j) {
      const double grey = 40.0 * (patterns(j, c) + 4.0 * random.uniform(-1.0, 1.0));
      set.pixels.push_back(static_cast<std::uint8_t>(std::clamp(grey, 0.0, 255.0)));
    }
  }
  return set;
}

}  // namespace

Images load_images() {
  const auto directory = data_directory() / "mnist";
  const auto pixels = plain_or_gzipped(directory / "train-images-idx3-ubyte");
  const auto classes = plain_or_gzipped(directory / "train-labels-idx1-ubyte");
  if (std::filesystem::exists(pixels) && std::filesystem::exists(classes)) {
    return {ImageSource<float>(read_idx_images(pixels, classes)), true};
  }
  return {ImageSource<float>(generate()), false};
}

ImageProblem image_problem(const ImageSource<float>& images, Index samples) {
  std::vector<Index> first(static_cast<std::size_t>(samples));
  std::iota(first.begin(), first.end(), Index{0});
  MatrixOf<float> X;
  Targets<float> targets;
  images.load(first, X, targets);
  const Mlp network({784, 512, 512, 10}, Activation::parse("leaky_relu:0.1"));
  Random random(1);
  VectorOf<float> w = initialize<float>(network, Initialization::fan_in, random);
  return {MlpObjective<float>(network, Loss::parse("cross_entropy:mean"), X, targets), w};
}

}  // namespace symport::benchmarks
