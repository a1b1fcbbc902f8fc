// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "symport/objectives/mlp_objective.hpp"

namespace symport::benchmarks {

/// LibTorch's program (benchmarks/torch), a process of its own that answers one line per command.
class TorchSide {
 public:
  /// Starts the program; throws std::runtime_error when that fails.
  explicit TorchSide(const std::filesystem::path& program);
  ~TorchSide();
  TorchSide(const TorchSide&) = delete;
  TorchSide& operator=(const TorchSide&) = delete;

  /// The numbers of the answer; the first is seconds.
  std::vector<double> ask(const std::string& command) const;

  /// Hands network, batch and weights over, as `problem` (or `set`), and returns the loss there.
  template <Real Scalar>
  double give(const std::string& what, const MlpObjective<Scalar>& objective, In<Scalar> w) const;
  const std::filesystem::path& directory() const { return directory_; }
  const std::filesystem::path& program() const { return program_; }

 private:
  std::filesystem::path program_;
  std::filesystem::path directory_;  ///< for the arrays, removed at the end
  pid_t process_ = -1;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
};

}  // namespace symport::benchmarks
