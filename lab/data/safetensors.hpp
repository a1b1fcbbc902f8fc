// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "symport/core/types.hpp"
#include "symport/data/array.hpp"

namespace symport::lab {

/// Named tensors in the safetensors format: eight bytes with the length of a header, the header as
/// JSON, and the values in C order. The header is kept as it was read, metadata included, so that
/// what nobody changed is written back byte for byte.
class Safetensors {
 public:
  struct Tensor {
    std::string dtype;  ///< as the format spells it: F64, BF16, ...
    std::vector<Index> shape;
    std::size_t begin = 0, end = 0;  ///< of its bytes
  };

  /// Throws InvalidArgument, naming file and tensor, on anything but the format: a header that is
  /// longer than 100 MB or than the file, is no JSON of exactly its form or names something twice;
  /// unknown dtypes; tensors whose bytes do not suit dtype and shape, overlap, leave gaps or end
  /// before or after the file.
  static Safetensors read(const std::filesystem::path& path);
  /// The same from bytes; `name` stands for them in messages.
  static Safetensors parse(std::string bytes, const std::string& name);
  /// C-ordered copies of these arrays, in the order of their names.
  static Safetensors of(const ArrayMap& arrays);

  const std::map<std::string, Tensor, std::less<>>& tensors() const { return tensors_; }
  /// What `__metadata__` says.
  const std::map<std::string, std::string, std::less<>>& metadata() const { return metadata_; }
  std::string_view bytes(const Tensor& tensor) const {
    return std::string_view(bytes_).substr(tensor.begin, tensor.end - tensor.begin);
  }
  char* data(const Tensor& tensor) { return bytes_.data() + tensor.begin; }

  /// Written whole or not at all (AtomicFile).
  void write(const std::filesystem::path& path) const;
  const std::string& file() const { return bytes_; }

 private:
  std::string bytes_;  ///< of the whole file
  std::map<std::string, Tensor, std::less<>> tensors_;
  std::map<std::string, std::string, std::less<>> metadata_;
};

}  // namespace symport::lab
