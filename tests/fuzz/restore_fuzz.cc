// RESTORE of any bytes: a value is stored whole or not at all, and what is stored can be dumped,
// and restored from that dump.
#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "core/base/check.h"
#include "core/engine/engine.h"
#include "core/engine/value_limits.h"
#include "server/rdb/dump_payload.h"
#include "server/rdb/engine_sink.h"
#include "server/rdb/skipped_values.h"
#include "tests/unit/server/rdb_bytes.h"

namespace {

using tally::Check;
using tally::Engine;
using tally::Keyspace;
using namespace tally::rdb;

constexpr int64_t kNow = 1'700'000'000'000;
constexpr std::string_view kKey = "k";
constexpr uint64_t kVersions[] = {6, 10, 12, 15, 80, 81};

// With a version and without a checksum.
std::string PayloadOf(std::string_view body, uint64_t version) {
  std::string payload(body);
  payload.push_back(static_cast<char>(version));
  payload.append(9, '\0');
  return payload;
}

// What is dumped of what was restored; empty if nothing was.
std::string Restored(std::string_view payload, bool drop_field_deadlines) {
  if (!IsPayload(payload)) return {};
  tally::UtcOnly zones;
  Engine engine(1, 1, zones);
  const tally::ValueLimits limits;
  SkippedValues skipped;
  EngineSink sink(
      engine, limits, skipped,
      {.keep_expired = true, .drop_field_deadlines = drop_field_deadlines, .replace = true});
  sink.set_now(kNow);
  KeyHead head;
  head.key = kKey;
  const absl::Status status = RestorePayload(payload, head, sink);
  const Keyspace::Entry entry = engine.database(0).Peek(kKey);
  Check(engine.database(0).size() == (entry ? 1 : 0), "no other key is stored");
  if (!status.ok() || !skipped.empty()) {
    Check(!entry, "what is refused is not stored");
    return {};
  }
  Check(static_cast<bool>(entry), "what is taken is stored");
  return DumpPayload(entry);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data + 1), size - 1);
  Restored(body, false);
  const uint64_t version = kVersions[data[0] % std::size(kVersions)];
  const std::string dump = Restored(PayloadOf(body, version), data[0] >= 128);
  if (dump.empty()) return 0;
  Check(IsPayload(dump), "a dump is a payload");
  const std::string again = Restored(dump, false);
  Check(!again.empty(), "a dump can be restored");
  // The order of a table's elements is by chance, and what a native value takes depends on it.
  constexpr char kModuleValue = 7;
  Check(dump.front() == kModuleValue || again.size() == dump.size(), "and is the same value");
  return 0;
}
