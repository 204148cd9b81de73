#include "server/script/sha1.h"

#include <absl/strings/escaping.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/base/check.h"

namespace tally::server {

Sha1Hex Sha1Of(std::string_view bytes) {
  // Fetched only once, because looking up an algorithm costs more than the digest of a short
  // script.
  static EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA1", nullptr);
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  const int done = EVP_Digest(bytes.data(), bytes.size(), digest, &size, algorithm, nullptr);
  Check(done == 1 && size == 20, "OpenSSL has SHA1");
  const std::string digits = absl::BytesToHexString({reinterpret_cast<const char*>(digest), size});
  Sha1Hex hex;
  std::copy(digits.begin(), digits.end(), hex.digits.begin());
  return hex;
}

// Hashes only a few bytes, because the comparison reads all of them anyway. Requires at least 16
// bytes.
size_t Sha1Memo::PlaceOf(std::string_view bytes) {
  constexpr uint64_t kMix = 0x9E3779B97F4A7C15;
  uint64_t hash = bytes.size();
  for (const size_t at : {bytes.size() / 4, bytes.size() / 2, bytes.size() - sizeof(uint64_t)}) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    hash = (hash ^ word) * kMix;
    hash ^= hash >> 32;
  }
  return hash % kEntries;
}

Sha1Hex Sha1Memo::Of(std::string_view bytes) {
  constexpr size_t kMinBytes = 2 * sizeof(uint64_t);
  if (bytes.size() < kMinBytes || bytes.size() > kMaxBytes) return Sha1Of(bytes);
  Entry& entry = entries_[PlaceOf(bytes)];
  if (entry.bytes != bytes) {
    entry.sha = Sha1Of(bytes);
    entry.bytes = bytes;
  }
  return entry.sha;
}

}  // namespace tally::server
