#include "server/script/sha1.h"

#include <openssl/evp.h>

#include "core/check.h"

namespace tally::server {

Sha1Hex Sha1Of(std::string_view bytes) {
  // Fetched once: looking an algorithm up costs more than a short script's digest.
  static EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA1", nullptr);
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  const int done = EVP_Digest(bytes.data(), bytes.size(), digest, &size, algorithm, nullptr);
  Check(done == 1 && size == 20, "OpenSSL has SHA1");
  constexpr char kDigits[] = "0123456789abcdef";
  Sha1Hex hex;
  for (size_t i = 0; i < 20; ++i) {
    hex.digits[2 * i] = kDigits[digest[i] >> 4];
    hex.digits[2 * i + 1] = kDigits[digest[i] & 15];
  }
  return hex;
}

}  // namespace tally::server
