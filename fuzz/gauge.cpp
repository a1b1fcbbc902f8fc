// SPDX-License-Identifier: MIT
// The symmetries of a model (JSON), and a teleport along them.
#include "lab/data/gauge_file.hpp"

#include "lab/runs/gauge_teleport.hpp"
#include "support/bounded.hpp"
#include "support/mutate_inside.hpp"
#include "symport/core/invalid_argument.hpp"

using namespace symport;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const lab::Safetensors tensors =
      lab::Safetensors::of({{"a", {{2, 3}, std::vector<double>{1, 2, 3, 4, 5, 6}}},
                            {"b", {{2}, std::vector<float>{7, 8}}},
                            {"c", {{4, 2}, std::vector<double>{1, 0, 0, 2, 0, 3, 4, 0}}}});
  const fuzz::MemoryBound bound(size, 16 * fuzz::plain);
  try {
    const lab::Gauge gauge = lab::parse_gauge(fuzz::text_of(data, size), "input");
    for (const GaugeTarget target : {GaugeTarget::balance, GaugeTarget::orthonormal}) {
      const lab::GaugeTeleportResult result =
          lab::teleport_tensors(tensors, gauge, {"tensors", "input", target, lab::Scales::any});
      fuzz::require(result.certificate.accepted || result.tensors.file() == tensors.file(),
                    "a refused teleport leaves every byte as it was");
    }
  } catch (const InvalidArgument&) {
  }
  return 0;
}
