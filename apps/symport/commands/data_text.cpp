// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "commands/texts.hpp"
#include "lab/text/suggestion.hpp"
#include "terminal/text_table.hpp"

namespace symport::cli {

using namespace lab;

namespace {

/// "54.9 MB", in powers of 1000.
std::string size_text(std::uint64_t bytes) {
  const auto number = static_cast<double>(bytes);
  if (number < 1e3) return fmt::format("{} B", bytes);
  if (number < 1e6) return fmt::format("{:.1f} kB", number / 1e3);
  if (number < 1e9) return fmt::format("{:.1f} MB", number / 1e6);
  return fmt::format("{:.1f} GB", number / 1e9);
}

std::string summary_text(const DataSummary& summary) {
  constexpr std::size_t shown = 20;
  std::string text =
      fmt::format("  {} samples of {} features, {:.4g} to {:.4g}, mean {:.4f}\n", summary.samples,
                  summary.features, summary.smallest, summary.largest, summary.mean);
  if (!summary.channel_means.empty()) {
    text += fmt::format("  channel means {:.4f}\n", fmt::join(summary.channel_means, " "));
  }
  if (summary.outputs > 0) return text + fmt::format("  {} numerical targets\n", summary.outputs);
  std::vector<std::string> counts;
  for (const auto& [label, count] : summary.classes) {
    if (counts.size() == shown) {
      counts.push_back("...");
      break;
    }
    counts.push_back(fmt::format("{}: {}", label, count));
  }
  return text + fmt::format("  {} classes ({})\n", summary.classes.size(), join(counts));
}

}  // namespace

std::string describe_text(const DataDescription& report, const Style& style) {
  std::string text = style.bold(report.name) + "\n";
  if (report.entry != nullptr) {
    text += fmt::format("  {}\n  origin: {}\n  licence: {}\n  fetched from: {} {}\n",
                        report.entry->summary, report.entry->origin, report.entry->licence,
                        to_string(report.entry->kind), report.entry->package);
  }
  text += style.bold(report.test ? "training set" : "samples") + "\n";
  text += summary_text(report.training);
  if (report.test) text += style.bold("test set") + "\n" + summary_text(*report.test);
  text += style.bold("files") + "\n";
  for (const DataFile& file : report.files) {
    text += fmt::format("  {} ({})\n    SHA-256 {}", file.path, size_text(file.bytes), file.sha256);
    if (file.as_known) text += *file.as_known ? ", as known" : ", " + style.bad("NOT as known");
    text += "\n";
  }
  return text;
}

std::string catalog_text(const DataDirectory& directory, const Style& style) {
  using Align = TextTable::Align;
  TextTable table({{"name", Align::left},
                   {"training"},
                   {"test"},
                   {"features"},
                   {"classes"},
                   {"size"},
                   {"stored", Align::left},
                   {"what", Align::left}});
  for (const CatalogEntry& entry : data_catalog()) {
    const std::size_t present = directory.files_present(entry);
    const std::string stored = present == 0 ? "no"
                               : present == entry.files.size()
                                   ? "yes"
                                   : fmt::format("{} of {} files", present, entry.files.size());
    table.add({entry.name, fmt::format("{}", entry.samples()),
               entry.test_samples() > 0 ? fmt::format("{}", entry.test_samples()) : "",
               fmt::format("{}", entry.features()),
               entry.classes > 0 ? fmt::format("{}", entry.classes) : "number",
               size_text(entry.bytes()), stored, entry.summary});
  }
  return table.text(style) +
         fmt::format("\nStored in {} ({}). Own data: idx:DIR, csv:FILE, FILE.npz\n",
                     directory.path.string(), directory.origin);
}

std::string fetch_text(const CatalogEntry& entry, const DataDirectory& directory,
                       const FetchResult& result) {
  const std::string where = directory.of(entry).string();
  if (result.stored.empty()) {
    return fmt::format("{} is complete and verified in {}: nothing to do (--force fetches again)\n",
                       entry.name, where);
  }
  return fmt::format("{}: {} file{}, {}, verified, in {}\norigin: {}\nlicence: {}\n", entry.name,
                     entry.files.size(), entry.files.size() == 1 ? "" : "s",
                     size_text(entry.bytes()), where, entry.origin, entry.licence);
}

}  // namespace symport::cli
