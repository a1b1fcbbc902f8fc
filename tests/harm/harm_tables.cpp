// SPDX-License-Identifier: MIT
// The tables of docs/safety.md:
//   harm_tables [functions|networks] [defaults|unguarded|noise] [SEEDS] [NAME=VALUE ...]
// with family=, optimizer=, schedule= for a part of the grid (the noise of a part is drawn anew),
// first= for the first seed (default 0), and list=yes for a line about every pair that ended in
// harm.
#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "harm/harm_grid.hpp"

int main(int count, char** words) {
  using namespace symport::harm;
  const std::string grid = count > 1 ? words[1] : "functions";
  const std::string treatment = count > 2 ? words[2] : "defaults";
  GridOptions options;
  if (count > 3) options.seeds = std::atoi(words[3]);
  if (treatment == "unguarded") options.treatment = Treatment::unguarded;
  if (treatment == "noise") options.treatment = Treatment::moved_start;
  if (grid == "networks") options.lengths = {300};
  for (int i = 4; i < count; ++i) {
    const std::string word = words[i], name = word.substr(0, word.find('='));
    const std::string value = word.substr(std::min(word.size(), name.size() + 1));
    if (name == "family") {
      options.family = value;
    } else if (name == "optimizer") {
      options.optimizers = {value};
    } else if (name == "schedule") {
      options.schedules = {value};
    } else if (name == "first") {
      options.first_seed = std::atoi(value.c_str());
    } else if (name == "list") {
      options.on_harm = [](const HarmedPair& pair) { std::cout << pair.brief_report() << '\n'; };
    } else {
      std::cerr << word << ": expected family=, optimizer=, schedule=, first= or list=yes\n";
      return 2;
    }
  }
  std::cout << markdown(grid == "networks" ? network_grid(options) : function_grid(options),
                        options.schedules);
}
