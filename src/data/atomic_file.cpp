// SPDX-License-Identifier: MIT
#include "symport/data/atomic_file.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

namespace symport {

namespace fs = std::filesystem;

namespace {

/// The directory entry of a rename reaches the disk with its directory. Some file systems cannot
/// flush directories; the file is complete either way, so failure is no error.
void flush_directory(const fs::path& directory) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

constexpr const char* temporary_prefix = ".symport-";
constexpr const char* temporary_suffix = ".tmp";

fs::path directory_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

/// 0, or the error: EEXIST when there is a file of the new name.
int rename_to_free_name(const fs::path& from, const fs::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  // A file system that does not know this can link.
  if (::link(from.c_str(), to.c_str()) != 0) return errno;
  ::unlink(from.c_str());
  return 0;
}

}  // namespace

AtomicFile::AtomicFile(const fs::path& target, Existing existing)
    : target_(target), real_(target), existing_(existing) {
  std::error_code missing;
  if (fs::path followed = fs::canonical(target, missing); !missing) real_ = std::move(followed);

  struct stat present {};
  const bool exists = ::stat(real_.c_str(), &present) == 0;
  if (exists && !S_ISREG(present.st_mode)) {
    const char* kind = S_ISDIR(present.st_mode) ? "a directory" : "a device, pipe or socket";
    throw InvalidArgument(target_.string(), kind, "a new name or a regular file to replace");
  }

  // Names do not contain the target's: that may already be as long as a name can be.
  static std::atomic<unsigned> counter{0};
  const std::string prefix = temporary_prefix + std::to_string(::getpid()) + "-";
  do {
    temporary_ = directory_of(real_) / (prefix + std::to_string(counter++) + temporary_suffix);
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && (errno == EEXIST || errno == EINTR));
  if (descriptor_ < 0) {
    const int error = errno;
    temporary_.clear();
    fail("creating a file in its directory", error);
  }
  if (exists) ::fchmod(descriptor_, present.st_mode & 07777);
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::write(std::string_view bytes) {
  if (descriptor_ < 0) throw std::logic_error("AtomicFile::write after commit");
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("writing", errno);
    written_ += static_cast<std::uint64_t>(count);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void AtomicFile::flush() {
  if (descriptor_ < 0) throw std::logic_error("AtomicFile::flush twice or after commit");
  if (::fsync(descriptor_) != 0) fail("flushing to the disk", errno);
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) fail("closing", errno);
}

void AtomicFile::commit() {
  if (temporary_.empty()) throw std::logic_error("AtomicFile::commit twice");
  if (descriptor_ >= 0) flush();
  int error = 0;
  if (existing_ == Existing::keep) {
    error = rename_to_free_name(temporary_, real_);
    if (error == EEXIST) {
      throw InvalidArgument(target_.string(), "a file that was put there in the meantime",
                            "a name that is free");
    }
  } else if (::rename(temporary_.c_str(), real_.c_str()) != 0) {
    error = errno;
  }
  if (error != 0) fail("renaming the finished file", error);
  temporary_.clear();
  flush_directory(directory_of(real_));
}

void AtomicFile::fail(const char* action, int error) const {
  const std::string found =
      "the error \"" + std::generic_category().message(error) + "\" when " + action;
  const std::string allowed =
      "a path in an existing directory that can be written to, with room on its disk";
  const bool begun = !temporary_.empty();
  if (begun || error == ENOSPC || error == EDQUOT) {
    throw WriteError(target_.string(), found, allowed);
  }
  throw InvalidArgument(target_.string(), found, allowed);
}

void AtomicFile::discard() noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

bool is_temporary_file(const fs::path& path) {
  const std::string name = path.filename().string();
  const std::string_view prefix = temporary_prefix, suffix = temporary_suffix;
  if (name.size() < prefix.size() + suffix.size()) return false;
  if (!name.starts_with(prefix) || !name.ends_with(suffix)) return false;
  const std::string numbers =
      name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
  const std::size_t dash = numbers.find('-');
  const auto whole = [](const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  };
  return dash != std::string::npos && whole(numbers.substr(0, dash)) &&
         whole(numbers.substr(dash + 1));
}

void write_file(const fs::path& target, std::string_view bytes, Existing existing) {
  AtomicFile file(target, existing);
  file.write(bytes);
  file.commit();
}

}  // namespace symport
