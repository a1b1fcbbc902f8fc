// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <vector>

#include "symport/data/image_set.hpp"
#include "symport/data/sample_set.hpp"

namespace symport::lab {

/// What there is to say about a set at a glance. Of images the values are those that a network
/// sees, 0 to 1.
struct DataSummary {
  Index samples = 0;
  Index features = 0;
  Index outputs = 0;                    ///< of numerical targets; 0 when there are classes
  std::map<Index, Index> classes = {};  ///< how many samples each class has
  double smallest = 0.0;                ///< of all features
  double largest = 0.0;
  double mean = 0.0;
  std::vector<double> channel_means = {};  ///< of images with more than one channel
};

/// Both throw std::logic_error when there is no sample.
DataSummary summarize(const ImageSet& images);
DataSummary summarize(const SampleSet<>& samples);

}  // namespace symport::lab
