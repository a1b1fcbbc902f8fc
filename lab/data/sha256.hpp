// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace symport::lab {

/// SHA-256 (FIPS 180-4) of bytes that come one piece after the other.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void update(std::string_view bytes);
  /// 64 lower-case hexadecimal digits. The last call: nothing may be added after it.
  std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Of a file's bytes as they are, whatever they hold. Throws InvalidArgument with the path and the
/// system's reason when it cannot be read.
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace symport::lab
