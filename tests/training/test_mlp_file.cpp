// SPDX-License-Identifier: MIT
#include "symport/training/mlp_file.hpp"

#include <gtest/gtest.h>

#include "support/networks.hpp"
#include "support/refusal.hpp"
#include "support/temporary_directory.hpp"
#include "symport/training/sample_targets.hpp"

namespace symport {
namespace {

template <Real Scalar>
void expect_round_trip(bool biases) {
  const test::TemporaryDirectory directory;
  Random random(3);
  const Mlp network({5, 7, 4, 3}, Activation::parse("asinh"), biases);
  const VectorOf<Scalar> w = testing::random_matrix<Scalar>(network.parameters(), 1, random).col(0);
  save_mlp<Scalar>(directory / "model.npz", network, w);
  const auto [read, back] = load_mlp<Scalar>(directory / "model.npz", network.activation());
  EXPECT_EQ(read.widths(), network.widths());
  EXPECT_EQ(read.biases(), biases);
  EXPECT_EQ(read.activation().name(), "asinh");
  EXPECT_EQ(back, w);
}

TEST(MlpFile, ReadsBackWhatItWroteBitForBit) {
  for (const bool biases : {false, true}) {
    expect_round_trip<float>(biases);
    expect_round_trip<double>(biases);
  }
}

TEST(MlpFile, HoldsTheParametersByName) {
  const Mlp network({2, 3, 1}, Activation{}, true);
  const Vector w = Vector::LinSpaced(network.parameters(), 1.0, network.parameters());
  const ArrayMap arrays = mlp_arrays<double>(network, w);
  ASSERT_EQ(arrays.size(), 4u);
  for (const ParameterBlock& block : network.layout().blocks()) {
    const Matrix view = ParameterLayout::view(block, w.data());
    const Array expected = block.name[0] == 'b' ? to_array(Vector(view.col(0))) : to_array(view);
    EXPECT_EQ(arrays.at(block.name).shape, expected.shape) << block.name;
    EXPECT_EQ(arrays.at(block.name).values, expected.values) << block.name;
  }
}

TEST(MlpFile, RefusesWhatIsNoNetworkAndParametersOfAnother) {
  const Mlp network({2, 3, 1}, Activation{}, false);
  EXPECT_THROW(mlp_arrays<double>(network, Vector::Zero(8)), std::logic_error);
  ArrayMap arrays = mlp_arrays<double>(network, Vector::Zero(9));
  arrays.erase("W1");
  EXPECT_THAT(test::refusal([&] { mlp_from_arrays<double>(arrays, "net.npz", Activation{}); }),
              ::testing::HasSubstr("net.npz"));
}

TEST(SampleTargets, AreTheClassesOrElseTheValues) {
  SampleSet<double> set{Matrix::Ones(2, 3), {2, 0, 1}, {}};
  EXPECT_EQ(targets_of(set).classes, (std::vector<Index>{2, 0, 1}));
  set = {Matrix::Ones(2, 3), {}, Matrix::Constant(1, 3, 4.0)};
  EXPECT_FALSE(targets_of(set).categorical());
  EXPECT_EQ(targets_of(set).values, set.Y);
}

TEST(Loss, TheUsualOneFollowsFromTheKindOfTargets) {
  EXPECT_EQ(Loss::usual(true).name(), "cross_entropy:mean");
  EXPECT_EQ(Loss::usual(false).name(), "half_sum_squares:sum");
}

}  // namespace
}  // namespace symport
