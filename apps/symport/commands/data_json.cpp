// SPDX-License-Identifier: MIT
#include "commands/data_json.hpp"

#include <nlohmann/json.hpp>

#include "lab/text/json_forms.hpp"

namespace symport::cli {

using namespace lab;

namespace {

/// As the JSON output has it, in small letters.
const char* kind_key(PackageKind kind) {
  switch (kind) {
    case PackageKind::npm:
      return "npm";
    case PackageKind::debian:
      return "debian";
    case PackageKind::pypi:
      break;
  }
  return "pypi";
}

Json provenance(const CatalogEntry& entry) {
  return {{"origin", entry.origin},
          {"licence", entry.licence},
          {"package_kind", kind_key(entry.kind)},
          {"package", entry.package}};
}

Json json_summary(const DataSummary& summary) {
  Json json{{"samples", summary.samples}, {"features", summary.features}};
  if (summary.outputs > 0) {
    json["outputs"] = summary.outputs;
  } else {
    Json counts = Json::object();
    for (const auto& [label, count] : summary.classes) counts[std::to_string(label)] = count;
    json["classes"] = summary.classes.size();
    json["class_counts"] = counts;
  }
  json["min"] = json_number(summary.smallest);
  json["max"] = json_number(summary.largest);
  json["mean"] = json_number(summary.mean);
  if (!summary.channel_means.empty()) json["channel_means"] = summary.channel_means;
  return json;
}

}  // namespace

std::string describe_json(const DataDescription& report) {
  Json json{{"name", report.name}, {"training", json_summary(report.training)}};
  json["test"] = report.test ? json_summary(*report.test) : Json(nullptr);
  json["files"] = Json::array();
  for (const DataFile& file : report.files) {
    Json item{{"path", file.path}, {"bytes", file.bytes}, {"sha256", file.sha256}};
    if (file.as_known) item["as_known"] = *file.as_known;
    json["files"].push_back(item);
  }
  if (report.entry != nullptr) json["provenance"] = provenance(*report.entry);
  return json_text(json);
}

std::string catalog_json(const DataDirectory& directory) {
  Json sets = Json::array();
  for (const CatalogEntry& entry : data_catalog()) {
    sets.push_back({{"name", entry.name},
                    {"summary", entry.summary},
                    {"training_samples", entry.samples()},
                    {"test_samples", entry.test_samples()},
                    {"features", entry.features()},
                    {"classes", entry.classes},
                    {"bytes", entry.bytes()},
                    {"stored", directory.complete(entry)},
                    {"directory", directory.of(entry).string()},
                    {"provenance", provenance(entry)}});
  }
  return json_text({{"data_dir", directory.path.string()}, {"sets", sets}});
}

std::string fetch_json(const CatalogEntry& entry, const DataDirectory& directory,
                       const FetchResult& result) {
  return json_text({{"name", entry.name},
                    {"directory", directory.of(entry).string()},
                    {"stored", result.stored},
                    {"kept", result.kept},
                    {"bytes", entry.bytes()},
                    {"provenance", provenance(entry)}});
}

}  // namespace symport::cli
