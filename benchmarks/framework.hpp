// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "symport/objectives/mlp_objective.hpp"

namespace symport::benchmarks {

/// How to start a program of benchmarks/frameworks, its number of threads as the last word.
struct FrameworkProgram {
  std::string name;  ///< PyTorch, torch.compile, JAX
  std::vector<std::string> command;
};

/// The framework cannot do what it was asked for; its own words.
class FrameworkFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A program of benchmarks/frameworks, a process of its own that answers one line per command.
class Framework {
 public:
  /// Starts the program; throws std::runtime_error when that fails.
  explicit Framework(FrameworkProgram program, int threads = 1);
  ~Framework();
  Framework(const Framework&) = delete;
  Framework& operator=(const Framework&) = delete;

  const std::string& name() const { return program_.name; }
  const FrameworkProgram& program() const { return program_; }

  /// The numbers of the answer; the first is seconds. Throws FrameworkFailure.
  std::vector<double> ask(const std::string& command) const;

  /// Hands network, batch and weights over, as `problem` (or `set`), and returns the loss there.
  template <Real Scalar>
  double give(const std::string& what, const MlpObjective<Scalar>& objective, In<Scalar> w) const;
  const std::filesystem::path& directory() const { return directory_; }

 private:
  FrameworkProgram program_;
  std::filesystem::path directory_;  ///< for the arrays, removed at the end
  pid_t process_ = -1;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
};

}  // namespace symport::benchmarks
