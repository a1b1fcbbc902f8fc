// SPDX-License-Identifier: MIT
#include "lab/runs/run_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <fstream>
#include <optional>
#include <system_error>

#include "data/input.hpp"
#include "lab/config/config_writer.hpp"
#include "lab/runs/checkpoint_files.hpp"
#include "lab/runs/removal.hpp"
#include "lab/text/errors.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/data/npz.hpp"

namespace symport::lab {

namespace fs = std::filesystem;

namespace {

std::system_error last_error() { return std::system_error(errno, std::generic_category()); }

/// The first symbolic link on the way from `root`, which may be one itself, to root/name.
std::optional<fs::path> link_below(const fs::path& root, const fs::path& name) {
  fs::path path = root;
  for (const fs::path& part : name) {
    path /= part;
    std::error_code ignored;
    if (fs::is_symlink(path, ignored)) return path;
  }
  return std::nullopt;
}

/// Why root/name is no place to write to; empty: it is one.
std::string objection(const fs::path& root, const fs::path& name) {
  if (name.is_absolute() || std::find(name.begin(), name.end(), "..") != name.end()) {
    return "the name leads out of its directory";
  }
  const auto link = link_below(root, name);
  return link ? fmt::format("{} is a symbolic link", link->string()) : std::string();
}

bool is_run_file(const fs::path& name) {
  const std::vector<fs::path> names = files_of_a_run();
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

RunDirectory::RunDirectory(fs::path path, bool force, const std::string& origin)
    : path_(std::move(path)) {
  const auto refuse = [&](const std::string& problem, const std::string& allowed) {
    throw UsageError(
        origin, fmt::format("found '{}' ({}), allowed is {}", path_.string(), problem, allowed));
  };
  const std::string writable = "a directory that is new or empty and can be written to";
  try {
    if (path_.empty()) refuse("empty", writable);
    if (fs::exists(path_)) {
      if (!fs::is_directory(path_)) refuse("not a directory", writable);
      if (!is_free(path_) && !force) {
        const bool unfinished =
            fs::exists(path_ / "config.toml") && !fs::exists(path_ / "summary.json");
        refuse(unfinished ? "a run that did not end" : "it has files in it already",
               unfinished ? "a new or empty directory, this one with --force, or --resume to go on"
                          : "a new or empty directory, or this one with --force");
      }
    } else {
      make_directories(path_);
    }
    fresh_ = !force && is_free(path_);
    if (::access(path_.c_str(), W_OK | X_OK) != 0) throw last_error();
    refuse_links(path_, {}, origin);
    lock(origin);
  } catch (const std::system_error& error) {
    for (auto made = made_.rbegin(); made != made_.rend(); ++made) remove_if_empty(*made);
    refuse(error.code().message(), writable);
  }
}

void RunDirectory::refuse_links(const fs::path& root, const fs::path& folder,
                                const std::string& origin) {
  for (const fs::path& name : files_of_a_run()) refuse_link(root, folder / name, origin);
}

void RunDirectory::refuse_link(const fs::path& root, const fs::path& name,
                               const std::string& origin) {
  if (const auto link = link_below(root, name)) {
    throw UsageError(origin, fmt::format("found '{}', a symbolic link, and results are not written "
                                         "through links; remove it or choose another directory",
                                         link->string()));
  }
}

bool RunDirectory::holds_a_run(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path / "config.toml", ignored)) return false;
  const std::string ours = fmt::format("# {} ", run_heading);
  std::string found(ours.size(), '\0');
  std::ifstream file(path / "config.toml", std::ios::binary);
  return file.read(found.data(), static_cast<std::streamsize>(found.size())) && found == ours;
}

bool RunDirectory::is_free(const fs::path& path) {
  const fs::directory_iterator entries(path);
  return std::all_of(fs::begin(entries), fs::end(entries), [](const fs::directory_entry& entry) {
    return entry.is_regular_file() && !entry.is_symlink() && is_temporary_file(entry.path());
  });
}

std::unique_ptr<RunDirectory> RunDirectory::of_earlier_run(const fs::path& path,
                                                           const std::string& origin) {
  std::error_code ignored;
  if (!fs::is_regular_file(path / "config.toml", ignored)) {
    throw UsageError(origin,
                     fmt::format("found '{}', which has no config.toml; allowed is the directory "
                                 "(--out) of an earlier run",
                                 path.string()));
  }
  std::unique_ptr<RunDirectory> directory(new RunDirectory(path));
  directory->stays_ = true;
  refuse_links(path, {}, origin);
  directory->lock(origin);
  return directory;
}

void RunDirectory::lock(const std::string& origin) {
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // A file system without locks gives other errors.
  if (descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw UsageError(origin, fmt::format("found '{}', which another run is using; wait for it to "
                                         "end or choose another directory",
                                         path_.string()));
  }
  for (const char* place : {"", CheckpointFiles::folder}) remove_temporaries(path_, place);
}

void RunDirectory::require_place() const {
  struct stat ours {
  }, there{};
  if (descriptor_ < 0 || ::fstat(descriptor_, &ours) != 0) return;
  if (::stat(path_.c_str(), &there) == 0 && there.st_dev == ours.st_dev &&
      there.st_ino == ours.st_ino) {
    return;
  }
  throw OutputError(fmt::format(
      "cannot write to {}: the directory was removed or replaced during the run", path_.string()));
}

RunDirectory::~RunDirectory() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (written_ || stays_) return;
  for (auto made = made_.rbegin(); made != made_.rend(); ++made) remove_if_empty(*made);
}

