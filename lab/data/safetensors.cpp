// SPDX-License-Identifier: MIT
#include "lab/data/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "data/array_check.hpp"
#include "data/input.hpp"
#include "data/npy_format.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/data/atomic_file.hpp"

namespace symport::lab {

namespace {

using nlohmann::json;

constexpr std::size_t length_bytes = 8;
constexpr std::uint64_t largest_header = 100'000'000;
constexpr std::string_view metadata_key = "__metadata__";
constexpr std::size_t most_axes = 32;

struct KnownType {
  std::string_view name;
  std::uint64_t bits;
};
constexpr KnownType known_types[] = {
    {"F64", 64}, {"F32", 32},    {"F16", 16},    {"BF16", 16},   {"I64", 64},
    {"I32", 32}, {"I16", 16},    {"I8", 8},      {"U64", 64},    {"U32", 32},
    {"U16", 16}, {"U8", 8},      {"BOOL", 8},    {"F8_E4M3", 8}, {"C64", 64},
    {"F4", 4},   {"F8_E5M2", 8}, {"F8_E8M0", 8}, {"F6_E2M3", 6}, {"F6_E3M2", 6}};

std::optional<std::uint64_t> bits_of(std::string_view dtype) {
  for (const KnownType& type : known_types) {
    if (type.name == dtype) return type.bits;
  }
  return std::nullopt;
}

/// Reads a header event by event, so that nothing is built of what the format does not have:
/// {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "__metadata__": {"": ""}}.
class HeaderReader final : public nlohmann::json_sax<json> {
 public:
  HeaderReader(const std::string& file, std::map<std::string, Safetensors::Tensor, std::less<>>& t,
               std::map<std::string, std::string, std::less<>>& metadata)
      : file_(file), tensors_(t), metadata_(metadata) {}

  bool start_object(std::size_t) override {
    if (in_list_ || depth_ == 2 || (depth_ == 1 && !has_key_)) refuse("an object");
    ++depth_;
    has_key_ = false;
    return true;
  }
  bool end_object() override {
    if (depth_ == 2 && !in_metadata()) finish_tensor();
    --depth_;
    has_key_ = false;
    return true;
  }
  bool key(string_t& text) override {
    has_key_ = true;
    if (depth_ == 1) {
      begin_tensor(text);
    } else {
      if (!in_metadata() && text != "dtype" && text != "shape" && text != "data_offsets") {
        refuse("the field " + detail::quoted(text));
      }
      field_ = text;
      if (!fields_.insert(text).second) refuse("the field " + detail::quoted(text) + " twice");
    }
    return true;
  }
  bool string(string_t& text) override {
    if (depth_ == 2 && in_metadata()) {
      metadata_[field_] = text;
    } else if (depth_ == 2 && !in_list_ && field_ == "dtype") {
      tensor_.dtype = text;
    } else {
      refuse("a string");
    }
    return true;
  }
  bool start_array(std::size_t) override {
    if (depth_ != 2 || in_metadata() || in_list_ || field_ == "dtype") refuse("a list");
    in_list_ = true;
    return true;
  }
  bool end_array() override {
    in_list_ = false;
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (!in_list_) refuse("a number");
    if (value > static_cast<std::uint64_t>(std::numeric_limits<Index>::max())) {
      refuse(fmt::format("the number {}", value));
    }
    if (field_ == "shape") {
      if (tensor_.shape.size() == most_axes) refuse(fmt::format("more than {} axes", most_axes));
      tensor_.shape.push_back(static_cast<Index>(value));
    } else {
      if (offsets_.size() == 2) refuse("more than two offsets");
      offsets_.push_back(value);
    }
    return true;
  }
  bool number_integer(number_integer_t) override { refuse("a negative number"); }
  bool number_float(number_float_t, const string_t&) override { refuse("a fraction"); }
  bool null() override { refuse("null"); }
  bool boolean(bool) override { refuse("true or false"); }
  bool binary(binary_t&) override { refuse("binary data"); }
  bool parse_error(std::size_t position, const std::string&,
                   const json::exception& error) override {
    throw InvalidArgument(file_,
                          fmt::format("a header that is no JSON at byte {} ({})", position,
                                      detail::quoted(error.what())),
                          "the safetensors format");
  }

