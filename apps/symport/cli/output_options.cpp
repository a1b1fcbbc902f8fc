// SPDX-License-Identifier: MIT
#include "cli/output_options.hpp"

#include <algorithm>

namespace symport::cli {

namespace {

constexpr const char* group = "Output";

lab::Option typed(std::string name, std::string value, std::string help) {
  return {.name = std::move(name),
          .value = std::move(value),
          .help = std::move(help),
          .group = group,
          .role = lab::Role::execution,
          .typed_only = true};
}

lab::Option told(std::string name, std::string help) {
  return {.name = std::move(name),
          .value = "",
          .help = std::move(help),
          .group = group,
          .role = lab::Role::execution};
}

const lab::OptionTable<OutputOptions>& table() {
  using S = OutputOptions;
  static const lab::OptionTable<S> rows{
      row(typed("out", "DIR", "write the run to this directory, new or empty"), &S::out,
          lab::as_text()),
      row(typed("report", "FILE.html", "write a page with figures at the end (see symport report)"),
          &S::report, lab::as_text()),
      row(typed("figures", "DIR", "write every figure as SVG into this directory too"), &S::figures,
          lab::as_text()),
      row(typed("force", "", "let --out (and --report) replace files of an earlier run"), &S::force,
          lab::as_switch()),
      row(told("json", "the result as one JSON object on stdout"), &S::json, lab::as_switch()),
      row(told("quiet", "nothing but errors on stderr"), &S::quiet, lab::as_switch()),
      row(told("no-progress", "no progress line"), &S::no_progress, lab::as_switch()),
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
