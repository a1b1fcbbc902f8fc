// SPDX-License-Identifier: MIT
// Named arrays in a zip archive, and what is made of them: weights and samples.
#include "support/archive.hpp"
#include "symport/data/model_file.hpp"
#include "symport/data/sample_set.hpp"

using namespace symport;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t factor = 4 * fuzz::compressed;  // read, and converted
  fuzz::read_archive(data, size, factor, [](const ArrayMap& arrays) {
    fuzz::attempt([&] { model_from_arrays<double>(arrays, "input"); });
    fuzz::attempt([&] { model_from_arrays<float>(arrays, "input"); });
    fuzz::attempt([&] { samples_from_arrays<double>(arrays, "input", {10}); });
    fuzz::attempt([&] { samples_from_arrays<float>(arrays, "input"); });
  });
  return 0;
}
