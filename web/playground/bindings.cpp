// SPDX-License-Identifier: MIT
/// What the page's script calls: numbers and texts in buffers. web/playground/worker.js is the
/// other side.
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "function_play.hpp"
#include "network_play.hpp"
#include "words.hpp"

namespace {

using namespace symport;
using namespace symport::playground;

std::string input, text;
std::vector<double> numbers;
std::unique_ptr<FunctionPlay> function;
std::unique_ptr<NetworkPlay> network;

Play& play() {
  if (function) return *function;
  if (network) return *network;
  throw std::logic_error("no run was opened");
}

/// 1 when `action` came to its end; else 0, and the text says why.
template <class Action>
int done(const Action& action) {
  try {
    action();
    return 1;
  } catch (const std::exception& error) {
    text = error.what();
    return 0;
  }
}

}  // namespace

#define EXPORT(name) __attribute__((export_name(#name)))

extern "C" {

/// Asked before every step of a run: 0 ends it.
__attribute__((import_module("env"), import_name("goes_on"))) int goes_on();

/// Room for `size` bytes of UTF-8: the words of a command line, one a line.
EXPORT(words) char* words(int size) {
  input.assign(static_cast<std::size_t>(size), '\0');
  return input.data();
}
EXPORT(text_data) const char* text_data() { return text.data(); }
EXPORT(text_size) int text_size() { return static_cast<int>(text.size()); }
EXPORT(numbers_data) const double* numbers_data() { return numbers.data(); }
EXPORT(numbers_size) int numbers_size() { return static_cast<int>(numbers.size()); }

EXPORT(open_function) int open_function() {
  function.reset();
  network.reset();
  return done([] {
    function = std::make_unique<FunctionPlay>(lines_of(input));
    text = function->about();
  });
}
EXPORT(open_network) int open_network() {
  function.reset();
  network.reset();
  return done([] {
    network = std::make_unique<NetworkPlay>(lines_of(input));
    text = network->about();
  });
}

/// The text then has the run's status, steps, evaluations and final loss.
EXPORT(run) int run() {
  return done([] {
    play().run([] { return goes_on() != 0; });
    const RunSummary& summary = play().summary();
    text =
        fmt::format("status\t{}\nsteps\t{}\nevaluations\t{}\nloss\t{}\n", to_string(summary.status),
                    summary.steps, summary.evaluations, summary.final_loss);
  });
}
EXPORT(trace) int trace() {
  return done([] { numbers = play().trace(); });
}
EXPORT(teleports) int teleports() {
  return done([] {
    numbers = play().teleports();
    text = play().reasons();
  });
}
EXPORT(level_lines)
int level_lines(double x0, double y0, double x1, double y1, int columns, int rows) {
  return done([&] {
    numbers = dynamic_cast<FunctionPlay&>(play()).level_lines({x0, y0, x1, y1, columns, rows});
  });
}
EXPORT(orbit) int orbit(double x1, double x2, int count, double mark1, double mark2) {
  return done([&] {
    numbers =
        dynamic_cast<FunctionPlay&>(play()).orbit(Vector{{x1, x2}}, count, Vector{{mark1, mark2}});
  });
}
EXPORT(conditions) int conditions() {
  return done([] { numbers = dynamic_cast<FunctionPlay&>(play()).conditions(); });
}
EXPORT(samples) int samples() {
  return done([] { numbers = dynamic_cast<NetworkPlay&>(play()).samples(); });
}
EXPORT(region) int region(double x0, double y0, double x1, double y1, int columns, int rows) {
  return done([&] {
    numbers = dynamic_cast<NetworkPlay&>(play()).region({x0, y0, x1, y1, columns, rows});
  });
}
/// Step and loss of the rows since the last call; may be called while `run` asks `goes_on`.
EXPORT(news) int news() {
  return done([] { numbers = dynamic_cast<NetworkPlay&>(play()).news(); });
}
EXPORT(accuracy) double accuracy() {
  return network ? network->accuracy() : std::numeric_limits<double>::quiet_NaN();
}
}
