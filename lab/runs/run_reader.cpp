// SPDX-License-Identifier: MIT
#include "lab/runs/run_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "data/input.hpp"
#include "lab/config/config_reader.hpp"
#include "lab/text/errors.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/core/version.hpp"

namespace symport::lab {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

std::string read_text(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) {
    const bool last = file.filename() == "summary.json";
    throw UsageError(file.string(), last ? "missing; it is written last, so the run has not ended"
                                         : "missing, a run directory has it");
  }
  try {
    return detail::read_file(file);
  } catch (const InvalidArgument& problem) {
    throw UsageError(problem.field(), problem.detail());
  }
}

json parse_json(const std::string& text, const std::string& place) {
  try {
    json object = json::parse(text);
    if (object.is_object()) return object;
  } catch (const json::exception& error) {
    throw UsageError(place, std::string("not JSON: ") + error.what());
  }
  throw UsageError(place, "allowed is a JSON object");
}

const json& field(const json& object, const char* name, const std::string& place) {
  const auto found = object.find(name);
  if (found == object.end()) throw UsageError(place, fmt::format("no field '{}'", name));
  return *found;
}

/// For a message. Lists and objects are not shown: they may be nested so deeply that writing them
/// would exhaust the stack.
std::string shown(const json& value) {
  return value.is_structured() ? fmt::format("an {}", value.type_name()) : value.dump();
}

std::string text_field(const json& object, const char* name, const std::string& place) {
  const json& value = field(object, name, place);
  if (value.is_string()) return value.get<std::string>();
  throw UsageError(fmt::format("{}: {}", place, name),
                   fmt::format("found {}, allowed is a string", shown(value)));
}

bool truth_field(const json& object, const char* name, const std::string& place) {
  const json& value = field(object, name, place);
  if (value.is_boolean()) return value.get<bool>();
  throw UsageError(fmt::format("{}: {}", place, name),
                   fmt::format("found {}, allowed is true or false", shown(value)));
}

/// Numbers, and the strings that stand for what JSON has no number for.
std::optional<double> as_number(const json& value) {
  if (value.is_number()) return value.get<double>();
  if (value == "nan") return std::nan("");
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

double number_field(const json& object, const char* name, const std::string& place) {
  const json& value = field(object, name, place);
  if (const auto number = as_number(value)) return *number;
  throw UsageError(fmt::format("{}: {}", place, name),
                   fmt::format("found {}, allowed is a number", shown(value)));
}

Index whole_field(const json& object, const char* name, const std::string& place) {
  const json& value = field(object, name, place);
  constexpr std::uint64_t largest = std::numeric_limits<Index>::max();
  if (value.is_number_unsigned() && value.get<std::uint64_t>() <= largest) {
    return value.get<Index>();
  }
  throw UsageError(fmt::format("{}: {}", place, name),
                   fmt::format("found {}, allowed is a whole number >= 0", shown(value)));
}

/// A list of as many numbers as the trace has coordinates.
Vector point_field(const json& object, const char* name, std::size_t dimension,
                   const std::string& place) {
  const json& value = field(object, name, place);
  const auto refuse = [&] {
    throw UsageError(fmt::format("{}: {}", place, name),
                     fmt::format("found {}, allowed is a list of {} numbers, as trace.csv has",
                                 shown(value), dimension));
  };
  if (!value.is_array() || value.size() != dimension) refuse();
  Vector point(static_cast<Index>(dimension));
  for (std::size_t i = 0; i < dimension; ++i) {
    const auto number = as_number(value[i]);
    if (!number) refuse();
    point[static_cast<Index>(i)] = *number;
  }
  return point;
}

/// Null, or not there in files of earlier programs: the default.
Scope scope_field(const json& object, const std::string& place) {
  const auto found = object.find("scope");
  Scope scope;
  if (found == object.end() || found->is_null()) return scope;
  const std::string inside = place + ": scope";
  if (!found->is_object()) throw UsageError(inside, "allowed is a JSON object");
  const std::string data = text_field(*found, "data", inside);
  for (const Scope::Data kind : {Scope::Data::all, Scope::Data::batch, Scope::Data::none}) {
    if (data == to_string(kind)) scope.data = kind;
  }
  if (data != to_string(scope.data)) {
    throw UsageError(inside + ": data",
                     fmt::format("found '{}', allowed is all, batch or none", data));
  }
  if (scope.data != Scope::Data::all) {
    scope.samples = whole_field(*found, "samples", inside);
    scope.of = whole_field(*found, "of", inside);
  }
  if (const auto check = found->find("check"); check != found->end() && check->is_object()) {
    scope.checked = whole_field(*check, "samples", inside + ": check");
    scope.loss_before = number_field(*check, "loss_before", inside + ": check");
    scope.loss_after = number_field(*check, "loss_after", inside + ": check");
  }
  return scope;
}

void read_teleports(const fs::path& file, RunRecord& run) {
  const std::size_t dimension = run.trace.dimension();
  std::istringstream lines(read_text(file));
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string place = fmt::format("{}:{}", file.string(), ++number);
    const json object = parse_json(line, place);
    const auto get = [&](const char* name) { return number_field(object, name, place); };
    run.teleports.push_back({.step = whole_field(object, "step", place),
                             .loss_before = get("loss_before"),
                             .loss_after = get("loss_after"),
                             .drift = get("drift"),
                             .grad_sq_before = get("grad_sq_before"),
                             .grad_sq_after = get("grad_sq_after"),
                             .curvature_before = get("curvature_before"),
                             .curvature_after = get("curvature_after"),
                             .condition = get("condition"),
                             .evaluations = get("evaluations"),
                             .seconds = get("seconds"),
                             .accepted = truth_field(object, "accepted", place),
                             .reason = text_field(object, "reason", place),
                             .scope = scope_field(object, place)});
    const Certificate& certificate = run.teleports.back();
    const bool accepted = certificate.accepted;
    TraceTeleport jump{.step = certificate.step,
                       .accepted = accepted,
                       .loss_before = certificate.loss_before,
                       .loss_after = accepted ? certificate.loss_after : certificate.loss_before};
    if (run.trace.index == to_string(RowUnit::epoch)) {
      jump.epoch = whole_field(object, "epoch", place);
      jump.batch = whole_field(object, "batch", place);
    }
    if (dimension > 0) {
      jump.before = point_field(object, "x_before", dimension, place);
      jump.after = point_field(object, "x_after", dimension, place);
    }
    run.jumps.push_back(std::move(jump));
  }
}

