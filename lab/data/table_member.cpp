// SPDX-License-Identifier: MIT
#include "lab/data/table_member.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "data/byte_source.hpp"
#include "lab/text/parse_numbers.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport::lab {

namespace {

constexpr std::string_view gzip_mark = "\x1f\x8b";

/// All text of a member, decompressed.
std::string member_text(const std::filesystem::path& path) {
  detail::FileSource file(path);
  const bool packed = file.starts_with(gzip_mark);
  std::string bytes = file.read_all();
  if (!packed) return bytes;
  detail::InflateSource source(bytes, detail::Compression::gzip, path.string());
  std::string text, piece(1 << 16, '\0');
  while (const std::size_t count = source.read(piece)) text.append(piece, 0, count);
  source.expect_end();
  return text;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string_view> fields_of(std::string_view line) {
  const bool commas = line.find(',') != std::string_view::npos;
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t end = line.find_first_of(commas ? "," : " \t");
    fields.push_back(trimmed(line.substr(0, end)));
    if (end == std::string_view::npos) return fields;
    line = commas ? line.substr(end + 1) : trimmed(line.substr(end));
  }
}

/// Lines that are samples, with their numbers in the file.
struct SampleLine {
  std::string_view text;
  Index number;
};

std::vector<SampleLine> sample_lines(std::string_view text, Index skipped) {
  std::vector<SampleLine> lines;
  for (Index number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    if (number <= skipped || line.empty() || line.front() == '@' || line.front() == '%') continue;
    lines.push_back({line, number});
  }
  return lines;
}

/// A field of a feature, or of a target that is a number.
void require_number(std::string_view field, const std::string& place) {
  try {
    parse_number(field);
  } catch (const InvalidArgument&) {
    throw InvalidArgument(place, fmt::format("'{}'", field), "a finite decimal number");
  }
}

/// A class is a number or a word of letters, digits, '_', '-' and '.', which needs no quotes.
void require_word(std::string_view field, const std::string& place) {
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '-' || c == '.';
  };
  if (!field.empty() && std::all_of(field.begin(), field.end(), plain)) return;
  throw InvalidArgument(place, fmt::format("'{}'", field), "the name of a class");
}

/// Classes that are whole numbers, in ascending order, become 0, 1, 2, ...; words stay.
std::vector<std::string> counted_from_zero(std::vector<std::string> classes) {
  std::set<Index> numbers;
  try {
    for (const std::string& name : classes) numbers.insert(parse_whole(name));
  } catch (const InvalidArgument&) {
    return classes;
  }
  for (std::string& name : classes) {
    name = fmt::format("{}", std::distance(numbers.begin(), numbers.find(parse_whole(name))));
  }
  return classes;
}

}  // namespace

std::string stored_table(const StoredFile& file, const std::filesystem::path& root) {
  const TableLayout& layout = file.layout;
  const std::filesystem::path path = root / file.members.at(0);
  const std::string text = member_text(path);
  const std::vector<SampleLine> lines = sample_lines(text, layout.skipped_lines);
  std::string targets_text;
  std::vector<SampleLine> targets;
  if (file.members.size() > 1) {
    targets_text = member_text(root / file.members[1]);
    targets = sample_lines(targets_text, 0);
  }
  const Index samples = file.shape.at(0), columns = file.shape.at(1);
  const auto refuse_shape = [&](const std::string& found) {
    throw InvalidArgument(path.string(), found,
                          fmt::format("{} samples of {} columns", samples, columns));
  };
  if (std::ssize(lines) != samples) refuse_shape(fmt::format("{} samples", lines.size()));
  if (!targets_text.empty() && std::ssize(targets) != samples) {
    refuse_shape(fmt::format("{} targets", targets.size()));
  }
  std::vector<std::string> rows;
  std::vector<std::string> classes;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string row;
    const std::vector<std::string_view> fields = fields_of(lines[i].text);
    const auto place = [&](const std::string& what) {
      return fmt::format("{}, line {}, {}", path.string(), lines[i].number, what);
    };
    const Index count = std::ssize(fields);
    const Index target_column = !targets.empty()     ? count
                                : layout.target >= 0 ? layout.target
                                                     : count - 1;
    std::string_view target = targets.empty() ? std::string_view{} : targets[i].text;
    Index kept = 0;
    for (Index k = 0; k < count; ++k) {
      const std::string_view field = fields[static_cast<std::size_t>(k)];
      if (k == target_column) {
        target = field;
        continue;
      }
      const auto& left_out = layout.left_out;
      if (std::find(left_out.begin(), left_out.end(), k) != left_out.end()) continue;
      require_number(field, place(fmt::format("field {}", k + 1)));
      row += field;
      row += ',';
      ++kept;
    }
    if (kept + 1 != columns) refuse_shape(place(fmt::format("{} columns", kept + 1)));
    if (file.classes) {
      require_word(target, place("class"));
      classes.emplace_back(target);
    } else {
      require_number(target, place("target"));
      row += target;
    }
    rows.push_back(std::move(row));
  }
  std::string stored;
  for (Index i = 1; i < columns; ++i) stored += fmt::format("x{},", i);
  stored += file.classes ? "class\n" : "target\n";
  if (file.classes) classes = counted_from_zero(std::move(classes));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    stored += rows[i] + (file.classes ? classes[i] : "") + '\n';
  }
  return stored;
}

}  // namespace symport::lab
