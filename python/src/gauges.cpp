// SPDX-License-Identifier: MIT
#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>

#include <set>

#include "arrays.hpp"
#include "bindings.hpp"
#include "lab/data/tensor_values.hpp"
#include "lab/runs/gauge_teleport.hpp"

namespace symport::python {

using namespace nb::literals;

namespace {

lab::GaugeTeleportSpec spec_of(const std::string& objective, const std::string& scales) {
  lab::Arguments arguments;
  arguments.add({"objective", objective, "objective"});
  arguments.add({"scales", scales, "scales"});
  return lab::gauge_teleport_options().read(arguments);
}

/// The tensors that a gauge names, each once.
std::set<std::string> gauge_names(const std::string& gauge) {
  std::set<std::string> names;
  for (const auto& group : lab::parse_gauge(gauge, "gauge").groups) {
    for (const auto& slot : group.slots) names.insert(slot.tensor);
  }
  return names;
}

/// The certificate as JSON, and the tensors.
nb::tuple gauge_tensors(const nb::dict& tensors, const std::string& gauge,
                        const std::string& objective, const std::string& scales) {
  lab::GaugeTeleportSpec spec = spec_of(objective, scales);
  spec.weights = "tensors";
  spec.gauge = "gauge";
  const ArrayMap arrays = to_arrays(tensors, spec.weights);
  const lab::GaugeTeleportResult result = [&] {
    const nb::gil_scoped_release released;
    return lab::teleport_tensors(lab::Safetensors::of(arrays), lab::parse_gauge(gauge, spec.gauge),
                                 spec);
  }();
  return nb::make_tuple(lab::json_of(result.certificate),
                        to_python(lab::arrays_of(result.tensors)));
}

std::string gauge_file(const std::string& weights, const std::string& gauge, const std::string& out,
                       const std::string& objective, const std::string& scales, bool force) {
  lab::GaugeTeleportSpec spec = spec_of(objective, scales);
  spec.weights = weights;
  spec.gauge = gauge;
  if (std::filesystem::exists(out) && !force) {
    throw lab::UsageError("out", "'" + out + "' exists; force=True replaces it");
  }
  const nb::gil_scoped_release released;
  const lab::GaugeTeleportResult result = lab::teleport_by_gauge(spec);
  if (result.certificate.accepted) lab::write_tensors(out, result.tensors);
  return lab::json_of(result.certificate);
}

}  // namespace

void bind_gauges(nb::module_& m) {
  m.def("gauge_names", gauge_names, "gauge"_a);
  m.def("gauge_tensors", gauge_tensors, "tensors"_a, "gauge"_a, "objective"_a, "scales"_a);
  m.def("gauge_file", gauge_file, "weights"_a, "gauge"_a, "out"_a, "objective"_a, "scales"_a,
        "force"_a);
}

}  // namespace symport::python
