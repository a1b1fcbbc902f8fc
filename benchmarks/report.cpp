// SPDX-License-Identifier: MIT
#include "report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace symport::benchmarks {

void Report::add(Row row) {
  if (rows_.empty()) {
    fmt::print("{:<4}{:<78}{:>9}  {:<17}{:<9}{}\n", "", "work", "median", "quartiles", "goal", "");
  }
  fmt::print("{:<4}{:<78}{:>9.3g}  {:<17}{} {:<6.3g}{}\n", row.id, row.work, row.value.median,
             fmt::format("[{:.3g}, {:.3g}]", row.value.low, row.value.high),
             row.kind == Goal::at_most ? "<=" : ">=", row.goal, row.met() ? "met" : "NOT MET");
  if (!row.note.empty()) fmt::print("    {}\n", row.note);
  std::fflush(stdout);
  rows_.push_back(std::move(row));
}

void Report::remark(const std::string& text) {
  fmt::print("    {}\n", text);
  std::fflush(stdout);
  remarks_.push_back(text);
}

void Report::write_json(const std::string& path) const {
  const auto number = [](double x) {
    return std::isfinite(x) ? nlohmann::json(x) : nlohmann::json(fmt::format("{}", x));
  };
  nlohmann::json rows = nlohmann::json::array();
  for (const Row& row : rows_) {
    rows.push_back({{"id", row.id},
                    {"work", row.work},
                    {"value", number(row.value.median)},
                    {"goal", row.goal},
                    {"met", row.met()},
                    {"spread", {number(row.value.low), number(row.value.high)}},
                    {"note", row.note}});
  }
  std::ofstream file(path);
  file << nlohmann::json{{"rows", rows}, {"remarks", remarks_}}.dump(2) << '\n';
  if (!file.flush()) throw std::runtime_error(path + ": cannot be written");
}

}  // namespace symport::benchmarks
