// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace symport::test {

/// A folder for stand-ins of other programs.
class Programs {
 public:
  explicit Programs(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
  }
  const std::filesystem::path& folder() const { return folder_; }
  /// A program that runs these lines of shell.
  void add(const std::string& name, const std::string& lines) const {
    std::ofstream(folder_ / name) << "#!/bin/sh\n" << lines << "\n";
    std::filesystem::permissions(folder_ / name, std::filesystem::perms::owner_all);
  }
  /// A PATH that finds them first.
  std::string path() const { return folder_.string() + ":" + std::getenv("PATH"); }

 private:
  std::filesystem::path folder_;
};

/// Another PATH for as long as this lives.
class OwnPath {
 public:
  explicit OwnPath(const std::string& path) : before_(std::getenv("PATH")) {
    ::setenv("PATH", path.c_str(), 1);
  }
  ~OwnPath() { ::setenv("PATH", before_.c_str(), 1); }
  OwnPath(const OwnPath&) = delete;
  OwnPath& operator=(const OwnPath&) = delete;

 private:
  std::string before_;
};

}  // namespace symport::test
