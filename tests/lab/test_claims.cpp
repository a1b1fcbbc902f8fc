// SPDX-License-Identifier: MIT
// Small files that claim to be enormous: refused at once, in memory of the order of their size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/data/png_rows.hpp"
#include "support/bounded_child.hpp"
#include "support/forged_idx.hpp"
#include "support/forged_npz.hpp"
#include "support/forged_png.hpp"
#include "support/packed.hpp"
#include "support/temporary_directory.hpp"
#include "symport/data/csv.hpp"
#include "symport/data/idx.hpp"
#include "symport/data/npy.hpp"
#include "symport/data/npz.hpp"

namespace symport::lab {
namespace {

using test::forged_idx;
using test::forged_npy;
using test::forged_npz;
using test::forged_png;
using test::in_bounded_child;
using test::npy_dictionary;

constexpr std::size_t allowed_bytes = std::size_t{32} << 20;

struct Claim {
  const char* name;
  std::string bytes;
  std::function<void(const std::filesystem::path&)> read;
};

std::vector<Claim> claims() {
  const auto npy = [](const std::filesystem::path& path) { read_npy(path); };
  const auto npz = [](const std::filesystem::path& path) { read_npz(path); };
  const auto idx = [](const std::filesystem::path& path) { read_idx(path); };
  const auto png = [](const std::filesystem::path& path) { read_png_rows(path); };
  const auto csv = [](const std::filesystem::path& path) { read_csv(path); };
  const std::string zeros(std::size_t{40} << 20, '\0');
  const std::string commas(std::size_t{1} << 18, ',');
  const std::string row("\0rgb", 4);
  const std::string terabyte = npy_dictionary("<f8", "(1000000, 1000000)");
  return {
      {"npy of 8 TB", forged_npy(terabyte, "12345678"), npy},
      {"npy of 2^63 - 1 bytes", forged_npy(npy_dictionary("|u1", "(9223372036854775807,)"), "1"),
       npy},
      {"npy with a header of 4 GB", std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12), npy},
      {"npz with an array of 8 TB", forged_npz({{.contents = forged_npy(terabyte, "12345678")}}),
       npz},
      {"npz with a deflated array of 8 TB",
       forged_npz({{.contents = forged_npy(terabyte, "12345678"), .deflated = true}}), npz},
      {"npz with an entry of 2^62 bytes",
       forged_npz({{.size = 1ull << 62, .zip64_local = true, .zip64_central = true}}), npz},
      {"npz with 2^62 entries", forged_npz({{}}, {.entries = 1ull << 62, .zip64 = true}), npz},
      {"npz with 40 MB behind its array",
       forged_npz({{.deflated = true,
                    .packed = test::raw_deflate(test::three_doubles() + zeros),
                    .size = test::three_doubles().size()}}),
       npz},
      {"idx of 2^31 bytes", forged_idx({0x80000000u}, "a"), idx},
      {"idx of 2^62 bytes", forged_idx({0x7fffffffu, 0x7fffffffu}, "a"), idx},
      {"idx of 2^128 bytes", forged_idx({0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu}, "a"),
       idx},
      {"gzipped idx of 2^62 bytes", test::gzipped(forged_idx({0x7fffffffu, 0x7fffffffu}, "a")),
       idx},
      {"gzipped idx with 40 MB behind it", test::gzipped(forged_idx({1}, "a" + zeros)), idx},
      {"png of 2^31 rows", forged_png({.width = 1, .height = 0x7fffffff}, row), png},
      {"png of 2^31 pixels a row", forged_png({.width = 0x7fffffff, .height = 1}, row), png},
      {"png of a million pixels a row and 2^31 rows",
       forged_png({.width = 1'000'000, .height = 0x7fffffff}, row), png},
      {"csv of one long line", commas, csv},
      {"csv of one long field", std::string(commas.size(), 'a'), csv},
      {"csv of one long quote", '"' + std::string(commas.size(), 'a'), csv},
      {"csv of many short lines", "a\n" + std::string(commas.size(), '\n'), csv},
  };
}

TEST(Claims, CostNoMoreThanTheFileIsLong) {
  const test::TemporaryDirectory directory;
  const std::filesystem::path path = directory / "claim";
  for (const Claim& claim : claims()) {
    ASSERT_LT(claim.bytes.size(), std::size_t{1} << 20) << claim.name;
    test::put_file(path, claim.bytes);
    const test::ChildEnd end = in_bounded_child(allowed_bytes, [&] { claim.read(path); });
    EXPECT_FALSE(end.gave_up) << claim.name;
    EXPECT_THAT(end.refusal, ::testing::HasSubstr(path.string())) << claim.name;
    EXPECT_LT(end.seconds, 1.0) << claim.name;
    EXPECT_LT(end.more_kilobytes, static_cast<long>(allowed_bytes >> 10)) << claim.name;
  }
}

TEST(Claims, TheBoundsOfTheseTestsHold) {
  const auto reserve = [] {
    void* memory = ::operator new(4 * allowed_bytes);
    asm volatile("" : : "r"(memory) : "memory");
  };
  EXPECT_EQ(in_bounded_child(allowed_bytes, reserve).gave_up, test::address_space_can_be_limited);
  const auto touch = [] {
    std::string text(allowed_bytes / 2, 'a');
    asm volatile("" : : "r"(text.data()) : "memory");
  };
  EXPECT_GE(in_bounded_child(allowed_bytes, touch).more_kilobytes,
            static_cast<long>(allowed_bytes >> 12));
}

}  // namespace
}  // namespace symport::lab
