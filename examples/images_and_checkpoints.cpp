// SPDX-License-Identifier: MIT
// SGD with teleports on 8-bit images (Algorithm 2), stopped halfway and resumed from a file: the
// weights are those of a run that was never stopped, bit for bit.
#include <filesystem>
#include <iostream>
#include <symport/symport.hpp>

namespace {

using namespace symport;

/// Noisy images of 6 x 6 pixels: class k has a bright row k.
ImageSet images() {
  ImageSet set;
  set.rows = set.cols = 6;
  Random random(1);
  for (Index i = 0; i < 600; ++i) {
    const Index bright = i % 6;
    set.classes.push_back(static_cast<std::uint8_t>(bright));
    for (Index pixel = 0; pixel < 36; ++pixel) {
      const double light = (pixel / 6 == bright ? 120.0 : 30.0) + 100.0 * random.uniform();
      set.pixels.push_back(static_cast<std::uint8_t>(light));
    }
  }
  return set;
}

}  // namespace

int main() {
  const ImageSource<float> source(images());
  const Split parts = split(source.samples(), /*validation=*/100, /*seed=*/0);
  const Mlp network({36, 32, 32, 6}, Activation::parse("leaky_relu"), /*biases=*/true);
  const MlpObjective<float> objective(network, Loss(Loss::Kind::cross_entropy));
  const PositiveScalingSymmetry<float> symmetry;
  const Momentum<float> optimizer;
  MinibatchOptions<float> options{.epochs = 12, .batch_size = 20, .learning_rate = 0.002};
  options.teleport.symmetry = &symmetry;
  options.teleport.schedule = Schedule::parse("1,3");

  Random random(7);
  const VectorOf<float> start = initialize<float>(network, Initialization::fan_in, random);
  VectorOf<float> whole = start;
  const RunSummary run =
      train_minibatch<float>(objective, source, parts, optimizer, whole, options);
  std::cout << run.full_report();

  // The same, stopped in the third epoch by its watcher. What `save` is given goes to a file.
  const auto file = std::filesystem::temp_directory_path() / "symport_example_checkpoint.npz";
  MinibatchOptions<float> stopped = options;
  stopped.watcher = [](const TraceRow& row) { return row.step < 57; };
  stopped.checkpoints.save = [&](const Checkpoint<float>& at) {
    write_npz(file, checkpoint_arrays(at));
  };
  VectorOf<float> w = start;
  train_minibatch<float>(objective, source, parts, optimizer, w, stopped);

  const auto checkpoint = checkpoint_from_arrays<float>(read_npz(file), file.string());
  std::filesystem::remove(file);
  MinibatchOptions<float> rest = options;
  rest.checkpoints.resume = &checkpoint;
  VectorOf<float> resumed(w.size());
  train_minibatch<float>(objective, source, parts, optimizer, resumed, rest);
  const bool same = (resumed.array() == whole.array()).all();
  std::cout << "stopped after " << checkpoint.step
            << " steps and resumed: " << (same ? "the same weights" : "OTHER WEIGHTS") << '\n';
  return same && run.trace.rows.back().valid_accuracy > 0.9 ? 0 : 1;
}
