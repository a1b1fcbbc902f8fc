// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "symport/symmetries/orbit.hpp"

namespace symport {

/// An orbit, or the reason why there is none through this point with this data although the input
/// is well-formed: a batch that is too large or rank-deficient. Used like a pointer.
template <Real Scalar>
class OrbitOrReason {
 public:
  template <std::derived_from<BasicOrbit<Scalar>> Kind>
  OrbitOrReason(std::unique_ptr<Kind> orbit) : orbit_(std::move(orbit)) {}
  /// `reason` is one line with the numbers.
  static OrbitOrReason none(std::string reason) {
    OrbitOrReason result{std::unique_ptr<BasicOrbit<Scalar>>()};
    result.reason_ = std::move(reason);
    return result;
  }

  explicit operator bool() const { return orbit_ != nullptr; }
  /// Empty when there is an orbit.
  const std::string& reason() const { return reason_; }

  /// The orbit. Throws std::logic_error with the reason when there is none.
  BasicOrbit<Scalar>* get() const {
    if (!orbit_) throw std::logic_error("there is no orbit: " + reason_);
    return orbit_.get();
  }
  BasicOrbit<Scalar>& operator*() const { return *get(); }
  BasicOrbit<Scalar>* operator->() const { return get(); }
  std::unique_ptr<BasicOrbit<Scalar>> take() && {
    get();
    return std::move(orbit_);
  }

 private:
  std::unique_ptr<BasicOrbit<Scalar>> orbit_;
  std::string reason_;
};

}  // namespace symport
