// SPDX-License-Identifier: MIT
#include "lab/data/data_summary.hpp"

#include <algorithm>
#include <stdexcept>

namespace symport::lab {

DataSummary summarize(const ImageSet& images) {
  if (images.pixels.empty()) throw std::logic_error("summarize: no images");
  constexpr double white = 255.0;
  DataSummary summary{.samples = images.size(), .features = images.features()};
  for (const std::uint8_t label : images.classes) ++summary.classes[label];
  const auto [low, high] = std::minmax_element(images.pixels.begin(), images.pixels.end());
  summary.smallest = *low / white;
  summary.largest = *high / white;
  const auto channels = static_cast<std::size_t>(images.channels);
  std::vector<std::uint64_t> sums(channels, 0);
  for (std::size_t i = 0; i < images.pixels.size(); i += channels) {
    for (std::size_t c = 0; c < channels; ++c) sums[c] += images.pixels[i + c];
  }
  const double per_channel = static_cast<double>(images.pixels.size() / channels);
  for (const std::uint64_t sum : sums) {
    summary.channel_means.push_back(static_cast<double>(sum) / white / per_channel);
    summary.mean += summary.channel_means.back() / static_cast<double>(channels);
  }
  if (channels == 1) summary.channel_means.clear();
  return summary;
}

DataSummary summarize(const SampleSet<>& samples) {
  if (samples.X.size() == 0) throw std::logic_error("summarize: no samples");
  DataSummary summary{
      .samples = samples.samples(), .features = samples.X.rows(), .outputs = samples.Y.rows()};
  for (const Index label : samples.classes) ++summary.classes[label];
  summary.smallest = samples.X.minCoeff();
  summary.largest = samples.X.maxCoeff();
  summary.mean = samples.X.mean();
  return summary;
}

}  // namespace symport::lab
