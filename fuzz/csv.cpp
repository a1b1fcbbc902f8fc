// SPDX-License-Identifier: MIT
// A table of numbers: all of them finite, and its last column taken for classes.
#include "symport/data/csv.hpp"

#include "support/bounded.hpp"
#include "support/mutate_inside.hpp"
#include "symport/core/invalid_argument.hpp"

using namespace symport;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  const fuzz::MemoryBound bound(size, fuzz::plain);
  try {
    const CsvTable words = parse_csv(fuzz::text_of(data, size), "input", "label");
    const SampleSet<> named = samples_from_csv(words, "label", "input");
    fuzz::require(named.samples() == words.values.rows(), "every line is a sample");
    for (const Index k : named.classes) {
      fuzz::require(k >= 0 && (named.class_names.empty() || k < std::ssize(named.class_names)),
                    "every class has its name");
    }
  } catch (const InvalidArgument&) {
  }
  const CsvTable table = parse_csv(fuzz::text_of(data, size), "input");
  fuzz::require(table.values.allFinite(), "all numbers are finite");
  fuzz::require(table.values.cols() == static_cast<Index>(table.columns.size()),
                "every column has a name");
  const SampleSet<> samples = samples_from_csv(table, table.columns.back(), "input", {10});
  fuzz::require(samples.samples() == table.values.rows(), "every line is a sample");
  return 0;
} catch (const InvalidArgument&) {
  return 0;
}