 private:
  bool in_metadata() const { return name_ == metadata_key; }
  std::string place() const {
    return depth_ < 2 ? file_ : detail::array_field(file_, detail::quoted(name_));
  }
  [[noreturn]] void refuse(const std::string& found) const {
    throw InvalidArgument(place(), found + " in the header",
                          "tensors with dtype, shape and data_offsets, and __metadata__ with "
                          "strings, each once");
  }
  void begin_tensor(const std::string& name) {
    name_ = name;
    tensor_ = {};
    offsets_.clear();
    fields_.clear();
    if (!names_.insert(name).second) refuse("the name " + detail::quoted(name) + " twice");
  }
  void finish_tensor() {
    const std::string field = place();
    if (fields_.size() != 3 || offsets_.size() != 2) {
      throw InvalidArgument(field, fmt::format("{} fields", fields_.size()),
                            "dtype, shape and two data_offsets");
    }
    const auto bits = bits_of(tensor_.dtype);
    if (!bits) {
      std::vector<std::string_view> names;
      for (const KnownType& type : known_types) names.push_back(type.name);
      throw InvalidArgument(field, "the dtype " + detail::quoted(tensor_.dtype),
                            fmt::format("{}", fmt::join(names, ", ")));
    }
    const auto count = detail::element_count(tensor_.shape);
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() / 64;
    if (!count || static_cast<std::uint64_t>(*count) > most) {
      throw InvalidArgument(field, "the shape " + shape_string(tensor_.shape),
                            "one whose size can be counted");
    }
    const std::uint64_t needed = static_cast<std::uint64_t>(*count) * *bits;
    if (offsets_[1] < offsets_[0] || needed % 8 != 0 || offsets_[1] - offsets_[0] != needed / 8) {
      throw InvalidArgument(field, fmt::format("offsets {} and {}", offsets_[0], offsets_[1]),
                            fmt::format("{} bits apart, for {} of shape {}", needed, tensor_.dtype,
                                        shape_string(tensor_.shape)));
    }
    tensor_.begin = offsets_[0];
    tensor_.end = offsets_[1];
    tensors_.emplace(name_, std::move(tensor_));
  }

  const std::string& file_;
  std::map<std::string, Safetensors::Tensor, std::less<>>& tensors_;
  std::map<std::string, std::string, std::less<>>& metadata_;
  int depth_ = 0;
  bool has_key_ = false, in_list_ = false;
  std::set<std::string> names_, fields_;
  std::string name_, field_;  ///< of the tensor, and in it
  Safetensors::Tensor tensor_;
  std::vector<std::uint64_t> offsets_;
};

/// The tensors fill the bytes after the header, each byte once. Offsets become those of the file.
void place_tensors(std::map<std::string, Safetensors::Tensor, std::less<>>& tensors,
                   std::size_t start, std::size_t size, const std::string& file) {
  std::vector<std::pair<Safetensors::Tensor*, const std::string*>> order;
  for (auto& [name, tensor] : tensors) order.push_back({&tensor, &name});
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first->begin, a.first->end) < std::pair(b.first->begin, b.first->end);
  });
  std::size_t at = 0;
  for (const auto& [tensor, name] : order) {
    const std::string field = detail::array_field(file, detail::quoted(*name));
    if (tensor->begin != at) {
      throw InvalidArgument(
          field, fmt::format("the first offset {}", tensor->begin),
          fmt::format("{}, where the tensor before ends: no gaps and no overlaps", at));
    }
    if (tensor->end > size) {
      throw InvalidArgument(field, fmt::format("the last offset {}", tensor->end),
                            fmt::format("at most {}, the bytes after the header", size));
    }
    at = tensor->end;
    tensor->begin += start;
    tensor->end += start;
  }
  if (at != size) {
    throw InvalidArgument(file, fmt::format("{} bytes after the header", size),
                          fmt::format("{}, where the last tensor ends", at));
  }
}

