// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "lab/report/page.hpp"
#include "lab/report/run_report.hpp"
#include "lab/runs/run_config.hpp"
#include "lab/runs/run_reader.hpp"
#include "run.hpp"
#include "symport/data/atomic_file.hpp"
#include "symport/data/npz.hpp"

namespace symport::python {

using namespace nb::literals;
namespace fs = std::filesystem;

lab::RunRecord Run::record() const {
  return std::visit(
      [](const auto& run) -> lab::RunRecord {
        if constexpr (std::is_same_v<std::decay_t<decltype(run)>, lab::RunRecord>) {
          return run;
        } else {
          return lab::record_of(run);
        }
      },
      result);
}

const RunSummary* Run::summary() const {
  if (const auto* run = std::get_if<lab::FunctionResult>(&result)) return &run->summary;
  if (const auto* run = std::get_if<lab::NetworkResult>(&result)) return &run->summary;
  return nullptr;
}

namespace {

nb::dict trace_of(const Run& run) {
  nb::dict trace;
  for (const auto& [name, values] : run.record().trace.columns) {
    trace[name.c_str()] = to_python(values);
  }
  return trace;
}

/// The end of the trace's loss, or what the run itself knows better.
double loss_of(const Run& run) {
  if (const RunSummary* summary = run.summary()) return summary->final_loss;
  const std::vector<double>& losses = std::get<lab::RunRecord>(run.result).trace.loss();
  return losses.empty() ? std::numeric_limits<double>::quiet_NaN() : losses.back();
}

std::string text_of(const Run& run) {
  if (const RunSummary* summary = run.summary()) return summary->brief_report();
  const auto& record = std::get<lab::RunRecord>(run.result);
  return fmt::format("{}: {}, loss {:.4g}", record.directory.string(), to_string(record.status),
                     loss_of(run));
}

std::string json_text_of(const Run& run) {
  if (const auto* function = std::get_if<lab::FunctionResult>(&run.result)) {
    return lab::json_of(*function);
  }
  if (const auto* network = std::get_if<lab::NetworkResult>(&run.result)) {
    return lab::json_of(*network);
  }
  throw lab::UsageError("run", "was read from a directory, where summary.json is its JSON");
}

nb::object point_of(const Run& run) {
  const auto* function = std::get_if<lab::FunctionResult>(&run.result);
  return function ? to_python(In<double>(function->x)) : nb::none();
}

nb::object weights_of(const Run& run) {
  if (const auto* network = std::get_if<lab::NetworkResult>(&run.result)) {
    return to_python(network->model);
  }
  const auto* record = std::get_if<lab::RunRecord>(&run.result);
  if (record != nullptr && fs::exists(record->directory / "model.npz")) {
    return to_python(read_npz(record->directory / "model.npz"));
  }
  return nb::none();
}

/// Samples from arrays go into the directory, and the configuration says so.
void put_samples(const std::optional<ArrayMap>& samples, const char* file, std::string& name,
                 lab::RunDirectory& directory) {
  if (!samples) return;
  name = (fs::absolute(directory.path()) / file).string();
  directory.write(file, *samples);
}

void write(const Run& run, const std::string& path, bool force) {
  if (const auto* function = std::get_if<lab::FunctionResult>(&run.result)) {
    lab::RunDirectory directory(path, force, "directory");
    lab::write_run(*function, directory);
  } else if (const auto* network = std::get_if<lab::NetworkResult>(&run.result)) {
    lab::RunDirectory directory(path, force, "directory");
    lab::NetworkResult copy = *network;
    put_samples(run.data, "data.npz", copy.spec.data, directory);
    if (run.test) put_samples(run.test, "test.npz", copy.spec.test.emplace(), directory);
    lab::write_run(copy, directory);
  } else {
    throw lab::UsageError("run", "was read from a directory, where its files are already");
  }
}

void write_report(const std::vector<nb::object>& runs, const std::string& file,
                  const std::string& title, bool force) {
  if (runs.empty()) throw lab::UsageError("runs", "none, allowed are runs and run directories");
  if (fs::exists(file) && !force) {
    throw lab::UsageError("file", fmt::format("'{}' exists; force=True replaces it", file));
  }
  std::vector<lab::RunRecord> records;
  for (const nb::object& one : runs) {
    if (nb::isinstance<Run>(one)) {
      records.push_back(nb::cast<const Run&>(one).record());
    } else {
      for (lab::RunRecord& record : lab::read_runs({nb::cast<std::string>(one)})) {
        records.push_back(std::move(record));
      }
    }
  }
  for (const lab::RunRecord& record : records) {
    if (record.trace.rows() == 0) throw lab::UsageError("runs", "a run recorded no rows");
  }
  const nb::gil_scoped_release released;
  write_file(file, lab::report::page(lab::report::run_report(records, title)));
}

}  // namespace

void bind_runs(nb::module_& m) {
  nb::class_<Certificate>(
      m, "Certificate",
      "What a teleport did. Losses and gradients after it are evaluated at the moved parameters.")
      .def_ro("step", &Certificate::step, "Updates made before it.")
      .def_ro("loss_before", &Certificate::loss_before)
      .def_ro("loss_after", &Certificate::loss_after, "At the candidate, also when it was refused.")
      .def_ro("drift", &Certificate::drift, "Change of the loss as it is judged.")
      .def_ro("grad_sq_before", &Certificate::grad_sq_before, "|dL/dw|^2")
      .def_ro("grad_sq_after", &Certificate::grad_sq_after)
      .def_ro("curvature_before", &Certificate::curvature_before, "(dL/dw)' H (dL/dw)")
      .def_ro("curvature_after", &Certificate::curvature_after)
      .def_ro("condition", &Certificate::condition,
              "Of the group element: its largest stretch over its smallest.")
      .def_ro("evaluations", &Certificate::evaluations, "In gradients of the objective.")
      .def_ro("seconds", &Certificate::seconds)
      .def_ro("accepted", &Certificate::accepted)
      .def_ro("reason", &Certificate::reason, "What was done, or why the candidate was refused.")
      .def_prop_ro("relative_change", &Certificate::relative_change, "|L' - L| / |L|")
      .def_prop_ro("at_rounding_level", &Certificate::at_rounding_level)
      .def("__repr__", [](const Certificate& c) {
        return fmt::format(
            "<Certificate {}: {}; loss {:.6g} -> {:.6g}, |gradient|^2 {:.4g} -> {:.4g}>",
            c.accepted ? "accepted" : "refused", c.reason, c.loss_before, c.loss_after,
            c.grad_sq_before, c.grad_sq_after);
      });

  nb::class_<Run>(m, "Run", "A run that ended, or what its directory says about it.")
      .def_prop_ro(
          "status", [](const Run& run) { return std::string(to_string(run.record().status)); },
          "step_limit, converged, diverged or interrupted.")
      .def_prop_ro("loss", loss_of, "Where it ended.")
      .def_prop_ro("x", point_of, "The final point of a function's run; None for a network.")
      .def_prop_ro("weights", weights_of,
                   "The final weights of a network's run by name; None for a function.")
      .def_prop_ro(
          "teleports", [](const Run& run) { return run.record().teleports; },
          "The certificates of all teleports, refused ones included.")
      .def_prop_ro("trace", trace_of, "Columns of the trace by name, as NumPy arrays.")
      .def_prop_ro(
          "config", [](const Run& run) { return run.record().config_text; },
          "config.toml: every option, as a file that repeats the run.")
      .def_prop_ro(
          "steps",
          [](const Run& run) {
            const RunSummary* summary = run.summary();
            return summary ? summary->steps : static_cast<Index>(run.record().trace.rows());
          },
          "Updates made.")
      .def("to_json", json_text_of, "summary.json")
      .def("__repr__", [](const Run& run) { return fmt::format("<Run {}>", text_of(run)); });

  m.def("write_run", write, "run"_a, "directory"_a, "force"_a = false);
  m.def(
      "read_run", [](const std::string& directory) { return Run{lab::read_run(directory)}; },
      "directory"_a);
  m.def("report", write_report, "runs"_a, "file"_a, "title"_a = "", "force"_a = false);
  m.def(
      "options",
      [](const std::string& command) {
        std::vector<std::tuple<std::string, std::string, std::string>> list;
        for (const lab::Option& option : lab::run_options(command)) {
          list.emplace_back(option.name, option.value, option.help);
        }
        nb::list result;
        for (const auto& [name, value, help] : list)
          result.append(nb::make_tuple(name, value, help));
        return result;
      },
      "command"_a);
}

}  // namespace symport::python
