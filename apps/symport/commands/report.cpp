// SPDX-License-Identifier: MIT
#include "commands/report.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "lab/report/page.hpp"
#include "lab/report/pictures.hpp"
#include "lab/report/run_report.hpp"
#include "lab/runs/run_directory.hpp"
#include "lab/text/json_forms.hpp"
#include "symport/data/atomic_file.hpp"
#include "terminal/terminal.hpp"

namespace symport::cli {

using namespace lab;

namespace {

namespace fs = std::filesystem;
using report::CurveFigure;
using report::LevelSetFigure;

constexpr const char* usual_file = "report.html";

Json json_series(const CurveFigure& figure) {
  Json list = Json::array();
  for (const report::Series& series : figure.series) {
    list.push_back({{"name", series.name}, {"points", series.y.size()}});
  }
  return list;
}

Json json_series(const LevelSetFigure& figure) {
  Json list = Json::array();
  for (const report::Trajectory& way : figure.trajectories) {
    list.push_back({{"name", way.name}, {"points", way.x.size()}});
  }
  return list;
}

Json json_series(const report::HeatMap& figure) {
  return Json::array({{{"name", figure.value.key}, {"points", figure.values.size()}}});
}

std::string as_text(const report::Report& report, const Style& style) {
  std::string text;
  for (const report::Section& section : report.sections) {
    text += style.bold(section.title) + "\n";
    for (const report::Figure& any : section.figures) {
      std::visit(
          [&](const auto& figure) {
            text += fmt::format("  {}: {} [{}]\n", figure.title, figure.finding.text,
                                to_string(figure.finding.verdict));
          },
          any);
    }
  }
  return text;
}

std::string as_json(const report::Report& report, const std::string& file) {
  Json json{{"file", file}, {"title", report.title}, {"figures", Json::array()}};
  for (const report::Section& section : report.sections) {
    for (const report::Figure& any : section.figures) {
      std::visit(
          [&](const auto& figure) {
            json["figures"].push_back({{"id", figure.id},
                                       {"section", section.title},
                                       {"title", figure.title},
                                       {"finding", figure.finding.text},
                                       {"verdict", to_string(figure.finding.verdict)},
                                       {"series", json_series(figure)}});
          },
          any);
    }
  }
  return json_text(json);
}

int run_report_command(const Given& given) {
  const std::vector<std::string> directories = given.list("dir");
  if (directories.empty()) {
    throw UsageError("DIR", "missing, allowed are directories made by --out of optimize and train");
  }
  const fs::path file = given.text("out").value_or(usual_file);
  const bool force = given.is_on("force"), json = given.is_on("json"), quiet = given.is_on("quiet");
  if (fs::exists(file) && !force) {
    throw UsageError(given.origin("out"),
                     fmt::format("'{}' exists; --force replaces it", file.string()));
  }
  const std::vector<report::Run> runs = report::read_runs(directories);
  const report::Report content = report::run_report(runs, given.text("title").value_or(""));

  if (const auto path = given.text("figures")) {
    if (fs::exists(fs::path(*path) / "summary.json")) {
      throw UsageError(given.origin("figures"),
                       fmt::format("found '{}', a run directory, allowed is another", *path));
    }
    RunDirectory figures(*path, force, given.origin("figures"));
    for (const auto& [name, svg] : report::pictures(content)) figures.write(name, svg);
  }
  blaming(given.origin("out"), [&] { symport::write_file(file, report::page(content)); });
  print(json ? as_json(content, file.string()) : as_text(content, Style::for_stdout()));
  if (!quiet) print_error(fmt::format("Written to {}\n", file.string()));
  return exit_done;
}

}  // namespace

Command report_command() {
  const std::string output = "Output";
  return {
      .name = "report",
      .summary = "an HTML page with the figures of some runs, and the figures as SVG files",
      .details =
          "Reads run directories and writes one HTML file that needs nothing else: curves,\n"
          "trajectories on level sets, certificates, configurations. Runs that differ in their\n"
          "seeds only become one series with its mean and standard deviation. Prints what each\n"
          "figure should show and whether it does.",
      .examples =
          "symport report runs/plain runs/teleport\n"
          "symport report runs --out regression.html --figures pictures --force",
      .positionals = {{"dir", "DIR...", "run directories, or directories that hold some", "Options",
                       true}},
      .options = {{"title", "TEXT", "heading of the page (default: the problems' names)", output},
                  {"out", "FILE.html", fmt::format("(default {})", usual_file), output},
                  {"figures", "DIR", "write every figure as SVG into this directory too", output},
                  {"force", "", "let --out and --figures replace files", output},
                  common::json(),
                  common::quiet()},
      .run = run_report_command};
}

}  // namespace symport::cli
