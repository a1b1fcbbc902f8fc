// SPDX-License-Identifier: MIT
#include "symport/data/idx.hpp"

#include <array>

#include "data/array_check.hpp"
#include "data/byte_source.hpp"
#include "data/input.hpp"
#include "symport/core/status.hpp"

namespace symport {

namespace {

constexpr std::string_view gzip_magic = "\x1f\x8b";

std::array<unsigned char, 4> read_word(detail::ByteSource& source, const std::string& name) {
  std::array<unsigned char, 4> word{};
  if (source.read({reinterpret_cast<char*>(word.data()), word.size()}) < word.size()) {
    throw InvalidArgument(name, "the end of the data inside the header", "a complete IDX file");
  }
  return word;
}

Array read_source(detail::ByteSource& source, const std::string& name) {
  constexpr int unsigned_bytes = 0x08;
  constexpr int most_dimensions = 4;
  const auto magic = read_word(source, name);
  if (magic[0] != 0 || magic[1] != 0) {
    throw InvalidArgument(name, "no IDX magic number", "an IDX file, which begins with two zeros");
  }
  if (magic[2] != unsigned_bytes) {
    throw InvalidArgument(name, "IDX element type " + std::to_string(magic[2]),
                          "8, unsigned bytes");
  }
  if (magic[3] < 1 || magic[3] > most_dimensions) {
    throw InvalidArgument(name, std::to_string(magic[3]) + " dimensions", "1 to 4");
  }
  Array array;
  for (int i = 0; i < magic[3]; ++i) {
    Index extent = 0;
    for (const unsigned char byte : read_word(source, name)) extent = extent << 8 | byte;
    array.shape.push_back(extent);
  }
  const std::optional<Index> count = detail::element_count(array.shape);
  if (!count) {
    throw InvalidArgument(name, "shape " + shape_string(array.shape),
                          "a number of values that fits the memory");
  }
  auto values = detail::read_values<std::uint8_t>(source, *count);
  if (!values) {
    throw InvalidArgument(name, "fewer bytes than shape " + shape_string(array.shape) + " needs",
                          std::to_string(*count) + " behind the header");
  }
  source.expect_end();
  array.values = std::move(*values);
  return array;
}

/// The bytes of an array with `dimensions` dimensions, moved out of it.
std::vector<std::uint8_t> take_bytes(Array& array, std::size_t dimensions,
                                     const std::filesystem::path& path) {
  if (array.shape.size() != dimensions) {
    throw InvalidArgument(path.string(), "shape " + shape_string(array.shape),
                          dimensions == 1 ? "one dimension, the classes"
                                          : "three dimensions, images x rows x columns");
  }
  return std::move(std::get<std::vector<std::uint8_t>>(array.values));
}

}  // namespace

Array parse_idx(std::string_view bytes, const std::string& name) {
  if (bytes.starts_with(gzip_magic)) {
    detail::InflateSource source(bytes, detail::Compression::gzip, name);
    return read_source(source, name);
  }
  detail::MemorySource source(bytes, name);
  return read_source(source, name);
}

Array read_idx(const std::filesystem::path& path) {
  return parse_idx(detail::read_file(path), path.string());
}

ImageSet read_idx_images(const std::filesystem::path& images,
                         const std::filesystem::path& classes) {
  Array image_array = read_idx(images);
  Array class_array = read_idx(classes);
  ImageSet set;
  set.pixels = take_bytes(image_array, 3, images);
  set.classes = take_bytes(class_array, 1, classes);
  if (class_array.shape[0] != image_array.shape[0]) {
    throw InvalidArgument(
        classes.string(), std::to_string(class_array.shape[0]) + " classes",
        std::to_string(image_array.shape[0]) + ", the images in " + images.string());
  }
  if (set.pixels.empty()) {
    throw InvalidArgument(images.string(), "shape " + shape_string(image_array.shape),
                          "at least one image of at least one pixel");
  }
  set.rows = image_array.shape[1];
  set.cols = image_array.shape[2];
  return set;
}

}  // namespace symport
