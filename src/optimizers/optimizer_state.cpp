// SPDX-License-Identifier: MIT
#include "symport/optimizers/optimizer_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace symport {

namespace {

constexpr StateKind all_kinds[] = {StateKind::cotangent, StateKind::squared_cotangent,
                                   StateKind::tangent, StateKind::point, StateKind::scalar};

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

std::string_view to_string(StateKind kind) {
  switch (kind) {
    case StateKind::cotangent:
      return "cotangent";
    case StateKind::squared_cotangent:
      return "squared_cotangent";
    case StateKind::tangent:
      return "tangent";
    case StateKind::point:
      return "point";
    case StateKind::scalar:
      return "scalar";
  }
  return "unknown";
}

std::optional<StateKind> state_kind(std::string_view name) {
  for (const StateKind kind : all_kinds) {
    if (to_string(kind) == name) return kind;
  }
  return std::nullopt;
}

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
