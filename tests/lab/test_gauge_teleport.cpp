// SPDX-License-Identifier: MIT
#include "lab/runs/gauge_teleport.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include "core/dense.hpp"
#include "lab/data/tensor_values.hpp"
#include "lab/text/errors.hpp"
#include "support/temporary_directory.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/core/random.hpp"
#include "symport/data/npz.hpp"

namespace symport::lab {
namespace {

using ::testing::HasSubstr;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Array tensor(std::vector<Index> shape, std::uint64_t seed, double scale = 1.0, bool single = true) {
  Index count = 1;
  for (const Index extent : shape) count *= extent;
  const Vector values = scale * Random(seed).normal_matrix(count, 1);
  if (single) return {std::move(shape), std::vector<float>(values.begin(), values.end())};
  return {std::move(shape), std::vector<double>(values.begin(), values.end())};
}

/// fc1 (3 x 2) with a bias, ReLU, fc2 (4 x 3), as PyTorch names and stores them; and a tensor that
/// no slot names.
ArrayMap network(bool single = true) {
  return {{"fc1.weight", tensor({3, 2}, 1, 16.0, single)},
          {"fc1.bias", tensor({3}, 2, 16.0, single)},
          {"fc2.weight", tensor({4, 3}, 3, 1.0, single)},
          {"steps", {{}, std::vector<std::int64_t>{17}}}};
}

const std::string network_gauge = R"({"version": 1, "model": "a note", "groups": [
  {"kind": "scale", "size": 3, "residual": 1e-16, "note": "ReLU", "slots": [
    {"tensor": "fc1.weight", "axis": 0, "start": 0, "stop": 3, "repeat": 1, "rho": 1},
    {"tensor": "fc1.bias", "axis": 0, "start": 0, "stop": 3, "repeat": 1, "rho": 1.0},
    {"tensor": "fc2.weight", "axis": 1, "start": 0, "stop": 3, "repeat": 1, "rho": -1}]}]})";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

GaugeTeleportSpec spec(Scales scales = Scales::powers_of_two,
                       GaugeTarget objective = GaugeTarget::balance) {
  return {.weights = "w", .gauge = "g", .objective = objective, .scales = scales};
}

GaugeTeleportResult teleported(const ArrayMap& arrays, const std::string& gauge,
                               const GaugeTeleportSpec& how = spec()) {
  return teleport_tensors(Safetensors::of(arrays), parse_gauge(gauge, "g"), how);
}

RowMajor matrix(const Safetensors& tensors, const std::string& name) {
  const Safetensors::Tensor& t = tensors.tensors().at(name);
  const Vector values = decode(t.dtype, tensors.bytes(t));
  const Index rows = t.shape[0], cols = t.shape.size() > 1 ? t.shape[1] : 1;
  return Eigen::Map<const RowMajor>(values.data(), rows, cols);
}

/// The network's outputs on fixed inputs.
RowMajor outputs(const Safetensors& tensors) {
  const RowMajor X = Random(9).normal_matrix(2, 5);
  RowMajor h =
      (matrix(tensors, "fc1.weight") * X).colwise() + Vector(matrix(tensors, "fc1.bias").col(0));
  return matrix(tensors, "fc2.weight") * h.cwiseMax(0.0);
}

TEST(GaugeTeleport, BalancesByPowersOfTwoWithEveryBitOfTheOutputs) {
  const ArrayMap arrays = network();
  const auto [certificate, moved] = teleported(arrays, network_gauge);
  EXPECT_TRUE(certificate.accepted) << certificate.reason;
  EXPECT_TRUE(certificate.bit_exact);
  EXPECT_THAT(certificate.scope, HasSubstr("data-free: no loss was evaluated"));
  EXPECT_LT(certificate.squared_norm_after, 0.5 * certificate.squared_norm_before);
  const Safetensors before = Safetensors::of(arrays);
  EXPECT_EQ(outputs(moved), outputs(before));
  EXPECT_NE(matrix(moved, "fc1.weight"), matrix(before, "fc1.weight"));
  double norm = 0.0;
  for (const char* name : {"fc1.weight", "fc1.bias", "fc2.weight"}) {
    norm += matrix(moved, name).squaredNorm();
  }
  EXPECT_DOUBLE_EQ(certificate.squared_norm_after, norm);
}

