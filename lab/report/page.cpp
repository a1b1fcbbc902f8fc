// SPDX-License-Identifier: MIT
#include "lab/report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "lab/report/svg.hpp"
#include "lab/report/web_assets.hpp"

namespace symport::lab::report {

namespace {

/// Rows of a table in the page; its CSV file has them all.
constexpr std::size_t rows_shown = 200;

std::string csp_hash(std::string_view hexadecimal) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hexadecimal.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hexadecimal.substr(i, 2)), nullptr, 16));
  }
  return "'sha256-" + base64(bytes) + "'";
}

/// The name of the verdict's class in the style sheet: "not-confirmed".
std::string class_of(Verdict verdict) {
  std::string name(to_string(verdict));
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

class Writer {
 public:
  template <class... Values>
  void add(fmt::format_string<Values...> form, Values&&... values) {
    fmt::format_to(std::back_inserter(out_), form, std::forward<Values>(values)...);
  }
  void raw(std::string_view text) { out_ += text; }
  std::string finished() && { return std::move(out_); }

 private:
  std::string out_;
};

void write_downloads(Writer& out, const std::string& id, bool pictures) {
  out.raw("<div class=\"downloads\" role=\"group\" aria-label=\"Downloads\">");
  for (const char* kind : {"svg", "png", "csv"}) {
    if (!pictures && std::string_view(kind) != "csv") continue;
    std::string upper(kind);
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](char c) { return static_cast<char>(c - 'a' + 'A'); });
    out.add(
        "<button type=\"button\" data-download=\"{0}\" data-of=\"{1}\" "
        "aria-label=\"Download as {2}\">{2}</button>",
        kind, escaped(id), upper);
  }
  out.raw("</div>");
}

template <class Any>
void write_head(Writer& out, const Any& figure, const char* kind) {
  const Verdict verdict = figure.finding.verdict;
  out.add(
      "<figure class=\"{}\" id=\"{}\" aria-labelledby=\"{}-title\">\n<header><h3 "
      "id=\"{}-title\">{}</h3>",
      kind, escaped(figure.id), escaped(figure.id), escaped(figure.id), escaped(figure.title));
  write_downloads(out, figure.id, true);
  out.add("</header>\n<p class=\"finding\"><span class=\"badge {}\">{}</span> {}</p>\n",
          class_of(verdict), to_string(verdict), escaped(figure.finding.text));
}

template <class Any>
void write_foot(Writer& out, const Any& figure) {
  if (!figure.note.empty()) out.add("<figcaption>{}</figcaption>\n", escaped(figure.note));
  out.raw("</figure>\n");
}

void write_figure(Writer& out, const CurveFigure& figure) {
  write_head(out, figure, "curves");
  out.raw("<div class=\"controls\">");
  if (figure.x_axes.size() > 1) {
    out.raw("<fieldset class=\"switch\"><legend>against</legend>");
    for (std::size_t i = 0; i < figure.x_axes.size(); ++i) {
      out.add(
          "<label><input type=\"radio\" name=\"{0}-axis\" value=\"{1}\"{2}><span>{3}</span>"
          "</label>",
          escaped(figure.id), i, i == 0 ? " checked" : "", escaped(figure.x_axes[i].key));
    }
    out.raw("</fieldset>");
  }
  out.raw(
      "<div class=\"zoom\" role=\"group\" aria-label=\"Zoom\">"
      "<button type=\"button\" data-zoom=\"in\" aria-label=\"Zoom in\">+</button>"
      "<button type=\"button\" data-zoom=\"out\" aria-label=\"Zoom out\">\u2212</button>"
      "<button type=\"button\" data-zoom=\"reset\">whole</button></div></div>\n");
  out.add(
      "<div class=\"plot\" tabindex=\"0\" role=\"application\" aria-label=\"{}: arrow keys move "
      "the cursor, plus and minus zoom, 0 shows the whole\"></div>\n",
      escaped(figure.title));
  out.raw("<div class=\"legend\"><output class=\"position\"></output>");
  bool teleports = false;
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    const Series& series = figure.series[i];
    teleports = teleports || !series.teleports.empty();
    out.add(
        "<button type=\"button\" class=\"series\" aria-pressed=\"true\" data-series=\"{}\" "
        "data-points=\"{}\"><i class=\"swatch c{}\"></i><span>{}</span><output></output>"
        "</button>",
        i, series.y.size(), series.colour, escaped(series.name));
  }
  if (teleports) out.raw("<span class=\"key\"><i class=\"dot\"></i>teleport</span>");
  out.raw("</div>\n");
  for (std::size_t i = 0; i < figure.x_axes.size(); ++i) {
    out.add("<div class=\"static\" data-axis=\"{}\"{}>{}</div>\n", i, i == 0 ? "" : " hidden",
            curve_svg(figure, i));
  }
  write_foot(out, figure);
}

void write_button(Writer& out, const char* action, const char* label, const char* shape) {
  out.add(
      "<button type=\"button\" data-move=\"{}\" aria-label=\"{}\" title=\"{}\"><svg "
      "viewBox=\"0 0 16 16\" aria-hidden=\"true\"><path d=\"{}\"/></svg></button>",
      action, label, label, shape);
}