std::string little_endian(std::uint64_t value) {
  std::string bytes;
  for (std::size_t i = 0; i < length_bytes; ++i) {
    bytes.push_back(static_cast<char>((value >> (8 * i)) & 0xff));
  }
  return bytes;
}

std::uint64_t header_length(std::string_view bytes) {
  std::uint64_t length = 0;
  for (std::size_t i = length_bytes; i-- > 0;) {
    length = length << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return length;
}

std::string_view name_of(DType dtype) {
  switch (dtype) {
    case DType::f4:
      return "F32";
    case DType::f8:
      return "F64";
    case DType::i4:
      return "I32";
    case DType::i8:
      return "I64";
    case DType::u1:
      break;
  }
  return "U8";
}

/// The values with the last index running fastest.
Array in_c_order(const Array& array) {
  if (array.order == Order::c || array.shape.size() < 2) return array;
  Array result{array.shape, array.values, Order::c};
  std::visit(
      [&](const auto& from) {
        auto& to = std::get<std::decay_t<decltype(from)>>(result.values);
        std::vector<Index> at(array.shape.size(), 0);
        for (auto& value : to) {
          Index place = 0;
          for (std::size_t axis = at.size(); axis-- > 0;)
            place = place * array.shape[axis] + at[axis];
          value = from[static_cast<std::size_t>(place)];
          for (std::size_t axis = at.size(); axis-- > 0;) {
            if (++at[axis] < array.shape[axis]) break;
            at[axis] = 0;
          }
        }
      },
      array.values);
  return result;
}

}  // namespace

Safetensors Safetensors::read(const std::filesystem::path& path) {
  return parse(detail::read_file(path), path.string());
}

Safetensors Safetensors::parse(std::string bytes, const std::string& name) {
  Safetensors result;
  if (bytes.size() < length_bytes) {
    throw InvalidArgument(name, fmt::format("{} bytes", bytes.size()),
                          "a safetensors file, which begins with the length of its header");
  }
  const std::uint64_t length = header_length(bytes), there = bytes.size() - length_bytes;
  if (length > largest_header || length > there) {
    throw InvalidArgument(
        name, fmt::format("a header of {} bytes", length),
        fmt::format("at most {}", std::min<std::uint64_t>(there, largest_header)));
  }
  const std::string_view header = std::string_view(bytes).substr(length_bytes, length);
  if (!header.starts_with('{')) {
    throw InvalidArgument(name, "a header that begins with " + detail::quoted(header.substr(0, 1)),
                          "'{', as safetensors files have");
  }
  HeaderReader reader(name, result.tensors_, result.metadata_);
  json::sax_parse(header.begin(), header.end(), &reader);
  place_tensors(result.tensors_, length_bytes + length, there - length, name);
  result.bytes_ = std::move(bytes);
  return result;
}

Safetensors Safetensors::of(const ArrayMap& arrays) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  std::string values;
  for (const auto& [name, array] : arrays) {
    const Array plain = in_c_order(array);
    const std::string_view bytes = detail::value_bytes(plain);
    header[name] = {{"dtype", name_of(plain.dtype())},
                    {"shape", plain.shape},
                    {"data_offsets", {values.size(), values.size() + bytes.size()}}};
    values += bytes;
  }
  std::string text = header.dump(-1, ' ', true, json::error_handler_t::replace);
  while (text.size() % length_bytes != 0) text += ' ';  // values begin at a multiple of eight
  return parse(little_endian(text.size()) + text + values, "safetensors");
}

void Safetensors::write(const std::filesystem::path& path) const { write_file(path, bytes_); }

}  // namespace symport::lab
