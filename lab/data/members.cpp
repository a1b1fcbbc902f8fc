// SPDX-License-Identifier: MIT
#include "lab/data/members.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "data/input.hpp"
#include "lab/data/png_rows.hpp"
#include "lab/data/table_member.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/data/idx.hpp"

namespace symport::lab {

namespace {

std::string_view bytes_of(const Array& array) {
  const auto& values = std::get<std::vector<std::uint8_t>>(array.values);
  return {reinterpret_cast<const char*>(values.data()), values.size()};
}

void copy_idx(const StoredFile& file, const std::filesystem::path& path, const ByteSink& sink) {
  const Array array = read_idx(path);
  if (array.shape != file.shape) {
    throw InvalidArgument(path.string(), "shape " + shape_string(array.shape),
                          shape_string(file.shape));
  }
  sink(idx_header(array.shape));
  sink(bytes_of(array));
}

/// Samples x rows x columns x channels, from files with samples x (rows columns) x channels.
void join_png_rows(const StoredFile& file, const std::filesystem::path& root,
                   const ByteSink& sink) {
  const Index area = file.shape.at(1) * file.shape.at(2), channels = file.shape.at(3);
  sink(idx_header(file.shape));
  Index samples = 0;
  for (const std::string& member : file.members) {
    const Array part = read_png_rows(root / member);
    if (part.shape.at(1) != area || part.shape.at(2) != channels) {
      throw InvalidArgument((root / member).string(), "rows of shape " + shape_string(part.shape),
                            fmt::format("{} pixels of {} channels", area, channels));
    }
    samples += part.shape.at(0);
    sink(bytes_of(part));
  }
  if (samples != file.shape.at(0)) {
    throw InvalidArgument(file.name, fmt::format("{} images in the package", samples),
                          fmt::format("{}", file.shape.at(0)));
  }
}

void convert_json(const StoredFile& file, const std::filesystem::path& path, const ByteSink& sink) {
  const auto list = nlohmann::json::parse(detail::read_file(path), nullptr, false);
  const auto is_class = [](const nlohmann::json& value) {
    return value.is_number_unsigned() && value.get<std::uint64_t>() < 256;
  };
  if (!list.is_array() || static_cast<Index>(list.size()) != file.shape.at(0) ||
      !std::all_of(list.begin(), list.end(), is_class)) {
    throw InvalidArgument(path.string(), "something else",
                          fmt::format("a JSON list of {} classes", file.shape.at(0)));
  }
  std::string classes;
  for (const auto& value : list) classes += static_cast<char>(value.get<unsigned>());
  sink(idx_header(file.shape));
  sink(classes);
}

}  // namespace

void make_stored_file(const StoredFile& file, const std::filesystem::path& root,
                      const ByteSink& sink) {
  switch (file.form) {
    case MemberForm::idx:
      return copy_idx(file, root / file.members.at(0), sink);
    case MemberForm::png_rows:
      return join_png_rows(file, root, sink);
    case MemberForm::json_classes:
      return convert_json(file, root / file.members.at(0), sink);
    case MemberForm::table:
      return sink(stored_table(file, root));
  }
}

}  // namespace symport::lab
