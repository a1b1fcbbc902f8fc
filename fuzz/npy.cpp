// SPDX-License-Identifier: MIT
// One array in NumPy's format; what was read is written as bytes that give the same array.
#include "symport/data/npy.hpp"

#include "data/npy_format.hpp"
#include "support/bounded.hpp"
#include "support/mutate_inside.hpp"
#include "symport/core/invalid_argument.hpp"

using namespace symport;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  const fuzz::MemoryBound bound(size, fuzz::plain);
  const Array array = parse_npy(fuzz::text_of(data, size), "input");
  const std::string values(detail::value_bytes(array));
  const Array again = parse_npy(detail::npy_header(array) + values, "written");
  fuzz::require(again.shape == array.shape && again.order == array.order &&
                    again.dtype() == array.dtype() && detail::value_bytes(again) == values,
                "an array that was read is written as the same array");
  return 0;
} catch (const InvalidArgument&) {
  return 0;
}
