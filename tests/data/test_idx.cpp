// SPDX-License-Identifier: MIT
#include "symport/data/idx.hpp"

#include <gtest/gtest.h>

#include "support/forged_idx.hpp"
#include "support/packed.hpp"
#include "support/refusal.hpp"
#include "support/temporary_directory.hpp"

namespace symport {
namespace {

using test::forged_idx;
using test::gzipped;
using test::refusal;
using ::testing::HasSubstr;

TEST(Idx, ReadsPlainAndGzippedFilesAlike) {
  const test::TemporaryDirectory directory;
  const std::string bytes = forged_idx({2, 1, 3}, "abcdef");
  const Array expected{
      {2, 1, 3}, std::vector<std::uint8_t>{'a', 'b', 'c', 'd', 'e', 'f'}, Order::c};
  for (const std::string& form : {bytes, gzipped(bytes)}) {
    test::put_file(directory / "images", form);
    EXPECT_EQ(read_idx(directory / "images"), expected);
  }
}

TEST(Idx, PutsImagesAndClassesTogether) {
  const test::TemporaryDirectory directory;
  test::put_file(directory / "images", forged_idx({2, 2, 3}, "abcdefABCDEF"));
  test::put_file(directory / "classes.gz", gzipped(forged_idx({2}, "\x07\x09")));
  const ImageSet set = read_idx_images(directory / "images", directory / "classes.gz");
  EXPECT_EQ(set.size(), 2);
  EXPECT_EQ(set.rows, 2);
  EXPECT_EQ(set.cols, 3);
  EXPECT_EQ(set.classes, (std::vector<std::uint8_t>{7, 9}));
  EXPECT_THAT(set.image(1), ::testing::ElementsAre('A', 'B', 'C', 'D', 'E', 'F'));
}

TEST(Idx, FourDimensionsAreImagesWithChannels) {
  const test::TemporaryDirectory directory;
  test::put_file(directory / "images", forged_idx({2, 1, 2, 3}, "abcdefABCDEF"));
  test::put_file(directory / "classes", forged_idx({2}, "\x01\x02"));
  const ImageSet set = read_idx_images(directory / "images", directory / "classes");
  EXPECT_EQ(set.rows, 1);
  EXPECT_EQ(set.cols, 2);
  EXPECT_EQ(set.channels, 3);
  EXPECT_EQ(set.features(), 6);
  EXPECT_THAT(set.image(1), ::testing::ElementsAre('A', 'B', 'C', 'D', 'E', 'F'));
}

TEST(Idx, HeadersAreWhatTheReaderReads) {
  const std::vector<Index> shape{1, 2, 70000, 0};
  EXPECT_EQ(idx_header(shape), forged_idx({1, 2, 70000, 0}, ""));
  EXPECT_EQ(parse_idx(idx_header(shape), "made").shape, shape);
  EXPECT_THAT(refusal([] { idx_header({}); }), HasSubstr("1 to 4 dimensions"));
  EXPECT_THAT(refusal([] { idx_header({1, -1}); }), HasSubstr("0 to 4294967295"));
  EXPECT_THAT(refusal([] { idx_header({Index{1} << 32}); }), HasSubstr("0 to 4294967295"));
}

TEST(Idx, ADirectoryIsFoundByTheUsualNames) {
  const struct {
    const char* images;
    const char* classes;
  } cases[] = {{"-images-idx3-ubyte", "-labels-idx1-ubyte"},
               {"-images.idx3-ubyte", "-labels.idx1-ubyte"},
               {"-images-idx4-ubyte", "-labels-idx1-ubyte.gz"},
               {"-images-idx3-ubyte.gz", "-labels.idx1-ubyte.gz"}};
  for (const auto& [images, classes] : cases) {
    const test::TemporaryDirectory directory;
    const auto in = [&](const std::string& part, const char* name) {
      return directory / (part + name);
    };
    EXPECT_THAT(refusal([&] { find_idx_files(directory.path()); }),
                HasSubstr("no file train-images-idx3-ubyte"));
    test::put_file(in("train", images), "");
    EXPECT_THAT(refusal([&] { find_idx_files(directory.path()); }),
                HasSubstr("no file train-labels-idx1-ubyte"));
    test::put_file(in("train", classes), "");
    EXPECT_FALSE(find_idx_files(directory.path()).test);
    test::put_file(in("t10k", classes), "");
    EXPECT_THAT(refusal([&] { find_idx_files(directory.path()); }),
                HasSubstr("no file t10k-images-idx3-ubyte"));
    test::put_file(in("t10k", images), "");
    const IdxFiles files = find_idx_files(directory.path());
    EXPECT_EQ(files.training.images, in("train", images));
    EXPECT_EQ(files.training.classes, in("train", classes));
    ASSERT_TRUE(files.test);
    EXPECT_EQ(files.test->images, in("t10k", images));
    EXPECT_EQ(files.test->classes, in("t10k", classes));
  }
}

TEST(Idx, APlainFileIsPreferredAndAMissingDirectoryNamed) {
  const test::TemporaryDirectory directory;
  for (const char* ending : {"", ".gz"}) {
    test::put_file(directory / ("train-images-idx3-ubyte" + std::string(ending)), "");
    test::put_file(directory / ("train-labels-idx1-ubyte" + std::string(ending)), "");
  }
  EXPECT_EQ(find_idx_files(directory.path()).training.images,
            directory / "train-images-idx3-ubyte");
  EXPECT_THAT(refusal([&] { find_idx_files(directory / "none"); }), HasSubstr("none: found"));
}

TEST(Idx, RefusesEverythingElseByName) {
  const std::string good = forged_idx({2, 1, 3}, "abcdef");
  const std::string packed = gzipped(good);
  std::string wrong_checksum = packed;
  wrong_checksum[wrong_checksum.size() - 5] ^= 1;
  std::string wrong_length = packed;
  wrong_length.back() ^= 1;
  const struct {
    const char* what;
    std::string bytes;
    const char* says;
  } cases[] = {
      {"empty", "", "inside the header"},
      {"cut header", good.substr(0, 9), "inside the header"},
      {"text", "label,pixel1\n", "no IDX magic number"},
      {"floats", forged_idx({1}, "abcd", 13), "element type 13"},
      {"no dimensions", forged_idx({}, ""), "0 dimensions"},
      {"five dimensions", forged_idx({1, 1, 1, 1, 1}, "a"), "5 dimensions"},
      {"cut values", good.substr(0, good.size() - 1), "fewer bytes than shape (2, 1, 3)"},
      {"extra values", good + "x", "1 bytes behind the last value"},
      {"many images and no bytes", forged_idx({0xffffffff, 28, 28}, "abc"), "fewer bytes"},
      {"an exabyte", forged_idx({1u << 15, 1u << 15, 1u << 15, 1u << 15}, "abc"), "fewer bytes"},
      {"overflow", forged_idx({0xffffffff, 0xffffffff, 0xffffffff}, "abc"), "fits the memory"},
      {"cut gzip", packed.substr(0, packed.size() - 9), "stops early"},
      {"gzip without trailer", packed.substr(0, packed.size() - 8), "stops early"},
      {"gzip header alone", packed.substr(0, 2), "stops early"},
      {"gzip checksum", wrong_checksum, "damaged compressed data"},
      {"gzip length", wrong_length, "damaged compressed data"},
      {"bytes behind gzip", packed + "xy", "2 bytes behind the compressed data"},
      {"gzip of too much", gzipped(good + "x"), "more decompressed bytes"},
      {"gzip of too little", gzipped(good.substr(0, 18)), "fewer bytes"},
  };
  const test::TemporaryDirectory directory;
  const std::filesystem::path path = directory / "train-images";
  for (const auto& [what, bytes, says] : cases) {
    test::put_file(path, bytes);
    const std::string message = refusal([&] { read_idx(path); });
    EXPECT_THAT(message, HasSubstr(path.string())) << what;
    EXPECT_THAT(message, HasSubstr(says)) << what;
  }
}

TEST(Idx, RefusesFilesThatAreNoPair) {
  const test::TemporaryDirectory directory;
  test::put_file(directory / "images", forged_idx({2, 1, 1}, "ab"));
  test::put_file(directory / "none", forged_idx({2, 0, 1}, ""));
  test::put_file(directory / "two", forged_idx({2}, "ab"));
  test::put_file(directory / "three", forged_idx({3}, "abc"));
  const auto message = [&](const char* images, const char* classes) {
    return refusal([&] { read_idx_images(directory / images, directory / classes); });
  };
  EXPECT_THAT(message("images", "three"), HasSubstr("three: found 3 classes, allowed is 2"));
  EXPECT_THAT(message("two", "images"), HasSubstr("two: found shape (2,)"));
  EXPECT_THAT(message("images", "images"), HasSubstr("images: found shape (2, 1, 1)"));
  EXPECT_THAT(message("none", "two"), HasSubstr("at least one pixel"));
  EXPECT_THAT(message("images", "missing"), HasSubstr("no such file"));
}

}  // namespace
}  // namespace symport
