// SPDX-License-Identifier: MIT
#include "lab/runs/removal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <vector>

#include "lab/runs/checkpoint_files.hpp"
#include "symport/data/atomic_file.hpp"

namespace symport::lab {

namespace fs = std::filesystem;

namespace {

constexpr std::array run_files{"summary.json", "trace.csv", "teleports.jsonl", "model.npz",
                               "config.toml"};
constexpr std::array checkpoint_files{CheckpointFiles::latest, CheckpointFiles::previous,
                                      CheckpointFiles::next, CheckpointFiles::damaged};
constexpr std::string_view chance = "-XXXXXX";  ///< that `mkdtemp` replaces

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  explicit operator bool() const { return number_ >= 0; }
  int number() const { return number_; }

 private:
  int number_;
};

/// Removes the file that the parts of a relative path lead to, and on the way back the directories
/// that are empty. Directories are opened one in the other, never through a link: whoever changes
/// them meanwhile leads nowhere else.
void remove_below(int directory, fs::path::iterator part, fs::path::iterator end,
                  const fs::path& whole) {
  const fs::path name = *part;
  if (++part == end) {
    struct stat found {};
    if (::fstatat(directory, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) return;
    if (!S_ISREG(found.st_mode)) return;
    if (::unlinkat(directory, name.c_str(), 0) != 0 && errno != ENOENT) {
      throw fs::filesystem_error("cannot remove", whole,
                                 std::error_code(errno, std::generic_category()));
    }
    return;
  }
  {
    const Descriptor next(
        ::openat(directory, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next) return;
    remove_below(next.number(), part, end, whole);
  }
  ::unlinkat(directory, name.c_str(), AT_REMOVEDIR);  // refused by the system unless it is empty
}

/// The one function that removes files. Throws std::filesystem::filesystem_error when the system
/// refuses.
void remove_files(const fs::path& root, const std::vector<fs::path>& names) {
  const Descriptor directory(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return;
  for (const fs::path& any : names) {
    const fs::path name = any.lexically_normal();
    if (name.empty() || name.is_absolute() || *name.begin() == "..") {
      throw std::logic_error("removal outside of a directory: " + any.string());
    }
    remove_below(directory.number(), name.begin(), name.end(), root / name);
  }
}

/// Whether a name is that of a fetch's scratch directory: "download-k3Xb9s".
bool is_fetch_scratch(std::string_view name) {
  const auto alphanumeric = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  for (const std::string_view stem : {download_stem, unpacked_stem}) {
    if (!name.starts_with(stem) || name.size() != stem.size() + chance.size()) continue;
    const std::string_view rest = name.substr(stem.size());
    if (rest[0] == '-' && std::all_of(rest.begin() + 1, rest.end(), alphanumeric)) return true;
  }
  return false;
}

std::vector<fs::path> checkpoints_of(const fs::path& run) {
  std::vector<fs::path> names;
  for (const char* name : checkpoint_files) names.push_back(run / CheckpointFiles::folder / name);
  return names;
}

/// The names in a directory; none where it cannot be read.
std::vector<fs::path> names_in(const fs::path& directory) {
  std::vector<fs::path> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    names.push_back(entry.path().filename());
  }
  return names;
}

}  // namespace

std::vector<fs::path> files_of_a_run() {
  std::vector<fs::path> names = checkpoints_of({});
  names.insert(names.end(), run_files.begin(), run_files.end());
  return names;
}

void remove_run(const fs::path& root, const fs::path& folder) {
  std::vector<fs::path> names;
  for (const fs::path& name : files_of_a_run()) names.push_back(folder / name);
  remove_temporaries(root, folder / CheckpointFiles::folder);
  remove_temporaries(root, folder);
  remove_files(root, names);
}

void remove_summary(const fs::path& root, const fs::path& folder) {
  remove_files(root, {folder / "summary.json"});
}

void remove_checkpoints(const fs::path& run_directory) {
  remove_temporaries(run_directory, CheckpointFiles::folder);
  remove_files(run_directory, checkpoints_of({}));
}

void remove_temporaries(const fs::path& root, const fs::path& folder) {
  std::vector<fs::path> names;
  for (const fs::path& name : names_in(root / folder)) {
    if (is_temporary_file(name)) names.push_back(folder / name);
  }
  try {
    remove_files(root, names);
  } catch (const fs::filesystem_error&) {  // nobody reads them: they may stay
  }
}

void remove_package(const fs::path& work, const CatalogEntry& entry) {
  remove_files(work, {entry.package_file()});
}

void remove_fetch_leftovers(const fs::path& work, const CatalogEntry& entry) {
  const fs::path extension = fs::path(entry.package_file()).extension();
  std::vector<fs::path> names;
  for (const fs::path& folder : names_in(work)) {
    if (!is_fetch_scratch(folder.string())) continue;
    for (const fs::path& name : names_in(work / folder)) {
      if (name.extension() == extension) names.push_back(folder / name);
    }
    for (const StoredFile& file : entry.files) {
      for (const std::string& member : file.members) names.push_back(folder / member);
    }
  }
  remove_files(work, names);
}

void remove_if_empty(const fs::path& directory) noexcept { ::rmdir(directory.c_str()); }

ScratchDirectory::ScratchDirectory(const fs::path& root, const std::string& stem) {
  std::string path = (root / (stem + std::string(chance))).string();
  if (::mkdtemp(path.data()) == nullptr) {
    throw fs::filesystem_error("cannot make a directory", path,
                               std::error_code(errno, std::generic_category()));
  }
  path_ = path;
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace symport::lab
