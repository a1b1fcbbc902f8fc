// SPDX-License-Identifier: MIT
#include "symport/data/model_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "support/refusal.hpp"
#include "support/temporary_directory.hpp"
#include "symport/core/random.hpp"

namespace symport {
namespace {

using test::refusal;
using ::testing::HasSubstr;

template <Real Scalar>
std::vector<LayerWeights<Scalar>> network(const std::vector<Index>& widths, bool biases) {
  Random random(7);
  std::vector<LayerWeights<Scalar>> layers;
  for (std::size_t m = 1; m < widths.size(); ++m) {
    LayerWeights<Scalar> layer;
    layer.W = random.normal_matrix(widths[m], widths[m - 1]).template cast<Scalar>();
    if (biases) layer.b = random.normal_matrix(widths[m], 1).template cast<Scalar>();
    layers.push_back(layer);
  }
  return layers;
}

template <Real Scalar>
void expect_round_trip(bool biases) {
  const test::TemporaryDirectory directory;
  // Twelve layers: W10 comes before W2 in the file.
  const auto layers = network<Scalar>({5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8, 9}, biases);
  write_model(directory / "model.npz", layers);
  const auto back = read_model<Scalar>(directory / "model.npz");
  ASSERT_EQ(back.size(), layers.size());
  for (std::size_t m = 0; m < layers.size(); ++m) {
    EXPECT_EQ(back[m].W, layers[m].W);
    EXPECT_EQ(back[m].b, layers[m].b);
  }
}

TEST(ModelFile, ReadsBackWhatItWroteBitForBit) {
  for (const bool biases : {false, true}) {
    expect_round_trip<float>(biases);
    expect_round_trip<double>(biases);
  }
}

TEST(ModelFile, ReadsEitherPrecisionIntoEither) {
  const auto layers = network<float>({3, 2, 4}, true);
  const auto wide = model_from_arrays<double>(model_arrays(layers), "f");
  EXPECT_EQ(wide[1].W, layers[1].W.cast<double>());
  const auto narrow = model_from_arrays<float>(model_arrays(wide), "f");
  EXPECT_EQ(narrow[1].b, layers[1].b);
}

TEST(ModelFile, RefusesBadNetworksByFileAndArray) {
  const struct {
    const char* what;
    std::function<void(ArrayMap&)> damage;
    const char* array;
    const char* says;
  } cases[] = {
      {"nothing", [](ArrayMap& a) { a.clear(); }, "array W1", "no such array"},
      {"gap", [](ArrayMap& a) { a.erase("W2"); }, "array W3", "without gaps"},
      {"another array", [](ArrayMap& a) { a["epoch"] = a["b1"]; }, "array epoch", "nothing else"},
      {"leading zero", [](ArrayMap& a) { a["W01"] = a["W1"]; }, "array W01", "nothing else"},
      {"bias missing", [](ArrayMap& a) { a.erase("b2"); }, "array b2",
       "for all layers or for none"},
      {"first bias missing", [](ArrayMap& a) { a.erase("b1"); }, "array b2", "for all layers"},
      {"bias too many", [](ArrayMap& a) { a["b4"] = a["b3"]; }, "array b4", "nothing else"},
      {"bias too long", [](ArrayMap& a) { a["b2"] = to_array(Vector(Vector::Ones(4))); },
       "array b2", "shape (4,), allowed is (3,), the rows of W2"},
      {"bias as column", [](ArrayMap& a) { a["b2"] = to_array(Matrix(Matrix::Ones(3, 1))); },
       "array b2", "shape (3, 1)"},
      {"shapes do not chain", [](ArrayMap& a) { a["W2"] = to_array(Matrix(Matrix::Ones(3, 9))); },
       "array W2", "shape (3, 9), allowed is 2 columns"},
      {"one dimension", [](ArrayMap& a) { a["W2"] = a["b2"]; }, "array W2", "two dimensions"},
      {"no units", [](ArrayMap& a) { a["W3"] = to_array(Matrix(0, 3)); }, "array W3",
       "shape (0, 3)"},
      {"integers",
       [](ArrayMap& a) {
         a["W1"] = {{2, 4}, std::vector<std::int64_t>(8), Order::c};
       },
       "array W1", "dtype <i8"},
      {"bytes as bias",
       [](ArrayMap& a) {
         a["b1"] = {{2}, std::vector<std::uint8_t>(2), Order::c};
       },
       "array b1", "dtype |u1"},
      {"nan", [](ArrayMap& a) { std::get<0>(a["W2"].values)[5] = NAN; }, "array W2",
       "nan at [2, 1]"},
      {"infinity", [](ArrayMap& a) { std::get<0>(a["b3"].values)[0] = -HUGE_VALF; }, "array b3",
       "-inf at [0]"},
      {"too large for float",
       [](ArrayMap& a) { a["b2"] = to_array(Vector(Vector::Constant(3, 1e39))); }, "array b2",
       "inf at [0]"},
  };
  for (const auto& [what, damage, array, says] : cases) {
    ArrayMap arrays = model_arrays(network<float>({4, 2, 3, 5}, true));
    damage(arrays);
    const std::string message =
        refusal([&] { model_from_arrays<float>(arrays, "net/weights.npz"); });
    EXPECT_THAT(message, HasSubstr("net/weights.npz")) << what;
    EXPECT_THAT(message, HasSubstr(array)) << what;
    EXPECT_THAT(message, HasSubstr(says)) << what;
  }
}

}  // namespace
}  // namespace symport
