// SPDX-License-Identifier: MIT
#include "symport/data/batches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "symport/core/invalid_argument.hpp"
#include "symport/core/random.hpp"

namespace symport {

namespace {

// Streams of their own: initialisation and searches draw from low streams of the same seed.
constexpr std::uint64_t epoch_streams = std::uint64_t{1} << 32;
constexpr std::uint64_t split_stream = std::uint64_t{2} << 32;

std::vector<Index> numbers(Index count) {
  std::vector<Index> all(static_cast<std::size_t>(std::max<Index>(count, 0)));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

}  // namespace

Batches::Batches(Index samples, Index batch_size, std::uint64_t seed)
    : Batches(numbers(samples), batch_size, seed) {}

Batches::Batches(std::vector<Index> samples, Index batch_size, std::uint64_t seed)
    : samples_(std::move(samples)), batch_size_(batch_size), seed_(seed) {
  if (samples_.empty()) throw InvalidArgument("samples", "none", "one or more");
  if (batch_size < 1) {
    throw InvalidArgument("batch_size", fmt::format("{}", batch_size), "a whole number >= 1");
  }
  batch_size_ = std::min(batch_size_, this->samples());
}

Index Batches::count() const { return (samples() + batch_size_ - 1) / batch_size_; }

std::vector<Index> Batches::order(Index epoch) const {
  if (epoch < 0) throw std::logic_error("Batches::order: epochs are counted from 0");
  std::vector<Index> order = samples_;
  Random(seed_, epoch_streams + static_cast<std::uint64_t>(epoch)).shuffle(order);
  return order;
}

std::span<const Index> Batches::batch(const std::vector<Index>& order, Index index,
                                      Index size) const {
  if (index < 0 || index >= count() || order.size() != samples_.size()) {
    throw std::logic_error("Batches::batch: no such batch");
  }
  const Index first = index * batch_size_;
  const Index length = std::min(size > 0 ? size : batch_size_, samples() - first);
  return std::span<const Index>(order).subspan(static_cast<std::size_t>(first),
                                               static_cast<std::size_t>(length));
}

Split split(Index samples, Index validation, std::uint64_t seed) {
  if (validation < 0 || validation >= samples) {
    throw InvalidArgument("validation", fmt::format("{} of {} samples", validation, samples),
                          "a whole number >= 0 that leaves a sample to train on");
  }
  std::vector<Index> order = numbers(samples);
  Random(seed, split_stream).shuffle(order);
  const auto cut = order.begin() + validation;
  Split parts{{cut, order.end()}, {order.begin(), cut}};
  std::sort(parts.training.begin(), parts.training.end());
  std::sort(parts.validation.begin(), parts.validation.end());
  return parts;
}

}  // namespace symport