TEST(GaugeTeleport, WithAnyScalesEveryUnitIsBalanced) {
  for (const bool single : {true, false}) {
    const ArrayMap arrays = network(single);
    const auto [certificate, moved] = teleported(arrays, network_gauge, spec(Scales::any));
    ASSERT_TRUE(certificate.accepted) << certificate.reason;
    EXPECT_FALSE(certificate.bit_exact);
    const double rounding = single ? 1e-6 : 1e-14;
    const RowMajor before = outputs(Safetensors::of(arrays));
    EXPECT_LT((outputs(moved) - before).norm(), rounding * before.norm());
    for (Index i = 0; i < 3; ++i) {
      const double in = matrix(moved, "fc1.weight").row(i).squaredNorm() +
                        std::pow(matrix(moved, "fc1.bias")(i, 0), 2);
      const double out = matrix(moved, "fc2.weight").col(i).squaredNorm();
      EXPECT_NEAR(in / out, 1.0, 10.0 * rounding);
    }
  }
}

TEST(GaugeTeleport, LeavesTensorsThatNoSlotNamesByteForByte) {
  const ArrayMap arrays = network();
  const auto [certificate, moved] = teleported(arrays, network_gauge);
  EXPECT_EQ(arrays_of(moved).at("steps"), arrays.at("steps"));
  // A header is kept as it is, metadata included.
  const std::size_t values = 8 + 3 * 2 * 4;
  EXPECT_EQ(moved.file().size(), Safetensors::of(arrays).file().size());
  EXPECT_EQ(moved.file().substr(0, 100), Safetensors::of(arrays).file().substr(0, 100));
  EXPECT_GT(moved.file().size(), values);
}

TEST(GaugeTeleport, BalancesAFactorPairInClosedForm) {
  const ArrayMap arrays{{"A", tensor({3, 8}, 1, 5.0, false)}, {"B", tensor({7, 3}, 2, 1.0, false)}};
  const std::string gauge = R"({"version": 1, "groups": [{"kind": "gl", "size": 3, "slots": [
    {"tensor": "A", "axis": 0, "start": 0, "stop": 3, "repeat": 1, "rho": "g"},
    {"tensor": "B", "axis": 1, "start": 0, "stop": 3, "repeat": 1, "rho": "g^-T"}]}]})";
  const auto [certificate, moved] = teleported(arrays, gauge);
  ASSERT_TRUE(certificate.accepted);
  EXPECT_FALSE(certificate.bit_exact);
  const Safetensors before = Safetensors::of(arrays);
  const RowMajor product = matrix(before, "B") * matrix(before, "A");
  const RowMajor A = matrix(moved, "A"), B = matrix(moved, "B");
  EXPECT_LT((B * A - product).norm(), 1e-13 * product.norm());
  // The balanced factors of a product M have AA' = B'B, and |A|^2 = |B|^2 = the nuclear norm of M.
  EXPECT_LT((A * A.transpose() - B.transpose() * B).norm(), 1e-9 * A.squaredNorm());
  const double nuclear = singular_values(product).values.sum();
  EXPECT_NEAR(certificate.squared_norm_after, 2.0 * nuclear, 1e-10 * nuclear);

  const auto white = teleported(arrays, gauge, spec(Scales::any, GaugeTarget::orthonormal));
  ASSERT_TRUE(white.certificate.accepted);
  const RowMajor Q = matrix(white.tensors, "A");
  EXPECT_LT((Q * Q.transpose() - RowMajor::Identity(3, 3)).norm(), 1e-12);
}

