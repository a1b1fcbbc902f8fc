// SPDX-License-Identifier: MIT
// The files of a run directory, as `symport report` reads them: config.toml, summary.json,
// trace.csv and teleports.jsonl, one behind the other with a line "%%" between them. What is read
// becomes a page.
#include "lab/report/page.hpp"
#include "lab/report/run_report.hpp"
#include "lab/runs/run_reader.hpp"
#include "lab/text/errors.hpp"
#include "support/bounded.hpp"
#include "support/mutate_inside.hpp"
#include "support/temporary_directory.hpp"

using namespace symport;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  static const test::TemporaryDirectory directory;
  std::string_view rest = fuzz::text_of(data, size);
  for (const char* name : {"config.toml", "summary.json", "trace.csv", "teleports.jsonl"}) {
    constexpr std::string_view mark = "\n%%\n";
    const std::size_t end = rest.find(mark);
    test::put_file(directory / name, std::string(rest.substr(0, end)));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + mark.size());
  }
  const fuzz::MemoryBound bound(size, 8 * fuzz::plain);
  const std::vector<lab::RunRecord> runs = lab::read_runs({directory.path().string()});
  fuzz::require(runs.size() == 1, "there is one run");
  for (const auto& [name, column] : runs[0].trace.columns) {
    fuzz::require(column.size() == runs[0].trace.rows(), "every column has all rows");
  }
  const std::string page = lab::report::page(lab::report::run_report(runs, ""));
  fuzz::require(page.ends_with("</html>\n"), "there is a whole page");
  return 0;
} catch (const InvalidArgument&) {
  return 0;
} catch (const lab::UsageError&) {
  return 0;
}
