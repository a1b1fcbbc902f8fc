// SPDX-License-Identifier: MIT
#include "cli/errors.hpp"

#include <fmt/format.h>

#include <new>

#include "symport/data/atomic_file.hpp"
#include "terminal/terminal.hpp"

namespace symport::cli {

int guarded(const std::string& program, const std::function<int()>& action) {
  try {
    return action();
  } catch (const lab::UsageError& error) {
    print_error(fmt::format("{}: {}\n", program, error.what()));
    return exit_usage;
  } catch (const WriteError& error) {
    print_error(fmt::format("{}: {}\n", program, error.what()));
  } catch (const InvalidArgument& error) {
    print_error(fmt::format("{}: {}\n", program, error.what()));
    return exit_usage;
  } catch (const lab::OutputError& error) {
    print_error(fmt::format("{}: {}\n", program, error.what()));
  } catch (const std::bad_alloc&) {
    print_error(fmt::format("{}: out of memory\n", program));
  } catch (const std::exception& error) {
    print_error(fmt::format("{}: internal error: {}\n", program, error.what()));
  }
  return exit_failed;
}

}  // namespace symport::cli
