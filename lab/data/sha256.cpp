// SPDX-License-Identifier: MIT
#include "lab/data/sha256.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <stdexcept>
#include <vector>

#include "data/byte_source.hpp"

namespace symport::lab {

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

namespace {

void require(int result) {
  if (result != 1) throw std::runtime_error("OpenSSL cannot compute SHA-256");
}

}  // namespace

Sha256::Sha256() : state_(std::make_unique<State>()) {
  require(EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr));
}

Sha256::~Sha256() = default;

void Sha256::update(std::string_view bytes) {
  if (!state_) throw std::logic_error("Sha256::update after hex");
  require(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()));
}

std::string Sha256::hex() {
  if (!state_) throw std::logic_error("Sha256::hex twice");
  std::array<unsigned char, 32> digest{};
  require(EVP_DigestFinal_ex(state_->context, digest.data(), nullptr));
  state_.reset();
  std::string text;
  for (const unsigned char byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

std::string sha256_of_file(const std::filesystem::path& path) {
  constexpr std::size_t chunk = std::size_t{1} << 18;
  detail::FileSource source(path);
  std::vector<char> buffer(chunk);
  Sha256 hash;
  for (;;) {
    const std::size_t count = source.read(buffer);
    hash.update({buffer.data(), count});
    if (count < buffer.size()) return hash.hex();
  }
}

}  // namespace symport::lab
