// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/output_options.hpp"
#include "commands/all.hpp"
#include "lab/report/page.hpp"
#include "lab/report/pictures.hpp"
#include "lab/report/run_report.hpp"
#include "lab/runs/run_reader.hpp"
#include "lab/text/json_forms.hpp"
#include "symport/data/atomic_file.hpp"
#include "terminal/interruption.hpp"
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

std::string report_text(const report::Report& report, const Style& style) {
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

std::string report_json(const report::Report& report, const std::string& file) {
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

struct ReportOptions {
  std::vector<std::string> directories{};
  std::string title{};
};

const OptionTable<ReportOptions>& report_options() {
  using S = ReportOptions;
  static const OptionTable<S> table =
      OptionTable<S>("Options", {row({.name = "dir",
                                      .value = "DIR...",
                                      .help = "run directories, or directories that hold some",
                                      .positional = true,
                                      .many = true},
                                     &S::directories, as_text())})
          .add("Output",
               {row({"title", "TEXT", "heading of the page (default: the problems' names)"},
                    &S::title, as_text())});
  return table;
}

int run_report_command(const Arguments& arguments) {
  const OutputOptions output = read_output_options(arguments);
  const ReportOptions options = report_options().read(arguments);
  if (options.directories.empty()) {
    throw OptionError("dir",
                      "missing, allowed are directories made by --out of optimize and train");
  }
  const fs::path file = output.out.value_or(usual_file);
  if (fs::exists(file) && !output.force) {
    throw OptionError("out", fmt::format("'{}' exists; --force replaces it", file.string()));
  }
  const report::Report content = report::run_report(read_runs(options.directories), options.title);
  const std::string page = report::page(content);
  std::vector<std::pair<std::string, std::string>> pictures;
  if (output.figures) pictures = report::pictures(content);
  const GracefulStop graceful;  // the files that follow are written whole
  if (output.figures) {
    if (fs::exists(fs::path(*output.figures) / "summary.json")) {
      throw OptionError("figures", fmt::format("found '{}', a run directory, allowed is another",
                                               *output.figures));
    }
    RunDirectory figures(*output.figures, output.force, "--figures");
    for (const auto& [name, svg] : pictures) figures.write(name, svg);
  }
  symport::write_file(file, page, output.existing());
  print(output.json ? report_json(content, file.string())
                    : report_text(content, Style::for_stdout()));
  if (!output.quiet) print_error(fmt::format("Written to {}\n", file.string()));
  return exit_done;
}

}  // namespace

Command report_command() {
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
      .options =
          joined({report_options().options(),
                  output_flags({{"out", fmt::format("(default {})", usual_file), "FILE.html"},
                                "figures",
                                {"force", "let --out and --figures replace files"},
                                "json",
                                "quiet"})}),
      .run = run_report_command};
}

}  // namespace symport::cli
