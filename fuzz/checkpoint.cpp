// SPDX-License-Identifier: MIT
// A checkpoint: what was read is written as arrays that are read as the same checkpoint.
#include "symport/training/checkpoint.hpp"

#include "data/npy_format.hpp"
#include "support/archive.hpp"

using namespace symport;

namespace {

/// Values are compared as bytes: a nan is not equal to itself.
bool same(const ArrayMap& a, const ArrayMap& b) {
  if (a.size() != b.size()) return false;
  for (auto left = a.begin(), right = b.begin(); left != a.end(); ++left, ++right) {
    if (left->first != right->first || left->second.shape != right->second.shape ||
        detail::value_bytes(left->second) != detail::value_bytes(right->second)) {
      return false;
    }
  }
  return true;
}

template <Real Scalar>
void read(const ArrayMap& arrays) {
  const ArrayMap once = checkpoint_arrays(checkpoint_from_arrays<Scalar>(arrays, "input"));
  const ArrayMap twice = checkpoint_arrays(checkpoint_from_arrays<Scalar>(once, "written"));
  fuzz::require(same(once, twice), "a checkpoint that was read is written as the same one");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t factor = 8 * fuzz::compressed;  // read, and several times copied
  fuzz::read_archive(data, size, factor, [](const ArrayMap& arrays) {
    fuzz::attempt([&] { read<double>(arrays); });
    fuzz::attempt([&] { read<float>(arrays); });
  });
  return 0;
}
