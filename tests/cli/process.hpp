// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace symport::cli::testing {

struct Finished {
  int exit_code = -1;  ///< -1: ended by a signal, or by the time limit
  int signal = 0;
  std::string out;
  std::string err;
};

struct Surroundings {
  std::filesystem::path directory = {};                 ///< working directory; empty: this one
  std::map<std::string, std::string> environment = {};  ///< added to this program's
  bool stderr_on_terminal = false;                      ///< a pseudo-terminal instead of a pipe
  bool close_stdout_early = false;                      ///< nobody reads, as behind `| head -c 0`
  int ignored_signal = 0;        ///< that the program inherits as ignored, like SIGHUP under nohup
  std::string stdout_file = {};  ///< instead of a pipe
  bool no_more_threads = false;  ///< the system refuses every thread but the first
  long largest_file = -1;        ///< in bytes, as on a disk that is full; -1: any
  /// Called with the process id once the program runs.
  std::function<void(int)> meanwhile = {};
};

/// Runs the built program to its end (at most ten minutes) and returns what it said.
Finished symport(const std::vector<std::string>& arguments, const Surroundings& where = {});

/// The words, and more after them.
inline std::vector<std::string> with(std::vector<std::string> words,
                                     const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// Returns when the program handles or ignores the signal: the system's way would end it.
void wait_until_handled(int process, int signal);
/// For `meanwhile`: waits for that, then for `delay`, and sends the signal.
std::function<void(int)> send_after(std::chrono::milliseconds delay, int signal);

/// Whether the process has not ended yet.
bool still_runs(int process);
/// Returns when the file or directory is there, or the process has ended.
void wait_until_exists(const std::filesystem::path& path, int process);

/// A directory of its own for each test, removed at its end.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  const std::filesystem::path& path() const { return path_; }
  /// A path inside, as an argument.
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  /// How many things are inside.
  std::size_t entries() const;

 private:
  std::filesystem::path path_;
};

std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& text);
std::vector<std::string> lines_of(const std::string& text);

}  // namespace symport::cli::testing
