// SPDX-License-Identifier: MIT
// Bytes in the IDX format, plain or gzipped.
#include "symport/data/idx.hpp"

#include "support/bounded.hpp"
#include "support/unpack.hpp"
#include "symport/core/invalid_argument.hpp"

using namespace symport;

namespace {

std::string mutate_gzip(std::string_view bytes, std::size_t largest, unsigned int) try {
  std::string text = fuzz::inflated(bytes, detail::Compression::gzip);
  fuzz::mutate(text, largest);
  return test::gzipped(text);
} catch (const InvalidArgument&) {
  return {};
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t largest, unsigned int seed) {
  return fuzz::mutate_inside(data, size, largest, seed, mutate_gzip);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  const fuzz::MemoryBound bound(size, fuzz::compressed);
  const Array array = parse_idx(fuzz::text_of(data, size), "input");
  const auto& values = std::get<std::vector<std::uint8_t>>(array.values);
  const std::string_view bytes(reinterpret_cast<const char*>(values.data()), values.size());
  fuzz::require(parse_idx(idx_header(array.shape) + std::string(bytes), "written") == array,
                "an array that was read is written as the same array");
  return 0;
} catch (const InvalidArgument&) {
  return 0;
}
