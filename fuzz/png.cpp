// SPDX-License-Identifier: MIT
// A PNG whose rows are images.
#include "lab/data/png_rows.hpp"
#include "support/bounded.hpp"
#include "support/forged_png.hpp"
#include "support/unpack.hpp"
#include "symport/core/invalid_argument.hpp"

using namespace symport;

namespace {

std::uint32_t word(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char byte : bytes.substr(0, 4)) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

/// One chunk mutated (an IDAT behind its compression), all with right checksums.
std::string mutate_chunk(std::string_view bytes, std::size_t largest, unsigned int seed) try {
  constexpr std::size_t signature = 8;
  if (bytes.size() < signature) return {};
  std::string made(bytes.substr(0, signature));
  bytes.remove_prefix(signature);
  unsigned int chosen = seed % 6;
  while (bytes.size() >= 12 && word(bytes) <= bytes.size() - 12) {
    const std::string type(bytes.substr(4, 4));
    std::string content(bytes.substr(8, word(bytes)));
    bytes.remove_prefix(12 + content.size());
    if (chosen-- == 0) {
      if (type == "IDAT" && seed / 6 % 4 != 0 && content.size() > 6) {
        // Behind the two bytes of zlib's header stands raw deflate.
        std::string pixels =
            fuzz::inflated(std::string_view(content).substr(2), detail::Compression::raw_deflate);
        fuzz::mutate(pixels, 4096);
        content = test::packed(pixels, MAX_WBITS);
      } else {
        fuzz::mutate(content, std::min<std::size_t>(largest, content.size() + 16));
      }
    }
    made += test::png_chunk(type, content);
  }
  return made + std::string(bytes);
} catch (const InvalidArgument&) {
  return {};
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t largest, unsigned int seed) {
  return fuzz::mutate_inside(data, size, largest, seed, mutate_chunk);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  const fuzz::MemoryBound bound(size, fuzz::compressed);
  const Array array = lab::parse_png_rows(fuzz::text_of(data, size), "input");
  fuzz::require(array.shape.size() == 3, "there are rows, pixels and channels");
  const auto& values = std::get<std::vector<std::uint8_t>>(array.values);
  fuzz::require(
      static_cast<Index>(values.size()) == array.shape[0] * array.shape[1] * array.shape[2],
      "there are as many values as the shape says");
  return 0;
} catch (const InvalidArgument&) {
  return 0;
}
