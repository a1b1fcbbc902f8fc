// SPDX-License-Identifier: MIT
// An experiment.toml, in its full and its quick form.
#include "lab/reproduce/experiment_file.hpp"

#include "lab/runs/run_directory.hpp"
#include "support/bounded.hpp"
#include "support/mutate_inside.hpp"
#include "support/temporary_directory.hpp"

using namespace symport;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const test::TemporaryDirectory directory;
  static const bool made = std::filesystem::create_directory(directory / "figure");
  fuzz::require(made, "there is a directory for the experiment");
  test::put_file(directory / "figure/experiment.toml", std::string(fuzz::text_of(data, size)));
  // Every run has the options of all: runs times options, both bounded by the size.
  const fuzz::MemoryBound bound(size, 64 * fuzz::plain);
  for (const bool quick : {false, true}) {
    try {
      const lab::Experiment experiment = lab::read_experiment(directory.path(), "figure", quick);
      for (const lab::ExperimentRun& run : experiment.runs) {
        const std::string folder = lab::folder_name(run.name);
        fuzz::require(folder.find('/') == std::string::npos && !folder.starts_with("."),
                      "a run's folder is a plain name");
      }
      for (const lab::SweepFigure& figure : experiment.figures) {
        fuzz::require(figure.id.find_first_of("/.") == std::string::npos,
                      "a figure's file is a plain name");
      }
    } catch (const lab::UsageError&) {
    }
  }
  return 0;
}