/// The rows of another version mean something else.
void check_trace_version(const json& summary, const std::string& file) {
  const Index found =
      summary.contains("trace_version") ? whole_field(summary, "trace_version", file) : Index{1};
  if (found == Trace::version) return;
  throw UsageError(file + ": trace_version",
                   fmt::format("found {}{}, allowed is {}: repeat the run with its config.toml",
                               found, found == 1 ? " (Symport 0.1)" : "", Trace::version));
}

RunStatus status_field(const json& object, const std::string& place) {
  const std::string text = text_field(object, "status", place);
  for (const RunStatus status :
       {RunStatus::step_limit, RunStatus::converged, RunStatus::diverged, RunStatus::interrupted}) {
    if (text == to_string(status)) return status;
  }
  throw UsageError(place + ": status",
                   fmt::format("found '{}', allowed is step_limit, converged, diverged or "
                               "interrupted",
                               text));
}

/// The run directories at or below `root`.
std::vector<fs::path> run_directories(const fs::path& root) {
  if (!fs::exists(root))
    throw UsageError("DIR", fmt::format("{} does not exist; name the directory of a run (--out of "
                                        "optimize, train, ...) or one that holds several",
                                        root.string()));
  if (!fs::is_directory(root)) {
    throw UsageError("DIR", fmt::format("found '{}', which is not a directory", root.string()));
  }
  if (fs::exists(root / "config.toml")) return {root};
  std::vector<fs::path> found;
  for (auto entry = fs::recursive_directory_iterator(root); entry != fs::end(entry); ++entry) {
    if (entry.depth() > 16) entry.disable_recursion_pending();
    if (entry->path().filename() == "config.toml") found.push_back(entry->path().parent_path());
  }
  if (found.empty()) {
    throw UsageError("DIR",
                     fmt::format("found '{}', which is not a run directory: no config.toml is "
                                 "in it or below; --out of optimize and train makes one",
                                 root.string()));
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// {major, minor}; throws nothing, {-1, -1} is no version.
std::pair<int, int> release(const std::string& version) {
  std::pair<int, int> result{-1, -1};
  const char* end = version.data() + version.size();
  const auto [dot, bad] = std::from_chars(version.data(), end, result.first);
  if (bad != std::errc{} || dot == end || *dot != '.') return {-1, -1};
  const auto [rest, worse] = std::from_chars(dot + 1, end, result.second);
  if (worse != std::errc{} || rest == end || *rest != '.') return {-1, -1};
  return result;
}

}  // namespace

RunRecord read_run(const fs::path& directory) {
  RunRecord run;
  run.directory = directory;
  const std::string config = (directory / "config.toml").string();
  run.config_text = read_config_text(config, config);
  run.spec = parse_run_config(run.config_text, config);
  const std::string file = (directory / "summary.json").string();
  const json summary = parse_json(read_text(file), file);
  run.version = text_field(summary, "version", file);
  check_version(run.version, file + ": version");
  check_trace_version(summary, file);
  run.status = status_field(summary, file);
  if (summary.contains("machine")) run.machine = text_field(summary, "machine", file);
  if (summary.contains("loss_invariant")) {
    run.loss_invariant = truth_field(summary, "loss_invariant", file);
  }
  const fs::path trace = directory / "trace.csv";
  run.trace = parse_trace(read_text(trace), trace.string());
  read_teleports(directory / "teleports.jsonl", run);
  return run;
}

void check_version(const std::string& version, const std::string& origin) {
  const std::pair<int, int> found = release(version),
                            own = release(std::string(symport::version()));
  if (found >= std::pair(0, 1) && found <= own) return;
  throw UsageError(origin,
                   fmt::format("found '{}', allowed is a version from 0.1 to {}.{}, which is "
                               "this program's",
                               version, own.first, own.second));
}

std::vector<RunRecord> read_runs(const std::vector<std::string>& directories) {
  std::vector<RunRecord> runs;
  std::set<fs::path> known;
  for (const std::string& name : directories) {
    try {
      for (const fs::path& directory : run_directories(name)) {
        if (known.insert(fs::canonical(directory)).second) runs.push_back(read_run(directory));
      }
    } catch (const fs::filesystem_error& error) {
      throw UsageError("DIR", fmt::format("found '{}' ({})", name, error.code().message()));
    }
  }
  return runs;
}

}  // namespace symport::lab
