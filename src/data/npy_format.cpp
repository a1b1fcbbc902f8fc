// SPDX-License-Identifier: MIT
#include "data/npy_format.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
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

/// IEEE 754 binary16: sign, 5 bits of exponent, 10 of fraction.
float half_to_float(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
  float size = 0.0f;
  if (exponent == 0x1f) {
    size = fraction == 0 ? std::numeric_limits<float>::infinity()
                         : std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    size = std::ldexp(static_cast<float>(fraction), -24);
  } else {
    size = std::ldexp(static_cast<float>(fraction + 0x400), exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -size : size;
}

template <class Value>
std::vector<Value> read_or_refuse(ByteSource& source, const NpyHeader& header,
                                  const std::string& field) {
  auto values = read_values<Value>(source, header.count);
  if (!values) truncated(field, "the values of shape " + shape_string(header.shape));
  return std::move(*values);
}

template <class Value>
Array::Values values_of(ByteSource& source, const NpyHeader& header, const std::string& field) {
  return read_or_refuse<Value>(source, header, field);
}

/// Values of one type as those of another that has them all.
template <class Stored, class Value, class Convert>
Array::Values converted(ByteSource& source, const NpyHeader& header, const std::string& field,
                        const Convert& convert) {
  const std::vector<Stored> stored = read_or_refuse<Stored>(source, header, field);
  std::vector<Value> values(stored.size());
  std::transform(stored.begin(), stored.end(), values.begin(), convert);
  return values;
}

Array::Values values_of(ByteSource& source, const NpyHeader& header, const std::string& field) {
  const auto as_they_are = [](auto value) { return static_cast<std::int32_t>(value); };
  switch (header.type) {
    case FileType::f2:
      return converted<std::uint16_t, float>(source, header, field, half_to_float);
    case FileType::f4:
      return values_of<float>(source, header, field);
    case FileType::f8:
      return values_of<double>(source, header, field);
    case FileType::i1:
      return converted<std::int8_t, std::int32_t>(source, header, field, as_they_are);
    case FileType::i2:
      return converted<std::int16_t, std::int32_t>(source, header, field, as_they_are);
    case FileType::i4:
      return values_of<std::int32_t>(source, header, field);
    case FileType::i8:
      return values_of<std::int64_t>(source, header, field);
    case FileType::u1:
      return values_of<std::uint8_t>(source, header, field);
    case FileType::u2:
      return converted<std::uint16_t, std::int32_t>(source, header, field, as_they_are);
    case FileType::u4:
      return converted<std::uint32_t, std::int64_t>(
          source, header, field, [](std::uint32_t value) { return std::int64_t{value}; });
    case FileType::u8:
      return converted<std::uint64_t, std::int64_t>(
          source, header, field, [&](std::uint64_t value) {
            if (value > std::numeric_limits<std::int64_t>::max()) {
              throw InvalidArgument(field, "the number " + std::to_string(value),
                                    "numbers below 2^63");
            }
            return static_cast<std::int64_t>(value);
          });
    case FileType::b1:
      return converted<std::uint8_t, std::uint8_t>(
          source, header, field, [](std::uint8_t value) { return std::uint8_t{value != 0}; });
  }
  throw std::logic_error("FileType out of range");
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
                              std::string(to_string(header.type)),
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
