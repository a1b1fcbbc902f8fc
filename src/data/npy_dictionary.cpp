// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "data/array_check.hpp"
#include "data/input.hpp"
#include "data/npy_format.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport::detail {

namespace {

struct FileTypeEntry {
  FileType type;
  std::string_view name;
  std::size_t bytes;
};
constexpr std::array file_types = {
    FileTypeEntry{FileType::f2, "<f2", 2}, FileTypeEntry{FileType::f4, "<f4", 4},
    FileTypeEntry{FileType::f8, "<f8", 8}, FileTypeEntry{FileType::i1, "|i1", 1},
    FileTypeEntry{FileType::i2, "<i2", 2}, FileTypeEntry{FileType::i4, "<i4", 4},
    FileTypeEntry{FileType::i8, "<i8", 8}, FileTypeEntry{FileType::u1, "|u1", 1},
    FileTypeEntry{FileType::u2, "<u2", 2}, FileTypeEntry{FileType::u4, "<u4", 4},
    FileTypeEntry{FileType::u8, "<u8", 8}, FileTypeEntry{FileType::b1, "|b1", 1}};

/// Reads the few Python literals that NumPy writes: a dictionary of strings, booleans and a tuple
/// of integers. Anything else is an error, and nothing is ever evaluated.
class DictionaryParser {
 public:
  DictionaryParser(std::string_view text, const std::string& field) : text_(text), field_(field) {}

  NpyHeader parse() {
    std::optional<FileType> type;
    std::optional<Order> order;
    std::optional<std::vector<Index>> shape;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      if (key == "descr" && !type) {
        type = descr();
      } else if (key == "fortran_order" && !order) {
        order = boolean() ? Order::fortran : Order::c;
      } else if (key == "shape" && !shape) {
        shape = tuple();
      } else {
        refuse("the key " + quoted(key));
      }
      if (!accept(',') && peek() != '}') refuse();
    }
    if (peek() != '\0' || at_ < text_.size()) refuse();
    if (!type || !order || !shape) refuse("a missing key");

    NpyHeader header{*type, *order, std::move(*shape), 0, 0};
    const std::optional<Index> count = element_count(header.shape);
    if (!count || __builtin_mul_overflow(static_cast<std::uint64_t>(*count), size_of(header.type),
                                         &header.bytes)) {
      throw InvalidArgument(field_, "shape " + shape_string(header.shape),
                            "a number of values that fits the memory");
    }
    header.count = *count;
    return header;
  }

 private:
  [[noreturn]] void refuse(const std::string& found = "text that is out of place") const {
    throw InvalidArgument(field_,
                          "a header with " + found + " near character " + std::to_string(at_) +
                              " of " + quoted(text_),
                          "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }");
  }

  /// The next character that is not space; '\0' at the end.
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) refuse();
  }

  std::string_view string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') refuse();
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) refuse("a string without end");
    const std::string_view value = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return value;
  }

  FileType descr() {
    const std::string allowed =
        "numbers: float16 to float64, int8 to int64, uint8 to uint64 or bool, little-endian";
    if (peek() == '[') throw InvalidArgument(field_, "a structured dtype", allowed);
    const std::string_view name = string();
    for (const FileTypeEntry& entry : file_types) {
      if (name == entry.name) return entry.type;
    }
    std::string kind = "dtype " + quoted(name);
    if (name == "|O") kind += ", Python objects (pickled)";
    if (name.starts_with("<U") || name.starts_with("|S")) kind += ", text";
    if (name.starts_with('>')) kind += ", which is big-endian";
    throw InvalidArgument(field_, kind, allowed);
  }

  bool boolean() {
    peek();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return value;
      }
    }
    refuse();
  }

  std::vector<Index> tuple() {
    constexpr std::size_t most_dimensions = 32;  // NumPy's limit
    std::vector<Index> values;
    expect('(');
    while (!accept(')')) {
      if (values.size() == most_dimensions) refuse("more than 32 dimensions");
      values.push_back(integer());
      const bool comma = accept(',');
      if (!comma && (peek() != ')' || values.size() == 1)) refuse();  // "(3)" is no tuple
    }
    return values;
  }

  Index integer() {
    peek();
    Index value = 0;
    const char* first = text_.data() + at_;
    const auto [last, error] = std::from_chars(first, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range) refuse("an extent that fits no memory");
    if (error != std::errc()) refuse();
    if (value < 0) refuse("a negative extent");
    at_ += static_cast<std::size_t>(last - first);
    return value;
  }

  std::string_view text_;
  const std::string& field_;
  std::size_t at_ = 0;
};

}  // namespace

std::string_view to_string(FileType type) {
  return file_types[static_cast<std::size_t>(type)].name;
}
std::size_t size_of(FileType type) { return file_types[static_cast<std::size_t>(type)].bytes; }

NpyHeader parse_npy_dictionary(std::string_view text, const std::string& field) {
  return DictionaryParser(text, field).parse();
}

}  // namespace symport::detail
