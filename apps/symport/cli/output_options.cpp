// SPDX-License-Identifier: MIT
#include "cli/output_options.hpp"

#include <algorithm>

namespace symport::cli {

namespace {

constexpr const char* group = "Output";

lab::Option option(std::string name, std::string value, std::string help) {
  return {std::move(name), std::move(value), std::move(help), group, lab::Role::execution};
}

const lab::OptionTable<OutputOptions>& table() {
  using S = OutputOptions;
  static const lab::OptionTable<S> rows{
      row(option("out", "DIR", "write the run to this directory, new or empty"), &S::out,
          lab::as_text()),
      row(option("report", "FILE.html",
                 "write a page with figures at the end (see symport report)"),
          &S::report, lab::as_text()),
      row(option("figures", "DIR", "write every figure as SVG into this directory too"),
          &S::figures, lab::as_text()),
      row(option("force", "",
                 "let --out (and --report) replace the files of an earlier run; all others stay"),
          &S::force, lab::as_switch()),
      row(option("json", "", "the result as one JSON object on stdout"), &S::json,
          lab::as_switch()),
      row(option("quiet", "", "nothing but errors on stderr"), &S::quiet, lab::as_switch()),
      row(option("no-progress", "", "no progress line"), &S::no_progress, lab::as_switch()),
  };
  return rows;
}

}  // namespace

std::unique_ptr<lab::RunDirectory> OutputOptions::directory() const {
  return out ? std::make_unique<lab::RunDirectory>(*out, force, "--out") : nullptr;
}

OutputOptions read_output_options(const lab::Arguments& arguments) {
  return table().read(arguments);
}

std::vector<lab::Option> output_flags(const std::vector<OutputFlag>& flags) {
  const std::vector<lab::Option> all = table().options();
  std::vector<lab::Option> chosen;
  for (const OutputFlag& flag : flags) {
    chosen.push_back(*std::find_if(all.begin(), all.end(), [&](const lab::Option& option) {
      return option.name == flag.name;
    }));
    if (!flag.help.empty()) chosen.back().help = flag.help;
    if (!flag.value.empty()) chosen.back().value = flag.value;
  }
  return chosen;
}

}  // namespace symport::cli
