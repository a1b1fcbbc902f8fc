// SPDX-License-Identifier: MIT
#include "lab/data/sha256.hpp"

#include <gtest/gtest.h>

#include "support/refusal.hpp"
#include "support/temporary_directory.hpp"

namespace symport::lab {
namespace {

std::string hex_of(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.hex();
}

/// The examples of NIST for FIPS 180-4, and the empty message.
TEST(Sha256, AgreesWithTheStandard) {
  EXPECT_EQ(hex_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex_of(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesAndFilesGiveTheSame) {
  const std::string bytes(1'000'000, 'a');
  Sha256 pieces;
  for (std::size_t at = 0; at < bytes.size(); at += 999) pieces.update(bytes.substr(at, 999));
  EXPECT_EQ(pieces.hex(), hex_of(bytes));
  const test::TemporaryDirectory directory;
  test::put_file(directory / "a", bytes);
  EXPECT_EQ(sha256_of_file(directory / "a"), hex_of(bytes));
  test::put_file(directory / "empty", "");
  EXPECT_EQ(sha256_of_file(directory / "empty"), hex_of(""));
  EXPECT_THAT(test::refusal([&] { sha256_of_file(directory / "missing"); }),
              ::testing::HasSubstr("no such file"));
}

TEST(Sha256, NothingMayFollowTheEnd) {
  Sha256 hash;
  hash.hex();
  EXPECT_THROW(hash.update("a"), std::logic_error);
  EXPECT_THROW(hash.hex(), std::logic_error);
}

}  // namespace
}  // namespace symport::lab
