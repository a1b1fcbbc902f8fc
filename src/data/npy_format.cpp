// SPDX-License-Identifier: MIT
#include "data/npy_format.hpp"

#include <bit>
#include <stdexcept>

#include "data/array_check.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport::detail {

static_assert(std::endian::native == std::endian::little,
              "values are copied from and to little-endian files as they are");

namespace {

constexpr std::string_view magic = "\x93NUMPY";
/// NumPy's own limit on the dictionary's length.
constexpr std::uint64_t longest_dictionary = 10'000;

[[noreturn]] void truncated(const std::string& field, const std::string& where) {
  throw InvalidArgument(field, "the end of the data inside " + where, "a complete array");
}

std::string read_text(ByteSource& source, std::size_t size, const std::string& field,
                      const std::string& where) {
  std::string text(size, '\0');
  if (source.read(text) < size) truncated(field, where);
  return text;
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) {
    value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
  }
  return value;
}

template <class Value>
Array::Values values_of(ByteSource& source, const NpyHeader& header, const std::string& field) {
  auto values = read_values<Value>(source, header.count);
  if (!values) truncated(field, "the values of shape " + shape_string(header.shape));
  return std::move(*values);
}

Array::Values values_of(ByteSource& source, const NpyHeader& header, const std::string& field) {
  switch (header.dtype) {
    case DType::f4:
      return values_of<float>(source, header, field);
    case DType::f8:
      return values_of<double>(source, header, field);
    case DType::i4:
      return values_of<std::int32_t>(source, header, field);
    case DType::i8:
      return values_of<std::int64_t>(source, header, field);
    case DType::u1:
      return values_of<std::uint8_t>(source, header, field);
  }
  throw std::logic_error("DType out of range");
}

}  // namespace

Array read_npy_source(ByteSource& source, std::uint64_t total, const std::string& field) {
  const std::string start = read_text(source, magic.size() + 2, field, "the first 8 bytes");
  if (!start.starts_with(magic)) {
    throw InvalidArgument(field, "no NumPy magic string", "an array as numpy.save writes it");
  }
  const int major = static_cast<unsigned char>(start[6]);
  const int minor = static_cast<unsigned char>(start[7]);
  if (major < 1 || major > 3 || minor != 0) {
    throw InvalidArgument(field,
                          "format version " + std::to_string(major) + "." + std::to_string(minor),
                          "1.0, 2.0 or 3.0");
  }
  const std::string length = read_text(source, major == 1 ? 2 : 4, field, "the header's length");
  const std::uint64_t dictionary_size = little_endian(length);
  if (dictionary_size > longest_dictionary) {
    throw InvalidArgument(field, "a header of " + std::to_string(dictionary_size) + " bytes",
                          "at most " + std::to_string(longest_dictionary));
  }
  const std::string dictionary = read_text(source, dictionary_size, field, "the header");
  NpyHeader header = parse_npy_dictionary(dictionary, field);

  const std::uint64_t before = start.size() + length.size() + dictionary_size;
  if (total < before || total - before != header.bytes) {
    const std::uint64_t present = total < before ? 0 : total - before;
    throw InvalidArgument(field,
                          std::to_string(present) + " bytes of values for shape " +
                              shape_string(header.shape) + " of " +
                              std::string(to_string(header.dtype)),
                          std::to_string(header.bytes) + " bytes");
  }
  Array::Values values = values_of(source, header, field);
  source.expect_end();
  return {std::move(header.shape), std::move(values), header.order};
}

std::string npy_header(const Array& array) {
  require_consistent(array);
  std::string dictionary =
      "{'descr': '" + std::string(to_string(array.dtype())) +
      "', 'fortran_order': " + (array.order == Order::fortran ? "True" : "False") +
      ", 'shape': " + shape_string(array.shape) + ", }";
  constexpr std::size_t alignment = 64;
  const std::size_t before = magic.size() + 4;
  const std::size_t unpadded = before + dictionary.size() + 1;
  dictionary.append((alignment - unpadded % alignment) % alignment, ' ');
  dictionary += '\n';

  std::string header(magic);
  header += {'\x01', '\x00'};
  header += static_cast<char>(dictionary.size() & 0xff);
  header += static_cast<char>(dictionary.size() >> 8);
  return header + dictionary;
}

std::string_view value_bytes(const Array& array) {
  return std::visit(
      [](const auto& values) {
        return std::string_view(reinterpret_cast<const char*>(values.data()),
                                values.size() * sizeof(values[0]));
      },
      array.values);
}

}  // namespace symport::detail
