// SPDX-License-Identifier: MIT
// A configuration file (TOML), as options of `symport train` and `symport optimize`.
#include "lab/config/config_file.hpp"

#include "commands/optimize.hpp"
#include "commands/train.hpp"
#include "support/bounded.hpp"
#include "support/mutate_inside.hpp"
#include "support/temporary_directory.hpp"

using namespace symport;

namespace {

template <class Action>
void attempt(Action action) try {
  action();
} catch (const lab::UsageError&) {
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const test::TemporaryDirectory directory;
  static const std::filesystem::path file = directory / "config.toml";
  static const cli::Command train = cli::train_command(), optimize = cli::optimize_command();
  test::put_file(file, std::string(fuzz::text_of(data, size)));
  const fuzz::MemoryBound bound(size, 4 * fuzz::plain);
  attempt([&] { lab::read_config_values(file, "config"); });
  attempt([&] { lab::read_training_options(lab::read_config(file, train.name, train.keys())); });
  attempt(
      [&] { lab::read_optimize_options(lab::read_config(file, optimize.name, optimize.keys())); });
  return 0;
}
