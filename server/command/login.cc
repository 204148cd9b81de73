#include "server/command/login.h"

#include <absl/strings/escaping.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <array>

namespace tally::server {
namespace {

using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

Digest DigestOf(std::string_view text) {
  Digest digest;
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return digest;
}

// Digests are compared, so that not even the length of the password shows in the time it takes.
bool SameSecret(std::string_view a, std::string_view b) {
  return CRYPTO_memcmp(DigestOf(a).data(), DigestOf(b).data(), SHA256_DIGEST_LENGTH) == 0;
}

}  // namespace

std::string PasswordHash(std::string_view password) {
  const Digest digest = DigestOf(password);
  return absl::BytesToHexString({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

bool UserExists(const Config&, std::string_view user) { return user == kDefaultUser; }

bool PasswordFits(const Config& config, std::string_view user, std::string_view password) {
  if (!UserExists(config, user)) return false;
  return config.requirepass.empty() || SameSecret(config.requirepass, password);
}

bool Login(const Config& config, Client& client, std::string_view user, std::string_view password) {
  if (!PasswordFits(config, user, password)) return false;
  client.user = user;
  client.authenticated = true;
  return true;
}

void LoginAsDefault(const Config& config, Client& client) {
  client.user = kDefaultUser;
  client.authenticated = config.requirepass.empty();
}

}  // namespace tally::server
