// SPDX-License-Identifier: MIT
#pragma once

namespace symport::cli {

/// From now on the first SIGINT, SIGTERM or SIGHUP only asks to stop (`interrupted()`); the second
/// ends the program at once. Signals that are ignored already (nohup) stay so.
void watch_for_interruption();

bool interrupted();

}  // namespace symport::cli
