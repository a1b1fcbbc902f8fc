// SPDX-License-Identifier: MIT
// The benchmarks behind ./bench: bench_symport --frameworks DIR [--json FILE] [--figures DIR]
// [--rounds N] [PART...]
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "epoch.hpp"
#include "parts.hpp"
#include "symport/core/memory.hpp"

namespace {

using namespace symport::benchmarks;

struct Part {
  std::string_view name;
  void (*run)(Bench&);
};
constexpr std::array<Part, 14> parts{{{"sgd", bench_sgd},
                                      {"optimizers", bench_optimizers},
                                      {"ascent", bench_ascent},
                                      {"teleport", bench_teleport},
                                      {"rescale", bench_rescale},
                                      {"batches", bench_batches},
                                      {"figure6", bench_figure6},
                                      {"threads", bench_threads},
                                      {"epoch", bench_epoch},
                                      {"rosenbrock", bench_rosenbrock},
                                      {"round-trips", bench_round_trips},
                                      {"baselines", bench_baselines},
                                      {"full-batches", bench_full_batches},
                                      {"growth", bench_growth}}};

/// The programs of benchmarks/frameworks, run by the Python of build/venv.
std::vector<FrameworkProgram> framework_programs(const std::filesystem::path& folder) {
  const std::string python = folder / "../../build/venv/bin/python";
  const std::string torch = folder / "torch_side.py", jax = folder / "jax_side.py";
  return {{"PyTorch", {python, torch, "eager"}},
          {"torch.compile", {python, torch, "compile"}},
          {"JAX", {python, jax}}};
}

[[noreturn]] void usage(const std::string& wrong) {
  std::string names;
  for (const Part& part : parts) names += fmt::format(" {}", part.name);
  fmt::print(
      stderr,
      "bench: {}; usage: ./bench [--json FILE] [--figures DIR] [--rounds N] [PART...], parts:{}\n",
      wrong, names);
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  symport::keep_freed_memory();  // as the program does
  std::string frameworks, json, figures;
  std::vector<std::string_view> chosen;
  int rounds = 15;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 >= argc) usage(fmt::format("{} needs a value", argument));
      return argv[++i];
    };
    if (argument == "--one-epoch") return one_epoch(std::atoi(value().c_str()));
    if (argument == "--frameworks") {
      frameworks = value();
    } else if (argument == "--json") {
      json = value();
    } else if (argument == "--figures") {
      figures = value();
    } else if (argument == "--rounds") {
      rounds = std::atoi(value().c_str());
      if (rounds < 1) usage("--rounds must be a whole number >= 1");
    } else {
      bool known = false;
      for (const Part& part : parts) known = known || part.name == argument;
      if (!known) usage(fmt::format("unknown part '{}'", argument));
      chosen.push_back(argument);
    }
  }
  try {
    Report report;
    const Images images = load_images();
    report.remark(images.mnist
                      ? "images: MNIST"
                      : "images: generated, of MNIST's shape (symport data fetch mnist: the real)");
    Bench bench{report, {}, images, rounds, figures};
    for (const FrameworkProgram& program : framework_programs(frameworks)) {
      bench.frameworks.push_back(std::make_unique<Framework>(program));
    }
    for (const Part& part : parts) {
      const bool wanted =
          chosen.empty() || std::find(chosen.begin(), chosen.end(), part.name) != chosen.end();
      if (wanted) part.run(bench);
    }
    if (!json.empty()) report.write_json(json);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
