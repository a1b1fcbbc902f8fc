// SPDX-License-Identifier: MIT
#include "symport/data/sample_set.hpp"

#include "data/array_check.hpp"
#include "data/input.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/data/npz.hpp"

namespace symport {

namespace {

void require_samples(const Array& array, Index samples, const std::string& field) {
  if (array.shape.empty() || array.shape[0] != samples) {
    throw InvalidArgument(field, "shape " + shape_string(array.shape),
                          std::to_string(samples) + " samples, the rows of X");
  }
}

std::vector<Index> read_classes(const Array& array, const ClassRange& range,
                                const std::string& field) {
  if (array.dtype() == DType::f4 || array.dtype() == DType::f8) {
    throw InvalidArgument(field, "dtype " + std::string(to_string(array.dtype())),
                          "integer classes, 0, 1, 2, ...; numbers to be predicted are called Y");
  }
  if (array.shape.size() != 1) {
    throw InvalidArgument(field, "shape " + shape_string(array.shape), "one dimension");
  }
  std::vector<Index> classes;
  const auto append = [&](const auto& values) {
    classes.reserve(values.size());
    for (const auto value : values) {
      const auto label = static_cast<Index>(value);
      if (label < 0 || label > range.largest()) {
        throw InvalidArgument(
            field,
            "class " + std::to_string(label) + " at [" + std::to_string(classes.size()) + "]",
            "0 to " + std::to_string(range.largest()));
      }
      classes.push_back(label);
    }
  };
  std::visit(append, array.values);
  return classes;
}

}  // namespace

template <Real Scalar>
SampleSet<Scalar> samples_from_arrays(const ArrayMap& arrays, const std::string& file,
                                      const ClassRange& range) {
  const auto field = [&](std::string_view array) { return detail::array_field(file, array); };
  for (const auto& [name, array] : arrays) {
    if (name != "X" && name != "y" && name != "Y") {
      throw InvalidArgument(field(name), "an array of this name", "X with y or Y");
    }
  }
  const auto inputs = arrays.find("X");
  const auto classes = arrays.find("y");
  const auto targets = arrays.find("Y");
  if (inputs == arrays.end()) {
    throw InvalidArgument(field("X"), "no such array", "inputs, samples x features");
  }
  if ((classes == arrays.end()) == (targets == arrays.end())) {
    throw InvalidArgument(field("y"), classes == arrays.end() ? "neither y nor Y" : "both y and Y",
                          "either y, integer classes, or Y, samples x outputs");
  }
  SampleSet<Scalar> samples;
  samples.X = detail::finite_matrix<Scalar>(inputs->second, field("X"), "samples x features");
  samples.X.transposeInPlace();
  if (classes != arrays.end()) {
    require_samples(classes->second, samples.samples(), field("y"));
    samples.classes = read_classes(classes->second, range, field("y"));
  } else {
    require_samples(targets->second, samples.samples(), field("Y"));
    Array outputs = targets->second;
    if (outputs.shape.size() == 1) outputs.shape.push_back(1);
    samples.Y = detail::finite_matrix<Scalar>(outputs, field("Y"), "samples x outputs");
    samples.Y.transposeInPlace();
  }
  return samples;
}

template <Real Scalar>
SampleSet<Scalar> read_samples(const std::filesystem::path& path, const ClassRange& range) {
  return samples_from_arrays<Scalar>(read_npz(path), path.string(), range);
}

template SampleSet<float> samples_from_arrays<float>(const ArrayMap&, const std::string&,
                                                     const ClassRange&);
template SampleSet<double> samples_from_arrays<double>(const ArrayMap&, const std::string&,
                                                       const ClassRange&);
template SampleSet<float> read_samples<float>(const std::filesystem::path&, const ClassRange&);
template SampleSet<double> read_samples<double>(const std::filesystem::path&, const ClassRange&);

}  // namespace symport
