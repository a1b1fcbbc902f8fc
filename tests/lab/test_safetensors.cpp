// SPDX-License-Identifier: MIT
#include "lab/data/safetensors.hpp"

#include <gmock/gmock.h>

#include <cstring>

#include "lab/data/tensor_values.hpp"
#include "support/temporary_directory.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport::lab {
namespace {

using ::testing::HasSubstr;

/// A file with this header and so many bytes after it.
std::string file_of(const std::string& header, std::size_t bytes, std::uint64_t claim = 0) {
  std::uint64_t length = claim > 0 ? claim : header.size();
  std::string text;
  for (int i = 0; i < 8; ++i, length >>= 8) text.push_back(static_cast<char>(length & 0xff));
  return text + header + std::string(bytes, '\1');
}

/// In the documented layout: metadata, "b" int64 [3], and "a" float32 [[1, 2]], in another order
/// than their names'.
const std::string by_hand = [] {
  std::string text =
      file_of(R"({"__metadata__":{"k":"v"},"b":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},)"
              R"("a":{"dtype":"F32","shape":[1,2],"data_offsets":[8,16]}})",
              0);
  const std::int64_t three = 3;
  const float numbers[] = {1.0f, 2.0f};
  text.append(reinterpret_cast<const char*>(&three), sizeof(three));
  text.append(reinterpret_cast<const char*>(numbers), sizeof(numbers));
  return text;
}();

TEST(Safetensors, ReadsTheDocumentedLayout) {
  const Safetensors file = Safetensors::parse(by_hand, "f");
  ASSERT_EQ(file.tensors().size(), 2u);
  const Safetensors::Tensor& a = file.tensors().at("a");
  EXPECT_EQ(a.dtype, "F32");
  EXPECT_EQ(a.shape, (std::vector<Index>{1, 2}));
  EXPECT_EQ(decode(a.dtype, file.bytes(a)), (Vector{{1.0, 2.0}}));
  EXPECT_EQ(file.metadata().at("k"), "v");
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(arrays_of(file).at("b").values),
            std::vector<std::int64_t>{3});
}

TEST(Safetensors, WritesEveryByteBack) {
  const test::TemporaryDirectory directory;
  Safetensors::parse(by_hand, "f").write(directory / "f.safetensors");
  EXPECT_EQ(Safetensors::read(directory / "f.safetensors").file(), by_hand);
}

TEST(Safetensors, HoldsArraysInCOrder) {
  const Array fortran{{2, 3}, std::vector<double>{1, 4, 2, 5, 3, 6}, Order::fortran};
  const ArrayMap arrays{{"m", fortran},
                        {"s", {{}, std::vector<float>{7}}},
                        {"u", {{2}, std::vector<std::uint8_t>{8, 9}}},
                        {"e", {{0, 4}, std::vector<std::int32_t>{}}}};
  const Safetensors file = Safetensors::of(arrays);
  const Safetensors::Tensor& m = file.tensors().at("m");
  EXPECT_EQ(decode("F64", file.bytes(m)), (Vector{{1, 2, 3, 4, 5, 6}}));
  EXPECT_EQ((m.begin - 8) % 8, 0u);
  const ArrayMap back = arrays_of(file);
  EXPECT_EQ(back.at("s"), arrays.at("s"));
  EXPECT_EQ(back.at("u"), arrays.at("u"));
  EXPECT_EQ(back.at("e"), arrays.at("e"));
}

TEST(Safetensors, DecodesAndRoundsSixteenBits) {
  const std::uint16_t brain[] = {0x3f80, 0xc040, 0x4049};  // 1, -3, 3.140625
  const std::string_view bytes(reinterpret_cast<const char*>(brain), sizeof(brain));
  EXPECT_EQ(decode("BF16", bytes), (Vector{{1.0, -3.0, 3.140625}}));
  const std::uint16_t half[] = {0x3c00, 0x4248};  // 1, 3.140625
  EXPECT_EQ(decode("F16", {reinterpret_cast<const char*>(half), sizeof(half)}),
            (Vector{{1.0, 3.140625}}));
  char back[sizeof(brain)];
  encode("BF16", Vector{{1.0, -3.0, 3.14159}}, back);
  EXPECT_EQ(std::memcmp(back, brain, sizeof(brain)), 0);
}

