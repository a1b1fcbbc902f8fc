// SPDX-License-Identifier: MIT
// Named tensors of a model, and what is made of them.
#include "lab/data/safetensors.hpp"

#include "lab/data/tensor_values.hpp"
#include "support/bounded.hpp"
#include "symport/core/invalid_argument.hpp"

using namespace symport;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const fuzz::MemoryBound bound(size, 4 * fuzz::plain);
  try {
    const lab::Safetensors file = lab::Safetensors::parse(bytes, "input");
    fuzz::require(file.file() == bytes, "a file that was read is written as it was");
    std::size_t held = 0;
    for (const auto& [name, tensor] : file.tensors()) {
      held += file.bytes(tensor).size();
      if (!lab::is_number(tensor.dtype)) continue;
      const Vector values = lab::decode(tensor.dtype, file.bytes(tensor));
      std::string back(file.bytes(tensor).size(), '\0');
      lab::encode(tensor.dtype, values, back.data());
      // A signalling NaN becomes a quiet one.
      fuzz::require(!values.allFinite() || back == file.bytes(tensor),
                    "numbers that were read are written as they were");
    }
    fuzz::require(held + 8 <= size, "tensors do not overlap");
    const lab::Safetensors again = lab::Safetensors::of(lab::arrays_of(file));
    for (const auto& [name, tensor] : file.tensors()) {
      const auto found = again.tensors().find(name);
      fuzz::require(
          found != again.tensors().end() && again.bytes(found->second) == file.bytes(tensor),
          "arrays make a file with the same values");
    }
  } catch (const InvalidArgument&) {
  }
  return 0;
}
