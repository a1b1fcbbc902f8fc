// SPDX-License-Identifier: MIT
#include "commands/data_fetch.hpp"

#include "terminal/interruption.hpp"
#include "terminal/progress.hpp"

namespace symport::cli {

using namespace lab;

FetchResult fetch_with_progress(const CatalogEntry& entry, const DataDirectory& directory,
                                bool force, bool shown) {
  const GracefulStop graceful;
  Progress progress({.shown = shown, .first = 0.0, .interval = 0.2});
  return fetch_data(
      entry, directory,
      {.force = force,
       .keep_going =
           [&] {
             progress.tick();
             return !interrupted();
           },
       .begins = [&](const std::string& stage) { progress.begin(entry.name + ": " + stage); }});
}

}  // namespace symport::cli