// A convolution's output channels after flattening, and a batch norm in eval mode between them:
// y = gamma (x - mean) / sqrt(var + eps) + beta is unchanged under W -> sW, mean -> s mean,
// var -> s^2 (var + eps) - eps.
TEST(GaugeTeleport, CarriesRunningStatisticsAlong) {
  const double eps = 1e-5;
  ArrayMap arrays{{"conv.weight", tensor({2, 1, 3, 3}, 1, 1.0, false)},
                  {"bn.running_mean", tensor({2}, 2, 1.0, false)},
                  {"bn.running_var", {{2}, std::vector<double>{0.3, 2.0}}},
                  {"up.weight", tensor({5, 2}, 4, 100.0, false)}};
  const std::string gauge = R"({"version": 1, "groups": [{"kind": "scale", "size": 2, "slots": [
    {"tensor": "conv.weight", "axis": 0, "start": 0, "stop": 2, "repeat": 1, "rho": 1},
    {"tensor": "bn.running_mean", "axis": 0, "start": 0, "stop": 2, "repeat": 1, "rho": 1},
    {"tensor": "bn.running_var", "axis": 0, "start": 0, "stop": 2, "repeat": 1, "rho": 2,
     "shift": 1e-5},
    {"tensor": "up.weight", "axis": 1, "start": 0, "stop": 2, "repeat": 1, "rho": -1}]}]})";
  const auto [certificate, moved] = teleported(arrays, gauge);
  ASSERT_TRUE(certificate.accepted) << certificate.reason;
  EXPECT_FALSE(certificate.bit_exact);
  const Safetensors before = Safetensors::of(arrays);
  for (Index i = 0; i < 2; ++i) {
    const double s = matrix(before, "up.weight")(0, i) / matrix(moved, "up.weight")(0, i);
    EXPECT_NE(s, 1.0);
    EXPECT_DOUBLE_EQ(matrix(moved, "bn.running_mean")(i, 0),
                     s * matrix(before, "bn.running_mean")(i, 0));
    EXPECT_NEAR(matrix(moved, "bn.running_var")(i, 0),
                s * s * (matrix(before, "bn.running_var")(i, 0) + eps) - eps, 1e-12 * s * s);
  }
  // Their size does not count.
  const double counted =
      matrix(before, "up.weight").squaredNorm() +
      decode("F64", before.bytes(before.tensors().at("conv.weight"))).squaredNorm();
  EXPECT_DOUBLE_EQ(certificate.squared_norm_before, counted);
}

