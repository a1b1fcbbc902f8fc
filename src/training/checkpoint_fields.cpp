// SPDX-License-Identifier: MIT
#include "training/checkpoint_fields.hpp"

#include <fmt/format.h>

#include <bit>

#include "symport/core/invalid_argument.hpp"

namespace symport {

void FieldWriter::bits(const std::string& name, std::uint64_t value) {
  put(name, {}, std::vector<std::int64_t>{std::bit_cast<std::int64_t>(value)});
}

void FieldWriter::text(const std::string& name, std::string_view value) {
  put(name, {static_cast<Index>(value.size())},
      std::vector<std::uint8_t>(value.begin(), value.end()));
}

void FieldWriter::points(const std::string& name, const std::vector<Vector>& points) {
  const Index dimension = points.empty() ? 0 : points.front().size();
  std::vector<double> values;
  values.reserve(points.size() * static_cast<std::size_t>(dimension));
  for (const Vector& point : points) values.insert(values.end(), point.begin(), point.end());
  put(name, {static_cast<Index>(points.size()), dimension}, std::move(values));
}

template <class Value>
const std::vector<Value>& FieldReader::list(const std::string& name, std::size_t dimensions) const {
  const auto found = arrays_.find(name);
  if (found == arrays_.end()) fail(name, "no such array", "a checkpoint of symport train");
  const Array& array = found->second;
  const auto* held = std::get_if<std::vector<Value>>(&array.values);
  if (!held || array.shape.size() != dimensions || array.order != Order::c) {
    fail(name, fmt::format("{} of shape {}", to_string(array.dtype()), shape_string(array.shape)),
         fmt::format("{} with {} dimension{}", to_string(Array{{}, std::vector<Value>{}}.dtype()),
                     dimensions, dimensions == 1 ? "" : "s"));
  }
  return *held;
}

template const std::vector<float>& FieldReader::list(const std::string&, std::size_t) const;
template const std::vector<double>& FieldReader::list(const std::string&, std::size_t) const;
template const std::vector<std::int64_t>& FieldReader::list(const std::string&, std::size_t) const;
template const std::vector<std::uint8_t>& FieldReader::list(const std::string&, std::size_t) const;

void FieldReader::bits(const std::string& name, std::uint64_t& value) const {
  value = std::bit_cast<std::uint64_t>(list<std::int64_t>(name, 0)[0]);
}

std::string FieldReader::text(const std::string& name) const {
  const auto& bytes = list<std::uint8_t>(name, 1);
  return {bytes.begin(), bytes.end()};
}

std::vector<std::string> FieldReader::split_lines(const std::string& name) const {
  const std::string all = text(name);
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = all.find('\n', begin);
    if (end == std::string::npos) fail(name, "a line without an end", "lines that end");
    lines.push_back(all.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

void FieldReader::points(const std::string& name, std::vector<Vector>& points) const {
  const auto& values = list<double>(name, 2);
  const std::vector<Index>& shape = arrays_.find(name)->second.shape;
  points.clear();
  for (Index i = 0; i < shape[0]; ++i) {
    points.emplace_back(Eigen::Map<const Vector>(values.data() + i * shape[1], shape[1]));
  }
}

std::int64_t FieldReader::whole(const std::string& name, std::int64_t value) const {
  constexpr std::int64_t largest = std::int64_t{1} << 53;
  if (value < 0 || value > largest) fail(name, std::to_string(value), "numbers from 0 to 2^53");
  return value;
}

void FieldReader::require_rows(const std::string& name, std::size_t found,
                               std::size_t allowed) const {
  if (found == allowed) return;
  fail(name, fmt::format("{} rows", found),
       fmt::format("{}, as many as the other columns have", allowed));
}

void FieldReader::fail(const std::string& name, const std::string& found,
                       const std::string& allowed) const {
  throw InvalidArgument(file_ + ", array " + name, found, allowed);
}

}  // namespace symport
