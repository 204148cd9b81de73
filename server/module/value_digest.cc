#include "server/module/value_digest.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "core/bytes/varint.h"
#include "core/keyspace/value.h"
#include "core/quota/quota_book.h"
#include "core/quota/quota_run.h"
#include "server/module/module.h"
#include "server/module/module_api.h"

namespace tally::module {
namespace {

void Add(redis::Digest* digest, std::string_view bytes) {
  redis::Functions().DigestAddStringBuffer(digest, bytes.data(), bytes.size());
}

// Adds the bytes as a sequence of their own. The order of the sequences does not change the digest.
void AddUnordered(redis::Digest* digest, std::string_view bytes) {
  Add(digest, bytes);
  redis::Functions().DigestEndSequence(digest);
}

std::string SavedAtOnce(Type type, const void* value) {
  std::string bytes;
  uint64_t cursor = 0;
  do {
    cursor = OperationsOf(type).save(value, cursor, SIZE_MAX / 2, bytes);
  } while (cursor != 0);
  return bytes;
}

// Removes a record from the front of `run`: an id and a block, as quota_run.h says. Returns false
// if the run is malformed.
bool ReadBookRecord(std::string_view& run, std::string_view& record) {
  const std::string_view begin = run;
  std::string_view bytes;
  int64_t number = 0;
  if (run.starts_with(kQuotaTextMark)) {
    run.remove_prefix(kQuotaTextMark.size());
    if (!ReadLengthPrefixed(run, bytes)) return false;
  } else if (!ReadSignedVarint(run, number)) {
    return false;
  }
  if (!ReadLengthPrefixed(run, bytes)) return false;
  record = begin.substr(0, begin.size() - run.size());
  return true;
}

// Three things differ between servers and must not change the digest: the order of a book's
// records, which are saved by their hashes, how much outdated content has been freed, and into how
// many records a user's purchases are divided. So the records are added without an order, from a
// copy in which all outdated content is freed and each user has one record.
void DigestBook(redis::Digest* digest, const QuotaBook& book) {
  QuotaBook swept = book.Clone();
  swept.ExpireSome(TheModule().clock().now_ms(), SIZE_MAX);
  swept.PackLargeUsers();
  std::string run;
  uint64_t cursor = 0;
  bool is_header = true;
  do {
    run.clear();
    cursor = swept.Save(cursor, size_t{64} << 10, run);
    if (is_header) {
      AddUnordered(digest, run);
    } else {
      std::string_view rest = std::string_view(run).substr(1);
      std::string_view record;
      while (!rest.empty() && ReadBookRecord(rest, record)) {
        AddUnordered(digest, std::string(1, run.front()).append(record));
      }
    }
    is_header = false;
  } while (cursor != 0);
}

}  // namespace

void DigestValue(redis::Digest* digest, Type type, StoredValue value) {
  if (!value) return;
  if (value.is_packed()) return AddUnordered(digest, value.packed());
  if (type == Type::kQuota) return DigestBook(digest, *static_cast<const QuotaBook*>(value.heap()));
  AddUnordered(digest, SavedAtOnce(type, value.heap()));
}

}  // namespace tally::module
