// SPDX-License-Identifier: MIT
#include "contest.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace symport::benchmarks {

std::size_t Contest::ours(std::function<double()> seconds) {
  work_.push_back(std::move(seconds));
  return work_.size() - 1;
}

std::size_t Contest::theirs(const std::string& command, double units, const Check& check) {
  for (std::size_t i = 0; i < bench_.frameworks.size(); ++i) {
    const Framework& framework = *bench_.frameworks[i];
    try {
      check(framework, framework.ask(command));
    } catch (const FrameworkFailure& failure) {
      bench_.report.remark(
          fmt::format("{} cannot do '{}': {}", framework.name(), command, failure.what()));
      continue;
    }
    entries_.push_back({i, commands_, work_.size(), units});
    work_.emplace_back([&framework, command] { return framework.ask(command).front(); });
  }
  return commands_++;
}

void Contest::run(int rounds) {
  times_.emplace(work_.size());
  times_->run(rounds, work_);
}

std::vector<Contest::Entry> Contest::entries_of(std::size_t theirs) const {
  std::vector<Entry> chosen;
  std::copy_if(entries_.begin(), entries_.end(), std::back_inserter(chosen),
               [&](const Entry& entry) { return entry.theirs == theirs; });
  return chosen;
}

void Contest::add_fastest(const std::string& id, const Rows& rows) const {
  const std::vector<Entry> entries = entries_of(rows.theirs);
  if (entries.empty()) return;
  std::vector<Ratio> ratios;
  std::string note = fmt::format("ours {:.3f} ms", milliseconds(rows.ours, rows.units));
  for (const Entry& entry : entries) {
    ratios.push_back(ratio(entry.kind, rows.ours, entry.units, rows.units));
    note += fmt::format("; {} {:.3f} ms, {:.3g} times", bench_.frameworks[entry.framework]->name(),
                        milliseconds(entry.kind, entry.units), ratios.back().median);
  }
  const auto fastest =
      std::min_element(ratios.begin(), ratios.end(),
                       [](const Ratio& a, const Ratio& b) { return a.median < b.median; });
  bench_.report.add(
      {id, rows.work + ": fastest framework / ours", *fastest, Goal::at_least, rows.goal, note});
}

void Contest::add_each(const std::array<const char*, 3>& ids, const Rows& rows) const {
  for (const Entry& entry : entries_of(rows.theirs)) {
    const std::string& name = bench_.frameworks[entry.framework]->name();
    bench_.report.add(
        {ids.at(entry.framework), fmt::format("{}: {} / ours", rows.work, name),
         ratio(entry.kind, rows.ours, entry.units, rows.units), Goal::at_least, rows.goal,
         fmt::format("ours {:.3f} ms, {} {:.3f} ms", milliseconds(rows.ours, rows.units), name,
                     milliseconds(entry.kind, entry.units))});
  }
}

}  // namespace symport::benchmarks
