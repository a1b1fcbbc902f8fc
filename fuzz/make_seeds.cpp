// SPDX-License-Identifier: MIT
// Writes the binary seeds: fuzz_make_seeds fuzz/corpus. The others are written by hand.
#include <iostream>

#include "data/npy_format.hpp"
#include "support/forged_idx.hpp"
#include "support/forged_npz.hpp"
#include "support/forged_png.hpp"
#include "support/packed.hpp"
#include "support/temporary_directory.hpp"
#include "symport/data/model_file.hpp"
#include "symport/training/checkpoint.hpp"

namespace symport {
namespace {

namespace fs = std::filesystem;

void put(const fs::path& file, const std::string& bytes) {
  fs::create_directories(file.parent_path());
  test::put_file(file, bytes);
}

void npy_seeds(const fs::path& folder) {
  const std::string eight = "abcdefgh";
  put(folder / "f8", test::three_doubles());
  put(folder / "f4", test::forged_npy(test::npy_dictionary("<f4", "(1, 2)"), eight));
  put(folder / "i4-fortran",
      test::forged_npy(test::npy_dictionary("<i4", "(2, 1)", "True"), eight));
  put(folder / "i8-scalar", test::forged_npy(test::npy_dictionary("<i8", "()"), eight));
  put(folder / "u1-version3", test::forged_npy(test::npy_dictionary("|u1", "(2, 2, 2)"), eight, 3));
  put(folder / "empty", test::forged_npy(test::npy_dictionary("<f8", "(0, 5)"), ""));
  put(folder / "terabyte",
      test::forged_npy(test::npy_dictionary("<f8", "(1000000, 1000000)"), eight));
}

std::string npz_of(const ArrayMap& arrays, bool deflated) {
  std::vector<test::ForgedEntry> entries;
  for (const auto& [name, array] : arrays) {
    entries.push_back(
        {.name = name + ".npy",
         .contents = detail::npy_header(array) + std::string(detail::value_bytes(array)),
         .deflated = deflated});
  }
  return test::forged_npz(entries);
}

void npz_seeds(const fs::path& folder) {
  const std::vector<LayerWeights<double>> network = {{Matrix{{1.0, -2.0}, {0.5, 3.0}}, {}},
                                                     {Matrix{{1.0, 0.25}}, {}}};
  const std::vector<LayerWeights<float>> biased = {
      {Eigen::MatrixXf{{1.0f, -2.0f}}, Eigen::VectorXf{{0.5f}}}};
  put(folder / "network", npz_of(model_arrays(network), false));
  put(folder / "network-deflated", npz_of(model_arrays(biased), true));
  const Array x{{2, 3}, std::vector<double>{1, 2, 3, 4, 5, 6}};
  put(folder / "classes", npz_of({{"X", x}, {"y", {{2}, std::vector<std::int64_t>{0, 1}}}}, false));
  put(folder / "targets", npz_of({{"X", x}, {"Y", {{2, 1}, std::vector<float>{0, 1}}}}, true));
  test::ForgedEntry wide;
  wide.zip64_local = wide.zip64_central = true;
  put(folder / "zip64", test::forged_npz({wide, {.name = "b1.npy"}}, {.zip64 = true}));
  put(folder / "descriptor",
      test::forged_npz({{.deflated = true, .descriptor = true}}, {.comment = "made by hand"}));
}

template <Real Scalar>
Checkpoint<Scalar> checkpoint() {
  Checkpoint<Scalar> c;
  c.step = 12;
  c.epoch = 1;
  c.batch = 2;
  c.w = VectorOf<Scalar>{{1, -2, 3}};
  c.optimizer.add("velocity", StateKind::cotangent, 3);
  c.optimizer["velocity"] = c.w;
  c.optimizer.add("rate", StateKind::scalar, 1);
  c.trace.rows.push_back({});
  c.trace.points.push_back(Vector{{1.0, 2.0, -1.0}});
  c.trace.teleports.push_back({.step = 1, .accepted = true});
  c.trace.teleports.back().before = c.trace.teleports.back().after = Vector{{1.0, 2.0, -1.0}};
  c.teleports.push_back({});
  c.teleports.back().reason = "no gain";
  return c;
}

void idx_seeds(const fs::path& folder) {
  const std::string images = test::forged_idx({2, 3, 2}, "abcdefABCDEF");
  put(folder / "images", images);
  put(folder / "images.gz", test::gzipped(images));
  put(folder / "labels", test::forged_idx({3}, std::string("\0\1\2", 3)));
  put(folder / "colour.gz", test::gzipped(test::forged_idx({1, 1, 2, 3}, "rgbRGB")));
  put(folder / "claims", test::forged_idx({0x7fffffff, 2}, "ab"));
}

void png_seeds(const fs::path& folder) {
  const std::string rgb("\0abcdef\1ABCDEF", 14);
  put(folder / "rgb", test::forged_png({.width = 2, .height = 2}, rgb));
  put(folder / "grey",
      test::forged_png({.width = 3, .height = 2, .colour = 0}, std::string("\0abc\4ABC", 8)));
  put(folder / "ancillary",
      test::forged_png({.width = 2,
                        .height = 2,
                        .before_data = test::png_chunk("gAMA", test::big_endian(45455)) +
                                       test::png_chunk("tEXt", std::string("Title\0row", 9))},
                       rgb));
  put(folder / "palette",
      test::forged_png(
          {.width = 1, .height = 1, .colour = 3, .before_data = test::png_chunk("PLTE", "rgb")},
          std::string("\0\0", 2)));
  put(folder / "claims", test::forged_png({.width = 1'000'000, .height = 0x7fffffff}, rgb));
}

}  // namespace
}  // namespace symport

int main(int count, char** words) {
  if (count != 2) {
    std::cerr << "usage: fuzz_make_seeds fuzz/corpus\n";
    return 2;
  }
  using namespace symport;
  const fs::path corpus = words[1];
  npy_seeds(corpus / "npy");
  npz_seeds(corpus / "npz");
  put(corpus / "checkpoint" / "double", npz_of(checkpoint_arrays(checkpoint<double>()), false));
  put(corpus / "checkpoint" / "float", npz_of(checkpoint_arrays(checkpoint<float>()), true));
  idx_seeds(corpus / "idx");
  png_seeds(corpus / "png");
}
