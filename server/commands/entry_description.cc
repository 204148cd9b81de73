#include "server/commands/entry_description.h"

#include <cstdint>

#include "core/hash/hash.h"

namespace tally::server {
namespace {

// What a record takes beside its key and value: two length bytes, four of header and about nine in
// its segment's index (see record_table.h and keyspace.h).
constexpr size_t kRecordOverhead = 15;
constexpr size_t kDeadlineBytes = 8;

}  // namespace

std::string_view EncodingOf(const Keyspace::Entry& entry) {
  if (entry.is_integer()) return "int";
  if (entry.type() != Type::kString) {
    if (entry.is_heap()) return OperationsOf(entry.type()).encoding(entry.pointer());
    return entry.type() == Type::kHash ? Hash::EncodingOfPacked(entry.bytes()) : "packed";
  }
  // Redis holds a string of up to 44 bytes in one piece with its value object, until the string
  // changes.
  constexpr size_t kEmbedded = 44;
  return entry.is_raw() || entry.bytes().size() > kEmbedded ? "raw" : "embstr";
}

size_t BytesOf(const Keyspace::Entry& entry) {
  size_t bytes = kRecordOverhead + entry.key().size();
  if (entry.deadline_ms() != kNoDeadline) bytes += kDeadlineBytes;
  if (entry.is_integer()) return bytes + sizeof(int64_t);
  if (!entry.is_heap()) return bytes + entry.bytes().size();
  return bytes + sizeof(void*) + OperationsOf(entry.type()).memory_bytes(entry.pointer());
}

}  // namespace tally::server
