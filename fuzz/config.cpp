// SPDX-License-Identifier: MIT
// A configuration file (TOML), as options of `symport train` and `symport optimize`.
#include "lab/config/config_reader.hpp"

#include "lab/runs/run_config.hpp"
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
  test::put_file(file, std::string(fuzz::text_of(data, size)));
  const fuzz::MemoryBound bound(size, 4 * fuzz::plain);
  attempt([&] { lab::parse_run_config(lab::read_config_text(file, "config"), "config"); });
  for (const char* command : {"train", "optimize"}) {
    attempt([&] {
      const std::string text = lab::read_config_text(file, "config");
      const auto arguments = lab::parse_config(text, "config", command, lab::run_options(command));
      lab::entries_of(lab::read_run_spec(command, arguments));
    });
  }
  return 0;
}
