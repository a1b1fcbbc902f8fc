// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <functional>

#include "lab/data/png_rows.hpp"
#include "support/forged_idx.hpp"
#include "support/forged_npz.hpp"
#include "support/forged_png.hpp"
#include "support/packed.hpp"
#include "support/temporary_directory.hpp"
#include "symport/core/invalid_argument.hpp"
#include "symport/core/random.hpp"
#include "symport/data/csv.hpp"
#include "symport/data/idx.hpp"
#include "symport/data/npy.hpp"
#include "symport/data/npz.hpp"

namespace symport::lab {
namespace {

std::size_t place(Random& random, std::size_t size) {
  return static_cast<std::size_t>(random.below(static_cast<Index>(size)));
}

/// One to four small damages: flipped bits, random and extreme numbers, cuts, insertions, repeats.
std::string mutated(std::string bytes, Random& random) {
  const Index damages = 1 + random.below(4);
  for (Index i = 0; i < damages && !bytes.empty(); ++i) {
    const std::size_t at = place(random, bytes.size());
    const std::size_t length = 1 + place(random, std::min<std::size_t>(bytes.size() - at, 16));
    switch (random.below(7)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(random.bits());
        break;
      case 2:  // a number at the end of its range
        bytes.replace(at, length, length, random.below(2) == 0 ? '\xff' : '\0');
        break;
      case 3:
        bytes.erase(at, length);
        break;
      case 4:
        bytes.insert(at, length, static_cast<char>(random.bits()));
        break;
      case 5:
        bytes.insert(place(random, bytes.size()), bytes.substr(at, length));
        break;
      case 6:
        if (random.below(4) == 0) bytes.resize(at);
        break;
    }
  }
  return bytes;
}

struct Format {
  const char* name;
  std::string bytes;
  std::function<void(std::string_view)> parse;
};

std::vector<Format> formats() {
  const auto npy = [](std::string_view bytes) { parse_npy(bytes, "mutant"); };
  const auto npz = [](std::string_view bytes) { parse_npz(bytes, "mutant"); };
  const auto idx = [](std::string_view bytes) { parse_idx(bytes, "mutant"); };
  const auto png = [](std::string_view bytes) { parse_png_rows(bytes, "mutant"); };
  const auto csv = [](std::string_view bytes) {
    samples_from_csv(parse_csv(bytes, "mutant"), "y", "mutant");
  };
  const std::string images = test::forged_idx({2, 3, 2}, "abcdefABCDEF");
  test::ForgedEntry wide;
  wide.name = "b1.npy";
  wide.deflated = true;
  wide.zip64_local = true;
  wide.zip64_central = true;
  return {
      {"npy", test::three_doubles(), npy},
      {"npz", test::forged_npz({{}, {.name = "b1.npy"}}), npz},
      {"deflated npz", test::forged_npz({{.deflated = true}, {.name = "b1.npy"}}), npz},
      {"zip64 npz", test::forged_npz({{}, wide}, {.zip64 = true}), npz},
      {"idx", images, idx},
      {"idx.gz", test::gzipped(images), idx},
      {"png", test::forged_png({.width = 2, .height = 2}, std::string("\0abcdef\1ABCDEF", 14)),
       png},
      {"csv", "a,\"b\",y\r\n1,2.5e-3,0\r\n-4,\"5\",1\r\n", csv},
  };
}

TEST(Mutations, AreReadOrRefusedAndNothingElse) {
  constexpr int mutants = 4000;
  for (const Format& format : formats()) {
    ASSERT_NO_THROW(format.parse(format.bytes)) << format.name;
    Random random(2024);
    int read = 0;
    int refused = 0;
    for (int i = 0; i < mutants; ++i) {
      const std::string bytes = mutated(format.bytes, random);
      try {
        format.parse(bytes);
        ++read;
      } catch (const InvalidArgument& error) {
        ++refused;
        ASSERT_EQ(error.field().rfind("mutant", 0), 0u) << format.name << ": " << error.what();
      } catch (const std::exception& error) {
        FAIL() << format.name << ", mutant " << i << ": " << error.what();
      }
    }
    EXPECT_EQ(read + refused, mutants);
    EXPECT_GT(refused, mutants / 4) << format.name;  // the damages are real ...
    EXPECT_GT(read, 0) << format.name;               // ... and not all of them fatal
  }
}

TEST(Mutations, NoPrefixOfAFileIsRead) {
  for (const Format& format : formats()) {
    if (format.name == std::string_view("csv")) continue;  // a shorter table is a table
    for (std::size_t length = 0; length < format.bytes.size(); ++length) {
      EXPECT_THROW(format.parse(std::string_view(format.bytes).substr(0, length)), InvalidArgument)
          << format.name << ", " << length << " bytes";
    }
  }
}

TEST(Mutations, NoFlippedBitOfAnArchiveChangesAnArray) {
  const test::TemporaryDirectory directory;
  for (const bool deflate : {false, true}) {
    const ArrayMap arrays{{"W1", {{2, 2}, std::vector<float>{1, 2, 3, 4}, Order::c}},
                          {"b1", {{2}, std::vector<double>{0.1, 0.2}, Order::c}}};
    write_npz(directory / "a.npz", arrays, {.deflate = deflate});
    const std::string good = test::contents(directory / "a.npz");
    int noticed = 0;
    for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
      std::string flipped = good;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
      try {
        ASSERT_EQ(parse_npz(flipped, "f"), arrays) << "bit " << bit;
      } catch (const InvalidArgument&) {
        ++noticed;
      }
    }
    EXPECT_GT(noticed, static_cast<int>(6 * good.size()));
  }
}

}  // namespace
}  // namespace symport::lab
