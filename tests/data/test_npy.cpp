// SPDX-License-Identifier: MIT
#include "symport/data/npy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/forged_npz.hpp"
#include "support/refusal.hpp"
#include "support/temporary_directory.hpp"

namespace symport {
namespace {

using test::forged_npy;
using test::le;
using test::npy_dictionary;
using test::refusal;
using ::testing::HasSubstr;

const std::vector<Array>& examples() {
  static const std::vector<Array> all = {
      {{2, 3}, std::vector<float>{1, -2, 0.5f, 1e-45f, 3e38f, -0.0f}, Order::c},
      {{3, 2}, std::vector<double>{1, -2, 0.1, 5e-324, 1e308, -0.0}, Order::fortran},
      {{4}, std::vector<std::int32_t>{0, -1, 2147483647, -2147483647 - 1}, Order::c},
      {{2, 1, 2},
       std::vector<std::int64_t>{0, -1, std::numeric_limits<std::int64_t>::max(),
                                 std::numeric_limits<std::int64_t>::min()},
       Order::fortran},
      {{5}, std::vector<std::uint8_t>{0, 1, 127, 128, 255}, Order::c},
      {{}, std::vector<double>{3.25}, Order::c},
      {{0, 7}, std::vector<float>{}, Order::c},
      {{1000, 300}, std::vector<double>(300'000, 0.25), Order::fortran},
  };
  return all;
}

TEST(Npy, ReadsBackWhatItWrote) {
  const test::TemporaryDirectory directory;
  for (const Array& array : examples()) {
    write_npy(directory / "a.npy", array);
    EXPECT_EQ(read_npy(directory / "a.npy"), array)
        << to_string(array.dtype()) << " " << shape_string(array.shape);
  }
}

TEST(Npy, KeepsEveryBitOfNonFiniteNumbers) {
  const test::TemporaryDirectory directory;
  const double infinity = std::numeric_limits<double>::infinity();
  write_npy(directory / "a.npy", {{3}, std::vector<double>{infinity, -infinity, NAN}, Order::c});
  const auto values = std::get<std::vector<double>>(read_npy(directory / "a.npy").values);
  EXPECT_EQ(values[0], infinity);
  EXPECT_EQ(values[1], -infinity);
  EXPECT_TRUE(std::isnan(values[2]));
}

/// The output of numpy.save for numpy.asfortranarray([[1, 2], [3, 4]], "<i4"), NumPy 1.24.
TEST(Npy, WritesTheBytesThatNumPyWrites) {
  const std::string text = "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 2), }";
  const std::string numpy = std::string("\x93NUMPY\x01\x00\x76\x00", 10) + text +
                            std::string(118 - text.size() - 1, ' ') + "\n" + le(1, 4) + le(3, 4) +
                            le(2, 4) + le(4, 4);
  const test::TemporaryDirectory directory;
  write_npy(directory / "a.npy", {{2, 2}, std::vector<std::int32_t>{1, 3, 2, 4}, Order::fortran});
  EXPECT_EQ(test::contents(directory / "a.npy"), numpy);
}

TEST(Npy, ConvertsTheOtherTypesOfNumbers) {
  const auto read = [](const char* descr, const char* shape, const std::string& bytes) {
    return parse_npy(forged_npy(npy_dictionary(descr, shape), bytes), "a.npy");
  };
  using namespace std::string_literals;
  EXPECT_EQ(read("<i2", "(2,)", "\x01\x00\xfe\xff"s),
            (Array{{2}, std::vector<std::int32_t>{1, -2}, Order::c}));
  EXPECT_EQ(read("|i1", "(2,)", "\x7f\x80"s),
            (Array{{2}, std::vector<std::int32_t>{127, -128}, Order::c}));
  EXPECT_EQ(read("<u2", "(1,)", "\xff\xff"s),
            (Array{{1}, std::vector<std::int32_t>{65535}, Order::c}));
  EXPECT_EQ(read("<u4", "(1,)", "\xff\xff\xff\xff"s),
            (Array{{1}, std::vector<std::int64_t>{4294967295}, Order::c}));
  EXPECT_EQ(read("<u8", "(1,)", le(7, 8)), (Array{{1}, std::vector<std::int64_t>{7}, Order::c}));
  EXPECT_EQ(read("|b1", "(3,)", "\x00\x01\x02"s),
            (Array{{3}, std::vector<std::uint8_t>{0, 1, 1}, Order::c}));
  EXPECT_THAT(refusal([&] { read("<u8", "(1,)", std::string(8, '\xff')); }),
              HasSubstr("18446744073709551615, allowed is numbers below 2^63"));
}

/// Against the table of IEEE 754 binary16.
TEST(Npy, ConvertsHalfPrecision) {
  using namespace std::string_literals;
  const std::string bytes =
      "\x00\x3c\x00\xc0\xff\x7b\x01\x00\x00\x04\x00\x80\x55\x35\x00\xfc\x01\x7e"s;
  const Array array = parse_npy(forged_npy(npy_dictionary("<f2", "(9,)"), bytes), "a.npy");
  const auto values = std::get<std::vector<float>>(array.values);
  const std::vector<float> expected{1.0f, -2.0f, 65504.0f, 0x1p-24f, 0x1p-14f, -0.0f, 0x1.554p-2f};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(values[i], expected[i]) << i;
  EXPECT_TRUE(std::signbit(values[5]));
  EXPECT_EQ(values[7], -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(values[8]));
}

TEST(Npy, ReadsAllVersionsAndSpellingsOfAHeader) {
  const Array expected{{1, 2}, std::vector<std::uint8_t>{5, 6}, Order::c};
  const std::string dictionary = npy_dictionary("|u1", "(1, 2)");
  for (const int version : {1, 2, 3}) {
    EXPECT_EQ(parse_npy(forged_npy(dictionary, "\x05\x06", version), "a.npy"), expected);
  }
  for (const char* text : {
           "{\"shape\":(1,2),\"fortran_order\":False,\"descr\":\"|u1\"}",
           "  { 'descr' : '|u1' , 'fortran_order' : False , 'shape' : ( 1 , 2 , ) , }  \n\n",
       }) {
    EXPECT_EQ(parse_npy(forged_npy(text, "\x05\x06"), "a.npy"), expected) << text;
  }
}

TEST(Npy, RefusesEverythingElseByName) {
  const std::string good = npy_dictionary("<f8", "(1,)");
  const std::string one = le(0x3ff0000000000000, 8);
  const std::string header_length_lies = std::string("\x93NUMPY\x02\x00", 8) + le(0xfffffff0, 4);
  const struct {
    const char* what;
    std::string bytes;
    const char* says;
  } cases[] = {
      {"empty file", "", "the end of the data inside the first 8 bytes"},
      {"text", "W1 = [1, 2, 3]", "no NumPy magic string"},
      {"version 4", forged_npy(good, one, 4), "format version 4.0"},
      {"version 0", forged_npy(good, one, 0), "format version 0.0"},
      {"no length", std::string("\x93NUMPY\x01\x00\x01", 9), "the header's length"},
      {"absurd header", header_length_lies, "a header of 4294967280 bytes"},
      {"long header", forged_npy(good + std::string(10'000, ' '), one), "at most 10000"},
      {"cut header", forged_npy(good, one).substr(0, 40), "inside the header"},
      {"cut values", forged_npy(good, one.substr(1)), "7 bytes of values"},
      {"extra values", forged_npy(good, one + one), "16 bytes of values"},
      {"big-endian", forged_npy(npy_dictionary(">f8", "(1,)"), one),
       "\">f8\", which is big-endian"},
      {"complex", forged_npy(npy_dictionary("<c8", "(1,)"), "xxxxxxxx"), "dtype \"<c8\""},
      {"complex", forged_npy(npy_dictionary("<c16", "(1,)"), one + one), "dtype \"<c16\""},
      {"text dtype", forged_npy(npy_dictionary("<U2", "(1,)"), one), "dtype \"<U2\""},
      {"dates", forged_npy(npy_dictionary("<M8[s]", "(1,)"), "xxxxxxxx"), "dtype \"<M8[s]\""},
      {"pickled objects", forged_npy(npy_dictionary("|O", "(1,)"), "\x80\x04K\x01."), "pickled"},
      {"structured",
       forged_npy("{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (1,), }", one),
       "a structured dtype"},
      {"overflow", forged_npy(npy_dictionary("<f8", "(4294967296, 4294967296)"), one),
       "fits the memory"},
      {"overflow in bytes", forged_npy(npy_dictionary("<f8", "(4611686018427387904,)"), one),
       "fits the memory"},
      {"overflow beside a zero",
       forged_npy(npy_dictionary("<f8", "(0, 4294967296, 4294967296)"), ""), "fits the memory"},
      {"extent above 64 bits", forged_npy(npy_dictionary("<f8", "(99999999999999999999,)"), one),
       "an extent that fits no memory"},
      {"negative extent", forged_npy(npy_dictionary("<f8", "(-1,)"), one), "a negative extent"},
      {"far too many values", forged_npy(npy_dictionary("<f8", "(100000000000,)"), one),
       "8 bytes of values for shape (100000000000,)"},
      {"number as shape", forged_npy(npy_dictionary("<f8", "1"), one), "out of place"},
      {"parentheses", forged_npy(npy_dictionary("<f8", "(1)"), one), "out of place"},
      {"float extent", forged_npy(npy_dictionary("<f8", "(1.0,)"), one), "out of place"},
      {"33 dimensions",
       forged_npy(npy_dictionary("<f8",
                                 "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
                                 "1,1,1,1)"),
                  one),
       "more than 32 dimensions"},
      {"no dictionary", forged_npy("", one), "out of place"},
      {"list", forged_npy("['<f8', False, (1,)]", one), "out of place"},
      {"expression", forged_npy(npy_dictionary("<f8", "(1+0,)"), one), "out of place"},
      {"call", forged_npy(npy_dictionary("<f8", "__import__('os')"), one), "out of place"},
      {"missing key", forged_npy("{'descr': '<f8', 'shape': (1,), }", one), "a missing key"},
      {"key twice", forged_npy("{'descr': '<f8', 'descr': '<f8', 'shape': (1,), }", one),
       "the key \"descr\""},
      {"unknown key", forged_npy("{'descr': '<f8', 'x': 1, }", one), "the key \"x\""},
      {"open string", forged_npy("{'descr", one), "a string without end"},
      {"order 1", forged_npy(npy_dictionary("<f8", "(1,)", "1"), one), "out of place"},
      {"no comma", forged_npy("{'descr': '<f8' 'fortran_order': False, 'shape': (1,)}", one),
       "out of place"},
      {"not closed", forged_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), ", one),
       "out of place"},
      {"text behind", forged_npy(good + "}", one), "out of place"},
      {"zero behind", forged_npy(good + std::string(1, '\0'), one), "out of place"},
  };
  const test::TemporaryDirectory directory;
  const std::filesystem::path path = directory / "layer.npy";
  for (const auto& [what, bytes, says] : cases) {
    test::put_file(path, bytes);
    const std::string message = refusal([&] { read_npy(path); });
    EXPECT_THAT(message, HasSubstr(path.string())) << what;
    EXPECT_THAT(message, HasSubstr(says)) << what;
  }
}

TEST(Npy, SaysWhyAFileCannotBeRead) {
  const test::TemporaryDirectory directory;
  EXPECT_THAT(refusal([&] { read_npy(directory / "none.npy"); }),
              ::testing::AllOf(HasSubstr("none.npy"), HasSubstr("no such file")));
  EXPECT_THAT(refusal([&] { read_npy(directory.path()); }),
              ::testing::AllOf(HasSubstr(directory.path().string()), HasSubstr("a directory")));
}

TEST(Npy, PrintsNoControlCharactersOfAFile) {
  const std::string bytes = forged_npy(npy_dictionary("\x1b[31m\x9b", "(1,)"), "x");
  const std::string message = refusal([&] { parse_npy(bytes, "a.npy"); });
  EXPECT_THAT(message, HasSubstr("\\x1b[31m\\x9b"));
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace symport