void RunDirectory::make_directories(const fs::path& path) {
  if (path.empty() || fs::exists(path)) return;
  make_directories(path.parent_path());
  if (fs::create_directory(path)) made_.push_back(path);
}

void RunDirectory::write(const std::vector<File>& files) {
  require_place();
  std::string now;  // for messages
  try {
    std::vector<std::unique_ptr<AtomicFile>> all;
    for (const File& file : files) {
      now = (path_ / file.name).string();
      all.push_back(staged(file));
    }
    // There was room for all of them.
    for (std::size_t i = 0; i < files.size(); ++i) {
      now = (path_ / files[i].name).string();
      if (all[i]) begin(files[i].name);
      if (all[i]) all[i]->commit();
      own_.insert(files[i].name);
      written_ = true;
    }
  } catch (const std::system_error& error) {
    throw OutputError(fmt::format("cannot write {}: {}", now, error.code().message()));
  } catch (const InvalidArgument& error) {
    throw OutputError(fmt::format("cannot write {}", error.what()));
  }
}

/// The file with all its bytes, under another name yet; nothing where that is what is there.
std::unique_ptr<AtomicFile> RunDirectory::staged(const File& file) {
  const fs::path target = path_ / file.name;
  if (const std::string problem = objection(path_, file.name); !problem.empty()) {
    throw OutputError(fmt::format("cannot write {}: {}", target.string(), problem));
  }
  const bool may_be_there = !fresh_ || own_.contains(file.name);
  std::error_code error;
  if (may_be_there && !file.arrays && fs::is_regular_file(target, error) &&
      fs::file_size(target, error) == file.text.size() && detail::read_file(target) == file.text) {
    return nullptr;
  }
  make_directories(target.parent_path());
  auto staged =
      std::make_unique<AtomicFile>(target, may_be_there ? Existing::replace : Existing::keep);
  if (file.arrays) {
    write_npz(*staged, *file.arrays);
  } else {
    staged->write(file.text);
  }
  staged->flush();
  return staged;
}

/// A summary is not that of the run whose first file comes now.
void RunDirectory::begin(const fs::path& name) {
  if (fresh_ || !is_run_file(name.filename())) return;
  for (const fs::path& place : {fs::path(), name.parent_path()}) {
    if (begun_.insert(place).second) remove_summary(path_, place);
  }
}

std::string folder_name(const std::string& name) {
  std::string folder;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || (c == '.' && !folder.empty())) {
      folder += static_cast<char>(std::tolower(byte));
    } else if (!folder.empty() && folder.back() != '-') {
      folder += '-';
    }
  }
  while (!folder.empty() && folder.back() == '-') folder.pop_back();
  return folder;
}

}  // namespace symport::lab
