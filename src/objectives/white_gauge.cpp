// SPDX-License-Identifier: MIT
#include "symport/objectives/white_gauge.hpp"

namespace symport {

std::string_view to_string(GaugeKernel kernel) {
  return kernel == GaugeKernel::batch ? "batch" : "average";
}

std::string_view to_string(GaugeLayers layers) {
  return layers == GaugeLayers::all ? "all" : "last";
}

}  // namespace symport
