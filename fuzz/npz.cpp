// SPDX-License-Identifier: MIT
// Named arrays in a zip archive, and what is made of them: weights and samples.
#include "symport/data/npz.hpp"

#include "support/bounded.hpp"
#include "support/unpack.hpp"
#include "symport/core/status.hpp"
#include "symport/data/model_file.hpp"
#include "symport/data/sample_set.hpp"

using namespace symport;

namespace {

template <class Action>
void attempt(Action action) try {
  action();
} catch (const InvalidArgument&) {
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t largest, unsigned int seed) {
  return fuzz::mutate_inside(data, size, largest, seed, fuzz::mutate_npz);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  const fuzz::MemoryBound bound(size, 4 * fuzz::compressed);  // read, and converted
  const ArrayMap arrays = parse_npz(fuzz::text_of(data, size), "input");
  attempt([&] { model_from_arrays<double>(arrays, "input"); });
  attempt([&] { model_from_arrays<float>(arrays, "input"); });
  attempt([&] { samples_from_arrays<double>(arrays, "input", {10}); });
  attempt([&] { samples_from_arrays<float>(arrays, "input"); });
  return 0;
} catch (const InvalidArgument&) {
  return 0;
}
