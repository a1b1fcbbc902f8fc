// SPDX-License-Identifier: MIT
#include "lab/data/data_cache.hpp"

#include <algorithm>
#include <numeric>

#include "lab/data/sha256.hpp"
#include "symport/data/batches.hpp"
#include "symport/training/image_source.hpp"
#include "symport/training/sample_targets.hpp"

namespace symport::lab {

namespace {

template <Real Scalar>
Samples<Scalar> open_images(const IdxPair& pair) {
  ImageSet images = read_idx_images(pair.images, pair.classes);
  std::vector<Index> classes(images.classes.begin(), images.classes.end());
  return {std::make_shared<ImageSource<Scalar>>(std::move(images)), std::move(classes)};
}

template <Real Scalar>
DataSet<Scalar> read_set(const DataSource& source, const DataOptions& options,
                         const std::string& option) {
  if (source.is_table()) return {samples_of(table_samples<Scalar>(source, options, option))};
  const IdxFiles files = image_files(source, options, option);
  DataSet<Scalar> set{open_images<Scalar>(files.training)};
  if (!files.test) return set;
  set.test = open_images<Scalar>(*files.test);
  const Index features = set.test->source->features(), expected = set.training.source->features();
  if (features != expected) {
    throw InvalidArgument(files.test->images.string(), fmt::format("images of {} values", features),
                          fmt::format("{}, as in the training set", expected));
  }
  return set;
}

}  // namespace

template <Real Scalar>
std::vector<Index> Samples<Scalar>::typical(Index count) const {
  if (classes.empty()) return {0};
  return {0, std::max_element(classes.begin(), classes.begin() + count) - classes.begin()};
}

template <Real Scalar>
Samples<Scalar> samples_of(SampleSet<Scalar> set) {
  Targets<Scalar> targets = targets_of(set);
  std::vector<Index> classes = targets.classes;
  return {std::make_shared<DenseSource<Scalar>>(std::move(set.X), std::move(targets)),
          std::move(classes), std::move(set.class_names)};
}

template <Real Scalar>
Samples<Scalar> drawn(const Samples<Scalar>& all, Index count) {
  constexpr std::uint64_t seed = 0;
  const std::vector<Index> chosen = split(all.count(), all.count() - count, seed).training;
  MatrixOf<Scalar> X;
  Targets<Scalar> targets;
  all.source->load(chosen, X, targets);
  std::vector<Index> classes = targets.classes;
  return {std::make_shared<DenseSource<Scalar>>(std::move(X), std::move(targets)),
          std::move(classes), all.class_names};
}

DataCache::Key DataCache::key_of(const std::string& name, const DataOptions& options) {
  return {absolute_data_name(name),          options.label.value_or(""),
          options.target.value_or(""),       options.data_dir.value_or(""),
          join(options.class_names, "\n"),   join(options.ignore, "\n"),
          fmt::format("{}", options.classes)};
}

template <>
DataCache::Sets<float>& DataCache::sets<float>() {
  return in_float_;
}
template <>
DataCache::Sets<double>& DataCache::sets<double>() {
  return in_double_;
}

template <Real Scalar>
std::shared_ptr<const DataSet<Scalar>> DataCache::open(const std::string& name,
                                                       const DataOptions& options,
                                                       const std::string& option) {
  const DataSource source = parse_data_source(name, option);
  require_label_fits(source, options);
  const std::scoped_lock lock(guard_);
  std::shared_ptr<const DataSet<Scalar>>& set = sets<Scalar>()[key_of(name, options)];
  if (!set) {
    set = std::make_shared<DataSet<Scalar>>(read_set<Scalar>(source, options, option));
    ++reads_;
  }
  return set;
}

template <Real Scalar>
void DataCache::put(const std::string& name, SampleSet<Scalar> samples) {
  const std::scoped_lock lock(guard_);
  sets<Scalar>()[key_of(name, {})] =
      std::make_shared<DataSet<Scalar>>(DataSet<Scalar>{samples_of(std::move(samples))});
}

std::size_t DataCache::reads() const {
  const std::scoped_lock lock(guard_);
  return reads_;
}

template <Real Scalar>
std::string fingerprint(const BatchSource<Scalar>& source) {
  constexpr Index at_once = 1000;  // few, so that they stay in the cache and need little memory
  Sha256 sum;
  const auto add = [&](const auto* values, std::size_t count) {
    sum.update({reinterpret_cast<const char*>(values), count * sizeof(*values)});
  };
  MatrixOf<Scalar> X;
  Targets<Scalar> targets;
  for (Index first = 0; first < source.samples(); first += at_once) {
    std::vector<Index> some(static_cast<std::size_t>(std::min(at_once, source.samples() - first)));
    std::iota(some.begin(), some.end(), first);
    source.load(some, X, targets);
    add(X.data(), static_cast<std::size_t>(X.size()));
    add(targets.values.data(), static_cast<std::size_t>(targets.values.size()));
    add(targets.classes.data(), targets.classes.size());
  }
  return fmt::format("{} samples, {} features, {}", source.samples(), source.features(), sum.hex());
}

template struct Samples<float>;
template struct Samples<double>;
template Samples<float> samples_of(SampleSet<float>);
template Samples<double> samples_of(SampleSet<double>);
template Samples<float> drawn(const Samples<float>&, Index);
template Samples<double> drawn(const Samples<double>&, Index);
template std::shared_ptr<const DataSet<float>> DataCache::open(const std::string&,
                                                               const DataOptions&,
                                                               const std::string&);
template std::shared_ptr<const DataSet<double>> DataCache::open(const std::string&,
                                                                const DataOptions&,
                                                                const std::string&);
template void DataCache::put(const std::string&, SampleSet<float>);
template void DataCache::put(const std::string&, SampleSet<double>);
template std::string fingerprint(const BatchSource<float>&);
template std::string fingerprint(const BatchSource<double>&);

}  // namespace symport::lab
