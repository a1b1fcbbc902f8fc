// SPDX-License-Identifier: MIT
#include "framework.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace symport::benchmarks {

namespace {

template <class T>
void write_raw(const std::filesystem::path& path, const T* data, std::size_t count) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(count * sizeof(T)));
  if (!file.flush()) throw std::runtime_error(path.string() + ": cannot be written");
}

/// Row after row.
template <Real Scalar>
void write_rows(const std::filesystem::path& path, const MatrixOf<Scalar>& A) {
  const MatrixOf<Scalar> transposed = A.transpose();
  write_raw(path, transposed.data(), static_cast<std::size_t>(A.size()));
}

}  // namespace

Framework::Framework(FrameworkProgram program, int threads) : program_(std::move(program)) {
  std::string name = (std::filesystem::temp_directory_path() / "symport-bench-XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::runtime_error(name + ": cannot be made");
  directory_ = name;
  std::array<int, 2> down{}, up{};
  // Other frameworks must not inherit an end: this one would never see that its input is closed.
  if (pipe2(down.data(), O_CLOEXEC) != 0 || pipe2(up.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error("no pipe");
  }
  process_ = fork();
  if (process_ < 0) throw std::runtime_error("no process for " + program_.name);
  if (process_ == 0) {
    dup2(down[0], STDIN_FILENO);
    dup2(up[1], STDOUT_FILENO);
    const std::string count = std::to_string(threads);
    // Frameworks have pools of threads below them that they do not reach.
    for (const char* pool : {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"}) {
      setenv(pool, count.c_str(), 1);
    }
    std::vector<char*> words;
    for (std::string& word : program_.command) words.push_back(word.data());
    words.push_back(const_cast<char*>(count.c_str()));
    words.push_back(nullptr);
    execv(words.front(), words.data());
    _exit(127);
  }
  close(down[0]);
  close(up[1]);
  to_ = fdopen(down[1], "w");
  from_ = fdopen(up[0], "r");
}

Framework::~Framework() {
  std::fclose(to_);
  std::fclose(from_);
  waitpid(process_, nullptr, 0);
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

std::vector<double> Framework::ask(const std::string& command) const {
  std::fputs((command + "\n").c_str(), to_);
  std::fflush(to_);
  std::array<char, 4096> line{};
  if (!std::fgets(line.data(), static_cast<int>(line.size()), from_)) {
    throw std::runtime_error(program_.name + " ended at: " + command);
  }
  constexpr std::string_view failed = "failed: ";
  if (std::string_view(line.data()).starts_with(failed)) {
    std::string reason(line.data() + failed.size());
    while (!reason.empty() && reason.back() == '\n') reason.pop_back();
    throw FrameworkFailure(reason);
  }
  std::istringstream in(line.data());
  std::vector<double> numbers;
  for (std::string word; in >> word;) numbers.push_back(std::strtod(word.c_str(), nullptr));
  if (numbers.empty()) throw std::runtime_error(program_.name + " said nothing to: " + command);
  return numbers;
}

template <Real Scalar>
double Framework::give(const std::string& what, const MlpObjective<Scalar>& objective,
                       In<Scalar> w) const {
  const Mlp& network = objective.network();
  for (Index m = 1; m <= network.layers(); ++m) {
    write_rows<Scalar>(directory_ / fmt::format("W{}", m), network.weights(m, w.data()));
  }
  // Columns are samples here, rows there: the same bytes.
  const MatrixOf<Scalar> X = objective.inputs().topRows(network.width(0));
  write_raw(directory_ / "X", X.data(), static_cast<std::size_t>(X.size()));
  const Targets<Scalar>& targets = objective.targets();
  if (targets.categorical()) {
    const std::vector<std::int64_t> classes(targets.classes.begin(), targets.classes.end());
    write_raw(directory_ / "y", classes.data(), classes.size());
  } else {
    write_raw(directory_ / "Y", targets.values.data(),
              static_cast<std::size_t>(targets.values.size()));
  }
  return ask(fmt::format("{} {} {} {} {} {}", what, directory_.string(),
                         std::same_as<Scalar, float> ? "float" : "double",
                         targets.categorical() ? "classes" : "numbers", objective.samples(),
                         fmt::join(network.widths(), " ")))
      .at(1);
}

template double Framework::give(const std::string&, const MlpObjective<float>&, In<float>) const;
template double Framework::give(const std::string&, const MlpObjective<double>&, In<double>) const;

}  // namespace symport::benchmarks