TEST(Safetensors, RefusesWhatIsNotExactlyTheFormat) {
  const std::string good = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  ASSERT_NO_THROW(Safetensors::parse(file_of(good, 8), "f"));
  const auto one = [](const std::string& fields) { return R"({"a":{)" + fields + "}}"; };
  const struct {
    std::string bytes;
    const char* message;
  } cases[] = {
      {"", "0 bytes"},
      {std::string(7, '\0'), "7 bytes"},
      {file_of("", 0), "a header that begins with \"\""},
      {file_of(good, 8, 1'000'000'000'000), "a header of 1000000000000 bytes"},
      {file_of(good, 8, good.size() + 9), "allowed is at most"},
      {file_of("[]", 0), "begins with \"[\""},
      {file_of(" " + good, 8), "begins with \" \""},
      {file_of(good + "x", 8), "no JSON"},
      {file_of("{", 0), "no JSON"},
      {file_of(good, 7), "the last offset 8"},
      {file_of(good, 9), "9 bytes after the header"},
      {file_of(R"({"a":3})", 0), "a number"},
      {file_of(R"({"a":[]})", 0), "a list"},
      {file_of(R"({"a":null})", 0), "null"},
      {file_of(R"({"__metadata__":{"k":3}})", 0), "a number"},
      {file_of(R"({"__metadata__":{"k":"v","k":"w"}})", 0), "\"k\" twice"},
      {file_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
               R"("a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
               8),
       "the name \"a\" twice"},
      {file_of(one(R"("dtype":"F32","shape":[2],"data_offsets":[0,8],"dtype":"F32")"), 8),
       "\"dtype\" twice"},
      {file_of(one(R"("dtype":"F32","shape":[2],"data_offsets":[0,8],"more":"F32")"), 8),
       "\"more\""},
      {file_of(one(R"("dtype":"F32","shape":[2])"), 8), "2 fields"},
      {file_of(one(R"("dtype":"F32","shape":[2],"data_offsets":[0])"), 8), "two data_offsets"},
      {file_of(one(R"("dtype":"F32","shape":[2],"data_offsets":[0,8,9])"), 8),
       "more than two offsets"},
      {file_of(one(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"), 8), "a negative number"},
      {file_of(one(R"("dtype":"F32","shape":[2.0],"data_offsets":[0,8])"), 8), "a fraction"},
      {file_of(one(R"("dtype":"F32","shape":[[2]],"data_offsets":[0,8])"), 8), "a list"},
      {file_of(one(R"("dtype":"X32","shape":[2],"data_offsets":[0,8])"), 8), "the dtype \"X32\""},
      {file_of(one(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"), 8), "96 bits apart"},
      {file_of(one(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"), 8), "offsets 8 and 0"},
      {file_of(one(R"("dtype":"F32","shape":[2],"data_offsets":[4,12])"), 12),
       "the first offset 4"},
      {file_of(one(R"("dtype":"F4","shape":[1],"data_offsets":[0,0])"), 0), "4 bits apart"},
      {file_of(one(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0])"), 0),
       "one whose size can be counted"},
      {file_of(one(R"("dtype":"F64","shape":[9223372036854775807],"data_offsets":[0,0])"), 0),
       "one whose size can be counted"},
      {file_of(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
               R"("b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
               6),
       "array \"b\": found the first offset 2"},
      {file_of(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
               R"("b":{"dtype":"U8","shape":[2],"data_offsets":[5,7]}})",
               7),
       "no gaps and no overlaps"},
  };
  for (const auto& c : cases) {
    try {
      Safetensors::parse(c.bytes, "f");
      ADD_FAILURE() << "accepted: " << c.message;
    } catch (const InvalidArgument& error) {
      EXPECT_THAT(error.what(), HasSubstr(c.message));
    }
  }
}

TEST(Safetensors, DoesNotWriteWhatNumPyDoesNotHave) {
  const Safetensors file = Safetensors::parse(
      file_of(R"({"a":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}})", 4), "f");
  EXPECT_THROW(arrays_of(file), InvalidArgument);
}

}  // namespace
}  // namespace symport::lab
