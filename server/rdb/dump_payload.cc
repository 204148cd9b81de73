#include "server/rdb/dump_payload.h"

#include <utility>

#include "server/rdb/crc64.h"
#include "server/rdb/rdb_codes.h"
#include "server/rdb/rdb_input.h"
#include "server/rdb/rdb_output.h"
#include "server/rdb/value_reader.h"
#include "server/rdb/value_writer.h"

namespace tally::rdb {
namespace {

constexpr size_t kVersionBytes = 2;
constexpr size_t kFooterBytes = kVersionBytes + sizeof(uint64_t);
// Those that the reader knows. What a newer version adds are types, which are refused by
// themselves; but nobody knows what a version far above these means.
constexpr uint64_t kLeastVersion = 6;
constexpr uint64_t kMostRedisVersion = 15;
constexpr uint64_t kMostValkeyVersion = 81;
constexpr uint64_t kWrittenVersion = 10;

uint64_t NumberAt(std::string_view bytes) {
  TextSource source(bytes);
  return RdbInput(source).Fixed(bytes.size());
}

uint64_t VersionIn(std::string_view payload) {
  return NumberAt(payload.substr(payload.size() - kFooterBytes, kVersionBytes));
}

}  // namespace

std::string DumpPayload(const Keyspace::Entry& entry) {
  RdbOutput output;
  output.Byte(CodeOf(entry.type()));
  WriteValue(entry, output);
  output.Fixed(kWrittenVersion, kVersionBytes);
  output.Fixed(output.Checksum(), sizeof(uint64_t));
  return std::move(output.bytes());
}

bool IsPayload(std::string_view payload) {
  if (payload.size() < kFooterBytes) return false;
  const uint64_t version = VersionIn(payload);
  const bool is_valkey = version >= kFirstValkeyVersion && version <= kMostValkeyVersion;
  if (!is_valkey && (version < kLeastVersion || version > kMostRedisVersion)) return false;
  const size_t summed = payload.size() - sizeof(uint64_t);
  const uint64_t said = NumberAt(payload.substr(summed));
  return said == 0 || said == ExtendCrc64(0, payload.substr(0, summed));
}

absl::Status RestorePayload(std::string_view payload, const KeyHead& head, EngineSink& sink) {
  TextSource source(payload.substr(0, payload.size() - kFooterBytes));
  RdbInput input(source);
  ValueReader reader(input, sink);
  const uint8_t code = input.Byte();
  if (input.ok()) reader.Begin(code, DialectOfVersion(VersionIn(payload)), head);
  while (reader.Next()) {
  }
  if (input.ok() && sink.empty() > 0) input.Fail("a value without elements");
  if (const Refusal refusal = input.ok() ? sink.Flush() : Refusal(); !refusal.empty()) {
    input.Fail(refusal);
  }
  return input.status();
}

}  // namespace tally::rdb
