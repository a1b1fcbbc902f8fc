// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "symport/core/types.hpp"

namespace symport {

/// Shuffled mini-batches: which samples, in which order.
///
/// The order of an epoch is a function of (seed, epoch) alone, so a run resumed at any epoch sees
/// the same batches as an uninterrupted one.
class Batches {
 public:
  /// Throws InvalidArgument unless `samples` and `batch_size` are at least 1. A batch larger than
  /// the set is the whole set.
  Batches(Index samples, Index batch_size, std::uint64_t seed);
  /// Of the samples with these indices only, for example the training part of a split.
  Batches(std::vector<Index> samples, Index batch_size, std::uint64_t seed);

  /// Batches in an epoch; the last one is smaller when the size does not divide the set.
  Index count() const;
  Index samples() const { return static_cast<Index>(samples_.size()); }
  Index batch_size() const { return batch_size_; }

  /// All samples in the order of the epoch (Fisher-Yates).
  std::vector<Index> order(Index epoch) const;
  /// Batch number `index` of an epoch's order: a part of it, not a copy. `size` 0 means the batch
  /// size; another size begins at the same sample and ends at the end of the order at the latest.
  /// Throws std::logic_error unless 0 <= index < count().
  std::span<const Index> batch(const std::vector<Index>& order, Index index, Index size = 0) const;

 private:
  std::vector<Index> samples_;
  Index batch_size_;
  std::uint64_t seed_;
};

/// A set split in two at random.
struct Split {
  std::vector<Index> training;
  std::vector<Index> validation;
};

/// Draws `validation` of the samples 0 ... samples-1, a function of the arguments alone; both parts
/// are in ascending order. Throws InvalidArgument unless 0 <= validation < samples.
Split split(Index samples, Index validation, std::uint64_t seed);

}  // namespace symport
