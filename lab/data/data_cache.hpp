// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lab/data/data_source.hpp"
#include "symport/training/batch_source.hpp"

namespace symport::lab {

/// Samples that several runs may share.
template <Real Scalar>
struct Samples {
  std::shared_ptr<const BatchSource<Scalar>> source;
  std::vector<Index> classes{};            ///< of each sample; empty: the targets are numbers
  std::vector<std::string> class_names{};  ///< where the file has names

  Index count() const { return source->samples(); }
  /// Of the first `count` samples those that stand for all when it is checked that a network fits:
  /// the first, and the one with the largest class.
  std::vector<Index> typical(Index count) const;
};

template <Real Scalar>
struct DataSet {
  Samples<Scalar> training;
  std::optional<Samples<Scalar>> test = std::nullopt;
};

template <Real Scalar>
Samples<Scalar> samples_of(SampleSet<Scalar> set);

/// `count` of the samples, drawn at random: always the same ones, in the order of the set. Tables
/// may be sorted, so the first ones need not stand for all. Throws InvalidArgument unless count is
/// from 1 to the number of samples.
template <Real Scalar>
Samples<Scalar> drawn(const Samples<Scalar>& all, Index count);

/// Data sets by name. Each is read once, however many runs use it; several threads may ask.
class DataCache {
 public:
  /// Throws OptionError about `option` or the label; an InvalidArgument names the file.
  template <Real Scalar>
  std::shared_ptr<const DataSet<Scalar>> open(const std::string& name, const DataOptions& options,
                                              const std::string& option = "data");

  /// Samples that are in memory already, under the name of an .npz file that need not exist.
  template <Real Scalar>
  void put(const std::string& name, SampleSet<Scalar> samples);

  /// How many sets were read from their files so far.
  std::size_t reads() const;

 private:
  using Key = std::vector<std::string>;
  static Key key_of(const std::string& name, const DataOptions& options);
  template <Real Scalar>
  using Sets = std::map<Key, std::shared_ptr<const DataSet<Scalar>>>;
  template <Real Scalar>
  Sets<Scalar>& sets();

  mutable std::mutex guard_;
  std::size_t reads_ = 0;
  Sets<float> in_float_;
  Sets<double> in_double_;
};

/// Tells data apart: how many samples and features, and the SHA-256 of all of them.
template <Real Scalar>
std::string fingerprint(const BatchSource<Scalar>& source);

}  // namespace symport::lab
