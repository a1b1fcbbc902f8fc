// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lab/reproduce/experiment.hpp"

namespace symport::lab {

inline constexpr const char* experiment_file_name = "experiment.toml";

/// The experiment in `directory`/`name`/experiment.toml, in its full or its quick form:
///
///   title, see, command, seeds   of the experiment; `clock`: it reports times; `show`: the ids of
///                                the figures that its page has (default: all)
///   [options]                    of every run
///   [quick]                      options, and seeds, that replace those above in the quick form
///   [axis.NAME]                  label, linear, values; `quick`: those of the quick form; every
///                                other key is an option with one entry for each value
///   [[run]]                      name, options; in its table `quick` those of the quick form;
///                                `over`: the names of one or two axes; `panel`: the section of the
///                                page that shows it (default: all of them)
///   [[figure]]                   id, title, see, label, linear, runs (with axes), and a quantity
///   [[expect]]                   run, a quantity, `reduce` (of a run with axes); `full`, `quick`:
///                                the interval [low, high] of each form; without one, not expected
///
/// A quantity is column, at, at_loss, at_change, relative_to, speed_up_over, statistic. Throws
/// UsageError with file and line for anything else.
Experiment read_experiment(const std::filesystem::path& directory, const std::string& name,
                           bool quick);

/// The names of the experiments below a directory, sorted.
std::vector<std::string> experiment_names(const std::filesystem::path& directory);

}  // namespace symport::lab
