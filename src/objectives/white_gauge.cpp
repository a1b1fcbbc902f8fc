// SPDX-License-Identifier: MIT
#include "symport/objectives/white_gauge.hpp"

namespace symport {

std::string_view to_string(GaugeKernel kernel) {
  return kernel == GaugeKernel::batch ? "batch" : "average";
}

std::string_view to_string(GaugeLayers layers) {
  return layers == GaugeLayers::all ? "all" : "last";
}

template <Real Scalar>
double WhiteGauge<Scalar>::white_direction(In<Scalar> w, const WhiteGaugeOptions& options,
                                           Out<Scalar> memory, Out<Scalar> direction) const {
  // Pieces may come from several threads, but never overlap.
  return white_ranges(w, options, memory, [&](Index first, In<Scalar> range) {
    direction.segment(first, range.size()) = range;
  });
}

template class WhiteGauge<float>;
template class WhiteGauge<double>;

}  // namespace symport
