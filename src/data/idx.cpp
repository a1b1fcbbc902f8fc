// SPDX-License-Identifier: MIT
#include "symport/data/idx.hpp"

#include <array>
#include <initializer_list>

#include "data/array_check.hpp"
#include "data/byte_source.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport {

namespace {

constexpr std::string_view gzip_magic = "\x1f\x8b";
constexpr int unsigned_bytes = 0x08;
constexpr int most_dimensions = 4;

std::array<unsigned char, 4> read_word(detail::ByteSource& source, const std::string& name) {
  std::array<unsigned char, 4> word{};
  if (source.read({reinterpret_cast<char*>(word.data()), word.size()}) < word.size()) {
    throw InvalidArgument(name, "the end of the data inside the header", "a complete IDX file");
  }
  return word;
}

Array read_source(detail::ByteSource& source, const std::string& name) {
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

[[noreturn]] void refuse_shape(const Array& array, const std::filesystem::path& path,
                               const char* allowed) {
  throw InvalidArgument(path.string(), "shape " + shape_string(array.shape), allowed);
}

/// The first of the file's names that is there.
std::optional<std::filesystem::path> find_file(const std::filesystem::path& directory,
                                               const std::string& stem,
                                               std::initializer_list<const char*> dimensions) {
  for (const char* ending : {"", ".gz"}) {
    for (const char* separator : {"-", "."}) {
      for (const char* dimension : dimensions) {
        std::filesystem::path path = directory / (stem + separator + dimension + "-ubyte" + ending);
        std::error_code error;
        if (std::filesystem::exists(path, error)) return path;
      }
    }
  }
  return std::nullopt;
}

std::optional<IdxPair> find_pair(const std::filesystem::path& directory, const std::string& part,
                                 bool required) {
  auto images = find_file(directory, part + "-images", {"idx3", "idx4"});
  auto classes = find_file(directory, part + "-labels", {"idx1"});
  if (images && classes) return IdxPair{std::move(*images), std::move(*classes)};
  if (!images && !classes && !required) return std::nullopt;
  throw InvalidArgument(directory.string(),
                        "no file " + part + (images ? "-labels-idx1-ubyte" : "-images-idx3-ubyte"),
                        "images and labels as MNIST's files are named, plain or .gz");
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
  detail::FileSource source(path);
  if (source.starts_with(gzip_magic)) {
    return parse_idx(source.read_all(), path.string());
  }
  return read_source(source, path.string());
}

std::string idx_header(const std::vector<Index>& shape) {
  constexpr Index largest = 0xffffffff;
  if (shape.empty() || shape.size() > most_dimensions) {
    throw InvalidArgument("shape", shape_string(shape), "1 to 4 dimensions");
  }
  std::string bytes{'\0', '\0', static_cast<char>(unsigned_bytes), static_cast<char>(shape.size())};
  for (const Index extent : shape) {
    if (extent < 0 || extent > largest) {
      throw InvalidArgument("shape", shape_string(shape), "extents from 0 to 4294967295");
    }
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(extent >> shift);
  }
  return bytes;
}

ImageSet read_idx_images(const std::filesystem::path& images,
                         const std::filesystem::path& classes) {
  Array image_array = read_idx(images);
  const std::vector<Index>& shape = image_array.shape;
  if (shape.size() != 3 && shape.size() != 4) {
    refuse_shape(image_array, images,
                 "three dimensions, images x rows x columns, or four with channels");
  }
  Array class_array = read_idx(classes);
  if (class_array.shape.size() != 1) {
    refuse_shape(class_array, classes, "one dimension, the classes");
  }
  if (class_array.shape[0] != shape[0]) {
    throw InvalidArgument(classes.string(), std::to_string(class_array.shape[0]) + " classes",
                          std::to_string(shape[0]) + ", the images in " + images.string());
  }
  ImageSet set;
  set.rows = shape[1];
  set.cols = shape[2];
  if (shape.size() == 4) set.channels = shape[3];
  set.pixels = std::move(std::get<std::vector<std::uint8_t>>(image_array.values));
  set.classes = std::move(std::get<std::vector<std::uint8_t>>(class_array.values));
  if (set.pixels.empty()) {
    refuse_shape(image_array, images, "at least one image of at least one pixel");
  }
  return set;
}

IdxFiles find_idx_files(const std::filesystem::path& directory) {
  std::error_code error;
  if (!std::filesystem::is_directory(directory, error)) {
    throw InvalidArgument(directory.string(), error ? error.message() : "no directory",
                          "a directory with IDX files");
  }
  return {*find_pair(directory, "train", true), find_pair(directory, "t10k", false)};
}

}  // namespace symport
