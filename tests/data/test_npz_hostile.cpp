// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/forged_npz.hpp"
#include "support/refusal.hpp"
#include "support/temporary_directory.hpp"
#include "symport/data/npz.hpp"

namespace symport {
namespace {

using test::forged_npy;
using test::forged_npz;
using test::ForgedEntry;
using test::le;
using test::npy_dictionary;
using test::refusal;
using ::testing::HasSubstr;

/// An archive that must be refused, and what the message must contain besides the file's name.
struct Hostile {
  const char* what;
  std::string archive;
  const char* array;  ///< its name, when the fault is in one entry
  const char* says;
};

void expect_refused(const std::vector<Hostile>& cases) {
  const test::TemporaryDirectory directory;
  const std::filesystem::path path = directory / "weights.npz";
  for (const Hostile& hostile : cases) {
    test::put_file(path, hostile.archive);
    const std::string message = refusal([&] { read_npz(path); });
    EXPECT_THAT(message, HasSubstr(path.string())) << hostile.what;
    EXPECT_THAT(message, HasSubstr(hostile.array)) << hostile.what;
    EXPECT_THAT(message, HasSubstr(hostile.says)) << hostile.what;
  }
}

TEST(Npz, RefusesBadArraysByFileAndArray) {
  const auto with = [](const std::string& contents, bool deflated) {
    ForgedEntry good;
    good.name = "W1.npy";
    return forged_npz({good, {.name = "W2.npy", .contents = contents, .deflated = deflated}});
  };
  const std::string value = le(0, 8);
  for (const bool deflated : {false, true}) {
    expect_refused({
        {"no array", with("text and no array", deflated), "array W2", "no NumPy magic string"},
        {"empty entry", with("", deflated), "array W2", "the end of the data"},
        {"object array", with(forged_npy(npy_dictionary("|O", "(1,)"), "\x80\x04K\x01."), deflated),
         "array W2", "pickled"},
        {"big-endian", with(forged_npy(npy_dictionary(">f4", "(2,)"), value), deflated), "array W2",
         "big-endian"},
        {"wrong dtype", with(forged_npy(npy_dictionary("<c8", "(4,)"), value), deflated),
         "array W2", "dtype \"<c8\""},
        {"malformed header", with(forged_npy("{'descr': ", value), deflated), "array W2",
         "a header with"},
        {"absurd header", with(std::string("\x93NUMPY\x03\x00", 8) + le(0xffffffff, 4), deflated),
         "array W2", "a header of 4294967295 bytes"},
        {"shape overflow",
         with(forged_npy(npy_dictionary("<f8", "(4294967296, 4294967296)"), value), deflated),
         "array W2", "fits the memory"},
        {"shape above the bytes", with(forged_npy(npy_dictionary("<f8", "(2,)"), value), deflated),
         "array W2", "8 bytes of values for shape (2,)"},
        {"shape below the bytes",
         with(forged_npy(npy_dictionary("<f8", "(1,)"), value + value), deflated), "array W2",
         "16 bytes of values for shape (1,)"},
    });
  }
}

TEST(Npz, RefusesArchivesThatAreNotWhole) {
  const std::string good = forged_npz({{}});
  expect_refused({
      {"empty file", "", "", "no zip archive"},
      {"text", "this is no archive, but it is long enough to be one", "", "no zip archive"},
      {"an .npy", test::three_doubles(), "", "no zip archive"},
      {"truncated", good.substr(0, good.size() / 2), "", "a zip archive without its end"},
      {"one byte short", good.substr(0, good.size() - 1), "", "a zip archive without its end"},
      {"bytes behind", good + "x", "", "a zip archive without its end"},
      {"bytes in front", "x" + good, "", "a directory"},
      {"several disks", forged_npz({{}}, {.disk = 1}), "", "several disks"},
      {"entry missing", forged_npz({{}}, {.entries = 2}), "", "1 directory entries where 2"},
      {"entry hidden", forged_npz({{}, {.name = "b1.npy"}}, {.entries = 1}), "", "2 directory"},
      {"directory elsewhere", forged_npz({{}}, {.offset = 3}), "", "a directory"},
      {"directory beyond", forged_npz({{}}, {.offset = 0xfffffff0}), "", "a directory"},
      {"directory too long", forged_npz({{}}, {.size = 0x7fffffff}), "", "a directory"},
      {"zip64 entries", forged_npz({{}}, {.entries = 1ull << 60, .zip64 = true}), "",
       "1 directory entries where"},
      {"zip64 offset", forged_npz({{}}, {.offset = ~0ull, .zip64 = true}), "", "a directory"},
      {"zip64 size", forged_npz({{}}, {.size = ~0ull, .zip64 = true}), "", "a directory"},
  });
}

TEST(Npz, RefusesEntriesThatLie) {
  const std::string contents = test::three_doubles();
  const std::string deflated = test::raw_deflate(contents);
  ForgedEntry other{.name = "b1.npy"};
  expect_refused({
      {"entry twice", forged_npz({{}, {}}), "W1", "the entry twice"},
      {"encrypted", forged_npz({{.flags = 0x0001}}), "W1", "an encrypted entry"},
      {"strongly encrypted", forged_npz({{.flags = 0x0041}}), "W1", "an encrypted entry"},
      {"masked headers", forged_npz({{.flags = 0x2000}}), "W1", "an encrypted entry"},
      {"bzip2", forged_npz({{.method = 12}}), "W1", "compression method 12"},
      {"stored as deflated", forged_npz({{.method = 8}}), "W1", "the end of the data"},
      {"wrong checksum", forged_npz({{.crc = 1}}), "array W1", "bytes with CRC"},
      {"wrong checksum, deflated", forged_npz({{.deflated = true, .crc = 1}}), "array W1",
       "bytes with CRC"},
      {"stored size", forged_npz({{.size = contents.size() + 8}}), "W1", "stored ones"},
      {"inflated size above", forged_npz({{.deflated = true, .size = contents.size() + 8}}),
       "array W1", "32 bytes of values for shape (3,)"},
      {"inflated size below", forged_npz({{.deflated = true, .size = contents.size() - 8}}),
       "array W1", "16 bytes of values for shape (3,)"},
      {"cut stream", forged_npz({{.deflated = true, .packed = deflated.substr(0, 60)}}), "array W1",
       "compressed data that stops early"},
      {"damaged stream", forged_npz({{.deflated = true, .packed = "\xff" + deflated}}), "array W1",
       "damaged compressed data"},
      {"bytes behind the stream", forged_npz({{.deflated = true, .packed = deflated + "xyz"}}),
       "array W1", "3 bytes behind the compressed data"},
      {"no bytes", forged_npz({{.deflated = true, .packed = ""}}), "W1",
       "compressed data that stops early"},
      {"another local name", forged_npz({{.local_name = "b1.npy"}}), "W1", "another name"},
      {"longer local name", forged_npz({{.local_name = "W1.npyW1.npy"}}), "W1", "another name"},
      {"header beyond the end", forged_npz({{.offset = 0x7fffffff}}), "W1", "no local header"},
      {"header far beyond the end", forged_npz({{.offset = ~0ull, .zip64_central = true}}), "W1",
       "no local header"},
      {"header inside the data", forged_npz({{.offset = 5}}), "W1", "no local header"},
      {"size without zip64 field", forged_npz({{.size = 0xffffffff}}), "W1",
       "a size without its zip64 field"},
      {"absurd zip64 size",
       forged_npz({{.size = ~0ull, .zip64_local = true, .zip64_central = true}}), "W1",
       "18446744073709551615 bytes declared"},
  });
}

TEST(Npz, RefusesEntryNamesThatAreNoArrays) {
  for (const char* name :
       {"../W1.npy", "/etc/W1.npy", "C:W1.npy", "a/W1.npy", "a\\W1.npy", "..\\W1.npy", ".npy",
        "W 1.npy", "W1\n.npy", "\x1b[2JW1.npy", "W\xc3\xbc.npy"}) {
    const std::string message =
        refusal([&] { parse_npz(forged_npz({{.name = name}}), "weights.npz"); });
    EXPECT_THAT(message, HasSubstr("weights.npz")) << name;
    EXPECT_THAT(message, HasSubstr("the array name")) << name;
    EXPECT_EQ(message.find('\x1b'), std::string::npos);
  }
  const std::string zero("W1\0.npy", 7);
  EXPECT_THAT(refusal([&] { parse_npz(forged_npz({{.name = zero}}), "weights.npz"); }),
              HasSubstr("W1\\x00"));
  for (const char* name : {"W1", "W1.txt", "", "W1.npy/"}) {
    EXPECT_THAT(refusal([&] { parse_npz(forged_npz({{.name = name}}), "weights.npz"); }),
                HasSubstr("names that end in .npy"))
        << name;
  }
  const std::string longest = std::string(200, 'a') + ".npy";
  EXPECT_EQ(parse_npz(forged_npz({{.name = longest}}), "weights.npz").size(), 1u);
  EXPECT_THAT(refusal([&] { parse_npz(forged_npz({{.name = "a" + longest}}), "weights.npz"); }),
              HasSubstr("1 to 200"));
}

TEST(Npz, RefusesOverlappingEntries) {
  // Two directory records for one local header are caught by its name; so the second entry is
  // hidden in the contents of the first.
  const std::string inner = forged_npz({{.name = "b1.npy"}});
  const std::string local = inner.substr(0, inner.find("PK\x01\x02"));
  const std::string outer =
      forged_npy(npy_dictionary("|u1", "(" + std::to_string(local.size()) + ",)"), local);
  const std::uint64_t hidden = 30 + 6 + outer.size() - local.size();
  const std::string archive =
      forged_npz({{.contents = outer}, {.name = "b1.npy", .offset = hidden}});
  EXPECT_THAT(refusal([&] { parse_npz(archive, "bomb.npz"); }),
              ::testing::AllOf(HasSubstr("bomb.npz"), HasSubstr("overlap")));
}

TEST(Npz, RefusesZipBombs) {
  // A true bomb: a header of three values, then zeros without end.
  const std::string zeros(std::size_t{32} << 20, '\0');
  const std::string bomb = test::raw_deflate(test::three_doubles() + zeros);
  ASSERT_LT(bomb.size(), 64u << 10);
  const std::uint64_t size = test::three_doubles().size();
  EXPECT_THAT(refusal([&] {
                parse_npz(forged_npz({{.deflated = true, .packed = bomb, .size = size}}), "f");
              }),
              ::testing::AllOf(HasSubstr("array W1"), HasSubstr("more decompressed bytes")));
  EXPECT_THAT(refusal([&] {
                parse_npz(
                    forged_npz({{.deflated = true, .packed = bomb, .size = size + zeros.size()}}),
                    "f");
              }),
              ::testing::AllOf(HasSubstr("array W1"), HasSubstr("bytes of values for shape (3,)")));

  // A header that claims a terabyte, agreed by the declared size: no deflated bytes expand so far.
  const std::string header = forged_npy(npy_dictionary("|u1", "(1099511627776,)"), "");
  EXPECT_THAT(refusal([&] {
                parse_npz(forged_npz({{.deflated = true,
                                       .packed = test::raw_deflate(header),
                                       .size = header.size() + (1ull << 40),
                                       .zip64_local = true,
                                       .zip64_central = true}}),
                          "f");
              }),
              ::testing::AllOf(HasSubstr("W1"), HasSubstr("at most 1032 times as many")));
}

}  // namespace
}  // namespace symport
