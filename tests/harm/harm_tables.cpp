// SPDX-License-Identifier: MIT
// The tables of docs/safety.md: harm_tables [functions|networks] [defaults|unguarded|noise] [SEEDS]
// [SEEDS]
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
  std::cout << markdown(grid == "networks" ? network_grid(options) : function_grid(options),
                        options.schedules);
}