void write_figure(Writer& out, const LevelSetFigure& figure) {
  write_head(out, figure, "levels");
  out.add("<div class=\"static\">{}</div>\n", level_set_svg(figure));
  out.raw(
      "<div class=\"controls player\" role=\"group\" aria-label=\"Step through a trajectory\">");
  if (figure.trajectories.size() > 1) {
    out.raw("<label class=\"choice\"><span>follow</span><select>");
    for (std::size_t i = 0; i < figure.trajectories.size(); ++i) {
      out.add("<option value=\"{}\">{}</option>", i, escaped(figure.trajectories[i].name));
    }
    out.raw("<option value=\"-1\">all together</option></select></label>");
  }
  out.raw("<div class=\"buttons\">");
  write_button(out, "previous-jump", "Previous teleport", "M3 3h2v10H3zM13 3v10L6 8z");
  write_button(out, "back", "Step back", "M11 3v10L4 8z");
  write_button(out, "play", "Play", "M4 2v12l9-6z");
  write_button(out, "forward", "Step forward", "M5 3v10l7-5z");
  write_button(out, "next-jump", "Next teleport", "M11 3h2v10h-2zM3 3v10l7-5z");
  out.raw(
      "</div><input type=\"range\" min=\"0\" value=\"0\" step=\"1\" aria-label=\"Frame of the "
      "trajectory\"><output class=\"position\"></output></div>\n");
  write_foot(out, figure);
}

void write_figure(Writer& out, const HeatMap& figure) {
  write_head(out, figure, "heat");
  out.add(
      "<div class=\"static\" tabindex=\"0\" role=\"application\" aria-label=\"{}: arrow keys move "
      "from cell to cell\">{}</div>\n<output class=\"position\"></output>\n",
      escaped(figure.title), heat_map_svg(figure));
  write_foot(out, figure);
}

void write_table(Writer& out, const Table& table) {
  out.add("<section class=\"table\" id=\"{}\"><header><h3>{}</h3>", escaped(table.id),
          escaped(table.title));
  write_downloads(out, table.id, false);
  out.raw("</header>\n");
  if (!table.note.empty()) out.add("<p>{}</p>\n", escaped(table.note));
  out.add(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table><thead><tr>",
      escaped(table.title));
  for (const Column& column : table.columns) {
    out.add("<th scope=\"col\"{}>{}</th>", column.numeric ? " class=\"number\"" : "",
            escaped(column.heading));
  }
  out.raw("</tr></thead><tbody>\n");
  for (std::size_t i = 0; i < std::min(rows_shown, table.rows.size()); ++i) {
    out.raw("<tr>");
    for (std::size_t k = 0; k < table.rows[i].size(); ++k) {
      out.add("<td{}>{}</td>", table.columns[k].numeric ? " class=\"number\"" : "",
              escaped(table.rows[i][k].text));
    }
    out.raw("</tr>\n");
  }
  out.raw("</tbody></table></div>\n");
  if (table.rows.size() > rows_shown) {
    out.add("<p>The first {} of {} rows; the CSV file has all.</p>\n", rows_shown,
            table.rows.size());
  }
  out.raw("</section>\n");
}

}  // namespace

std::string page(const Report& report) {
  Writer out;
  out.add(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
      "{}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n<title>{}</title>\n<style>",
      csp_hash(web_script_sha256), csp_hash(web_style_sha256), escaped(report.title));
  out.raw(web_style);
  out.add(
      "</style>\n</head>\n<body>\n<header class=\"top\"><div><h1>{}</h1>{}</div>"
      "<button type=\"button\" class=\"theme\" aria-pressed=\"false\">dark</button></header>\n"
      "<main>\n",
      escaped(report.title),
      report.text.empty() ? "" : fmt::format("\n<p>{}</p>", escaped(report.text)));
  if (report.finding) {
    out.add("<p class=\"finding whole\"><span class=\"badge {}\">{}</span> {}</p>\n",
            class_of(report.finding->verdict), to_string(report.finding->verdict),
            escaped(report.finding->text));
  }
  for (const Section& section : report.sections) {
    out.raw("<section class=\"part\">\n");
    if (report.sections.size() > 1 || section.title != report.title) {
      out.add("<h2>{}</h2>\n", escaped(section.title));
    }
    if (!section.text.empty()) out.add("<p class=\"lead\">{}</p>\n", escaped(section.text));
    for (const Figure& figure : section.figures) {
      std::visit([&](const auto& f) { write_figure(out, f); }, figure);
    }
    for (const Table& table : section.tables) write_table(out, table);
    for (const Listing& listing : section.listings) {
      out.add("<details><summary>{}</summary><pre tabindex=\"0\">{}</pre></details>\n",
              escaped(listing.title), escaped(listing.text));
    }
    out.raw("</section>\n");
  }
  out.add("</main>\n<footer>{}</footer>\n<script type=\"application/json\" id=\"report-data\">",
          escaped(report.footer));
  out.raw(page_data(report));
  out.raw("</script>\n<script>");
  out.raw(web_script);
  out.raw("</script>\n</body>\n</html>\n");
  return std::move(out).finished();
}

}  // namespace symport::lab::report
