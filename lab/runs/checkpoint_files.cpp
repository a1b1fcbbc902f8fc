// SPDX-License-Identifier: MIT
#include "lab/runs/checkpoint_files.hpp"

#include "lab/runs/removal.hpp"
#include "lab/runs/run_config.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/data/npz.hpp"
#include "symport/training/checkpoint.hpp"

namespace symport::lab {

namespace fs = std::filesystem;

namespace {

Array text_array(const std::string& text) {
  return {{static_cast<Index>(text.size())}, std::vector<std::uint8_t>(text.begin(), text.end())};
}

}  // namespace

void CheckpointFiles::save(ArrayMap arrays) const {
  arrays["run"] = text_array(identity_.run);
  arrays["data"] = text_array(identity_.data);
  fs::create_directory(directory_);  // not that of the run, which may have been removed
  write_npz(directory_ / next, arrays);
  // Between any two of these steps a complete checkpoint is there under one of the names.
  if (fs::exists(directory_ / latest)) fs::rename(directory_ / latest, directory_ / previous);
  fs::rename(directory_ / next, directory_ / latest);
}

std::optional<CheckpointFiles::Found> CheckpointFiles::load() const {
  std::optional<InvalidArgument> complaint;
  for (const char* name : {latest, previous}) {
    const fs::path file = directory_ / name;
    if (!fs::exists(file)) continue;
    Found found{{}, file, complaint ? complaint->what() : ""};
    try {
      found.arrays = read_npz(file);
    } catch (const InvalidArgument& error) {
      if (!complaint) complaint = error;
      continue;
    }
    require_ours(found);
    // Out of the way, or the next one saved would move it over the good one.
    if (complaint) fs::rename(directory_ / latest, directory_ / damaged);
    return found;
  }
  if (complaint) throw *complaint;
  return std::nullopt;
}

void CheckpointFiles::require_ours(const Found& found) const {
  require_checkpoint_format(found.arrays, found.file.string());
  const auto require = [&](const char* name, const std::string& text, const auto& same,
                           const char* other) {
    const auto array = found.arrays.find(name);
    if (array == found.arrays.end()) {
      throw InvalidArgument(found.file.string(), std::string("no array ") + name,
                            "a checkpoint of symport train");
    }
    if (!same(array->second, text)) {
      throw InvalidArgument(found.file.string(), std::string("a checkpoint of ") + other,
                            "one of this run, whose configuration and data are as they were");
    }
  };
  const auto run_text = [](const Array& array) {
    const auto* bytes = std::get_if<std::vector<std::uint8_t>>(&array.values);
    return bytes ? std::string(bytes->begin(), bytes->end()) : std::string();
  };
  const auto equal = [&](const Array& array, const std::string& text) {
    return has_identity(run_text(array), text);
  };
  const auto identical = [](const Array& array, const std::string& text) {
    return array == text_array(text);
  };
  require("run", identity_.run, equal, "another configuration");
  require("data", identity_.data, identical, "other data");
}

void CheckpointFiles::clear() const { remove_checkpoints(directory_.parent_path()); }

}  // namespace symport::lab
