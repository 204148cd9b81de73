#include "server/acl/password_hash.h"

#include <absl/strings/escaping.h>
#include <openssl/sha.h>

#include <array>

namespace tally::server {

std::string PasswordHash(std::string_view password) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  SHA256(reinterpret_cast<const unsigned char*>(password.data()), password.size(), digest.data());
  return absl::BytesToHexString({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

}  // namespace tally::server
