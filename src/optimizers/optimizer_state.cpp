// SPDX-License-Identifier: MIT
#include "symport/optimizers/optimizer_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace symport {

namespace {

/// The buffer of that name, or the end.
template <class Buffers>
auto find(Buffers& buffers, std::string_view name) {
  return std::find_if(buffers.begin(), buffers.end(),
                      [&](const auto& buffer) { return buffer.name == name; });
}

template <class Buffers>
auto& values_of(Buffers& buffers, std::string_view name) {
  const auto found = find(buffers, name);
  if (found == buffers.end()) {
    throw std::logic_error(fmt::format("the optimizer's state has no buffer '{}'", name));
  }
  return found->values;
}

}  // namespace

template <Real Scalar>
void OptimizerState<Scalar>::add(std::string name, StateKind kind, Index size) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  if (name.empty() || !std::all_of(name.begin(), name.end(), plain)) {
    throw std::logic_error(fmt::format("'{}' cannot name a buffer of an optimizer's state", name));
  }
  if (has(name)) {
    throw std::logic_error(fmt::format("the optimizer's state has a buffer '{}' already", name));
  }
  buffers.push_back({std::move(name), kind, VectorOf<Scalar>::Zero(size)});
}

template <Real Scalar>
bool OptimizerState<Scalar>::has(std::string_view name) const {
  return find(buffers, name) != buffers.end();
}

template <Real Scalar>
VectorOf<Scalar>& OptimizerState<Scalar>::operator[](std::string_view name) {
  return values_of(buffers, name);
}

template <Real Scalar>
const VectorOf<Scalar>& OptimizerState<Scalar>::operator[](std::string_view name) const {
  return values_of(buffers, name);
}

template struct OptimizerState<float>;
template struct OptimizerState<double>;

}  // namespace symport
