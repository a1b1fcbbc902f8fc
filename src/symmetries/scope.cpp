// SPDX-License-Identifier: MIT
#include "symport/symmetries/scope.hpp"

#include <fmt/format.h>

namespace symport {

std::string_view to_string(Scope::Data data) {
  switch (data) {
    case Scope::Data::all:
      return "all";
    case Scope::Data::batch:
      return "batch";
    case Scope::Data::none:
      break;
  }
  return "none";
}

std::string Scope::text() const {
  switch (data) {
    case Data::all:
      return "on all data";
    case Data::batch:
      return fmt::format("on {} of {} samples", samples, of);
    case Data::none:
      break;
  }
  return fmt::format("on none of {} samples", of);
}

}  // namespace symport