/// The same tensors in another dtype, from their bytes.
Safetensors as_sixteen_bits(const ArrayMap& arrays, const std::string& dtype) {
  std::string header = "{", values;
  for (const auto& [name, array] : arrays) {
    const auto* numbers = std::get_if<std::vector<float>>(&array.values);
    if (numbers == nullptr) continue;
    const Vector in_double =
        Eigen::Map<const Eigen::VectorXf>(numbers->data(), std::ssize(*numbers)).cast<double>();
    std::string bytes(2 * numbers->size(), '\0');
    encode(dtype, in_double, bytes.data());
    if (header.size() > 1) header += ",";
    std::string shape;
    for (const Index extent : array.shape)
      shape += (shape.empty() ? "" : ",") + std::to_string(extent);
    header += fmt::format(R"("{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", name,
                          dtype, shape, values.size(), values.size() + bytes.size());
    values += bytes;
  }
  header += "}";
  std::string length;
  for (std::size_t i = 0, n = header.size(); i < 8; ++i, n >>= 8) {
    length.push_back(static_cast<char>(n & 0xff));
  }
  return Safetensors::parse(length + header + values, "w");
}

TEST(GaugeTeleport, ActsOnSixteenBitsByPowersOfTwoAlone) {
  for (const char* dtype : {"BF16", "F16"}) {
    const Safetensors before = as_sixteen_bits(network(), dtype);
    const Gauge gauge = parse_gauge(network_gauge, "g");
    const auto [certificate, moved] = teleport_tensors(before, gauge, spec());
    ASSERT_TRUE(certificate.accepted) << dtype << certificate.reason;
    EXPECT_TRUE(certificate.bit_exact);
    EXPECT_EQ(outputs(moved), outputs(before));

    const auto any = teleport_tensors(before, gauge, spec(Scales::any));
    EXPECT_FALSE(any.certificate.accepted);
    ASSERT_EQ(any.certificate.groups.size(), 1u);
    EXPECT_THAT(any.certificate.groups[0].reason, HasSubstr("only powers of two"));
    EXPECT_EQ(any.tensors.file(), before.file());
  }
}

TEST(GaugeTeleport, RefusesWhatWouldBeRoundedOrOverflow) {
  // Scaled down by 2^-4, the second number of each row has more digits than half precision has
  // there.
  ArrayMap arrays = network();
  const float small = std::ldexp(1.0f + std::ldexp(1.0f, -10), -14);
  arrays["fc1.weight"] = {{3, 2}, std::vector<float>{1024, small, 1024, small, 1024, small}};
  arrays["fc1.bias"] = {{3}, std::vector<float>(3, 0.0f)};
  arrays["fc2.weight"] = {{4, 3}, std::vector<float>(12, 1.0f)};
  const Safetensors before = as_sixteen_bits(arrays, "F16");
  const auto [certificate, same] =
      teleport_tensors(before, parse_gauge(network_gauge, "g"), spec());
  EXPECT_FALSE(certificate.accepted);
  EXPECT_EQ(certificate.reason, "fc1.weight would be rounded in F16");
  EXPECT_EQ(same.file(), before.file());

  ArrayMap wide = network(false);
  wide["fc1.weight"] = {{3, 2}, std::vector<float>(6, 1e38f)};
  wide["fc1.bias"] = {{3}, std::vector<double>(3, 0.0)};
  wide["fc2.weight"] = {{4, 3}, std::vector<double>(12, 1e300)};
  const auto overflow = teleported(wide, network_gauge, spec(Scales::any));
  EXPECT_FALSE(overflow.certificate.accepted);
  EXPECT_THAT(overflow.certificate.reason, HasSubstr("fc1.weight would overflow in F32"));
}

TEST(GaugeTeleport, RefusesWhenNothingMoves) {
  const auto [certificate, once] = teleported(network(), network_gauge);
  const auto again = teleport_tensors(once, parse_gauge(network_gauge, "g"), spec());
  EXPECT_FALSE(again.certificate.accepted);
  EXPECT_EQ(again.certificate.reason, "no group moves");
  EXPECT_EQ(again.tensors.file(), once.file());
}

TEST(GaugeTeleport, SaysWhatDoesNotFit) {
  const struct {
    std::string gauge;
    const char* message;
  } cases[] = {
      {replaced(network_gauge, "fc2.weight", "fc2.wieght"),
       "g, group 0, slot 2: found the tensor \"fc2.wieght\", allowed is one of those in w; did you "
       "mean 'fc2.weight'?"},
      {replaced(network_gauge, "\"fc2.weight\", \"axis\": 1", "\"fc2.weight\", \"axis\": 2"),
       "axis 2 of fc2.weight"},
      {replaced(network_gauge, "\"fc2.weight\", \"axis\": 1", "\"fc2.weight\", \"axis\": 0"),
       ""},  // fits, though it is no symmetry
      {replaced(network_gauge, "\"stop\": 3", "\"stop\": 4"), "a range in 0 to 3"},
      {replaced(network_gauge, "\"stop\": 3", "\"stop\": 2"), "the size 3 of the group"},
      {replaced(network_gauge, "\"fc1.bias\"", "\"fc1.weight\""), "where another slot is"},
      {replaced(network_gauge, "\"fc1.bias\"", "\"steps\""), "axis 0 of steps"},
  };
  for (const auto& c : cases) {
    if (*c.message == '\0') {
      EXPECT_NO_THROW(teleported(network(), c.gauge));
      continue;
    }
    try {
      teleported(network(), c.gauge);
      ADD_FAILURE() << c.message;
    } catch (const InvalidArgument& error) {
      EXPECT_THAT(error.what(), HasSubstr(c.message));
    }
  }
  ArrayMap broken = network();
  std::get<std::vector<float>>(broken["fc1.bias"].values)[1] = NAN;
  EXPECT_THROW(teleported(broken, network_gauge), InvalidArgument);
  ArrayMap whole = network();
  whole["fc1.bias"] = {{3}, std::vector<std::int64_t>{1, 2, 3}};
  EXPECT_THROW(teleported(whole, network_gauge), InvalidArgument);
}

TEST(GaugeTeleport, ReadsAndWritesBothKindsOfFile) {
  const test::TemporaryDirectory directory;
  const std::string gauge = (directory / "gauge.json").string();
  std::ofstream(gauge) << network_gauge;
  write_npz(directory / "w.npz", network());
  const GaugeTeleportResult from_npz =
      teleport_by_gauge({.weights = (directory / "w.npz").string(), .gauge = gauge});
  ASSERT_TRUE(from_npz.certificate.accepted);
  write_tensors(directory / "v.safetensors", from_npz.tensors);
  write_tensors(directory / "v.npz", from_npz.tensors);
  EXPECT_EQ(read_npz(directory / "v.npz"), arrays_of(read_tensors(directory / "v.safetensors")));
  EXPECT_THROW(read_tensors(directory / "v.pt"), InvalidArgument);
  EXPECT_THROW(write_tensors(directory / "v.pt", from_npz.tensors), InvalidArgument);
  EXPECT_THROW(teleport_by_gauge({.gauge = gauge}), OptionError);
  EXPECT_THROW(teleport_by_gauge({.weights = "w.npz"}), OptionError);
}

TEST(GaugeFile, RefusesWhatIsNotItsForm) {
  const struct {
    std::string text;
    const char* message;
  } cases[] = {
      {"", "no JSON"},
      {"[]", "an object"},
      {"{}", "no key 'version'"},
      {R"({"version": 2, "groups": []})", "g, version: found \"2\", allowed is 1"},
      {R"({"version": 1})", "no key 'groups'"},
      {R"({"version": 1, "groups": {}})", "a list"},
      {R"({"version": 1, "version": 1, "groups": []})", "the key \"version\" twice"},
      {R"({"version": 1, "groups": [[[[[[[[[[]]]]]]]]]]})", "lists in lists"},
      {R"({"version": 1, "groups": [3]})", "g, group 0: found \"3\", allowed is an object"},
      {replaced(network_gauge, "\"scale\"", "\"scaling\""), "scale, gl, orthogonal"},
      {replaced(network_gauge, "\"size\": 3", "\"size\": 0"), "size 0 with 3 slots"},
      {replaced(network_gauge, "\"size\": 3", "\"size\": -3"), "a whole number"},
      {replaced(network_gauge, "\"rho\": -1", "\"rho\": \"g\""), "group 0, slot 2, rho"},
      {replaced(network_gauge, "\"rho\": -1", "\"rho\": 1e999"), "no JSON"},
      {replaced(network_gauge, "\"repeat\": 1, \"rho\": -1", "\"rho\": -1"), "no key 'repeat'"},
      {replaced(network_gauge, "\"repeat\": 1, \"rho\": -1",
                "\"repeat\": 1, \"shfit\": 1, \"rho\": -1"),
       "did you mean 'shift'"},
      {replaced(network_gauge, "\"axis\": 1", "\"axis\": 1.5"), "a whole number"},
  };
  for (const auto& c : cases) {
    try {
      parse_gauge(c.text, "g");
      ADD_FAILURE() << c.message;
    } catch (const InvalidArgument& error) {
      EXPECT_THAT(error.what(), HasSubstr(c.message));
    }
  }
}

TEST(GaugeFile, KnowsTheKindsOfGroups) {
  const auto gauge = [](const std::string& kind, const std::string& rho) {
    return parse_gauge(R"({"version": 1, "groups": [{"kind": ")" + kind +
                           R"(", "size": 2, "slots": [{"tensor": "P", "axis": 0, "start": 0,
                           "stop": 2, "repeat": 1, "rho": )" +
                           rho + "}]}]}",
                       "g")
        .groups[0];
  };
  EXPECT_EQ(gauge("gl", "\"g^-T\"").slots[0].representation, Representation::dual);
  EXPECT_EQ(gauge("orthogonal", "\"g\"").slots[0].representation, Representation::direct);
  EXPECT_EQ(gauge("scale", "-0.5").slots[0].charge, -0.5);
  EXPECT_EQ(gauge("sign", "-1").kind, GroupKind::signs);
  EXPECT_EQ(gauge("permutation", "\"g\"").kind, GroupKind::permutations);
  EXPECT_THROW(gauge("sign", "2"), InvalidArgument);
  EXPECT_THROW(gauge("gl", "1"), InvalidArgument);
  EXPECT_THROW(gauge("permutation", "\"g^-T\""), InvalidArgument);
}

}  // namespace
}  // namespace symport::lab
