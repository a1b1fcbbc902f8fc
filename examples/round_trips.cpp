// SPDX-License-Identifier: MIT
// Images from files in MNIST's format, two threads, and mini-batches of round trips: every step is
// taken by AdamW in a borrowed gauge and comes back. AdamW's learning rate keeps its meaning.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <symport/symport.hpp>

namespace {

using namespace symport;

/// Noisy images of 6 x 6 pixels in two IDX files: class k has a bright row k.
void write_images(const std::filesystem::path& folder) {
  constexpr Index count = 600;
  Random random(1);
  std::ofstream images(folder / "train-images-idx3-ubyte", std::ios::binary);
  std::ofstream classes(folder / "train-labels-idx1-ubyte", std::ios::binary);
  images << idx_header({count, 6, 6});
  classes << idx_header({count});
  for (Index i = 0; i < count; ++i) {
    classes.put(static_cast<char>(i % 6));
    for (Index pixel = 0; pixel < 36; ++pixel) {
      const double light = (pixel / 6 == i % 6 ? 120.0 : 30.0) + 100.0 * random.uniform();
      images.put(static_cast<char>(light));
    }
  }
}

}  // namespace

int main() {
  const auto folder = std::filesystem::temp_directory_path() / "symport_example_images";
  std::filesystem::create_directories(folder);
  write_images(folder);
  const IdxFiles files = find_idx_files(folder);
  const ImageSource<float> source(read_idx_images(files.training.images, files.training.classes));
  std::filesystem::remove_all(folder);

  const Split parts = split(source.samples(), /*validation=*/100, /*seed=*/0);
  const Mlp network({36, 32, 32, 6}, Activation::parse("relu"), /*biases=*/true);
  const MlpObjective<float> objective(network, Loss(Loss::Kind::cross_entropy));
  Random random(7);
  VectorOf<float> w = initialize<float>(network, Initialization::he, random);

  const ThreadScope threads(2);
  const RoundTrip<float> optimizer(std::make_shared<AdamW<float>>());
  const RunSummary run =
      train_minibatch<float>(objective, source, parts, optimizer, w,
                             {.epochs = 6, .batch_size = 100, .learning_rate = 0.01});
  std::cout << run.full_report();
  return run.trace.rows.back().valid_accuracy > 0.9 ? 0 : 1;
}
