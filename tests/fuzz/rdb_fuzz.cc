// RDB files of anybody: in pieces of any size they read the same; what an engine takes of them can
// be saved and loaded again. The first byte of the input chooses the size of the pieces, the rest
// is the file. A checksum of zeros counts as none, so that the values behind it are reached.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/check.h"
#include "core/engine/engine.h"
#include "core/snapshot/engine_stream.h"
#include "server/rdb/engine_sink.h"
#include "server/rdb/rdb_reader.h"
#include "tests/unit/server/rdb_bytes.h"

namespace {

using namespace tally::rdb;
using tally::Check;
using tally::Engine;
using tally::rdb::test::PieceSource;
using tally::rdb::test::ReadAll;

constexpr int64_t kNow = 1'700'000'000'000;
constexpr size_t kDatabases = 4;

struct Outcome {
  std::string status;
  std::string engine;  // as it is saved, in an order of chance
  size_t keys = 0;
};

std::string Saved(const Engine& engine) {
  std::string saved;
  const absl::Status status = tally::SaveEngine(engine, [&](std::string_view bytes) {
    saved.append(bytes);
    return absl::OkStatus();
  });
  Check(status.ok(), "an engine can be saved");
  return saved;
}

Outcome Read(std::string_view file, size_t piece, bool keep_expired) {
  tally::UtcOnly zones;
  Engine engine(kDatabases, 1, zones);
  engine.set_expiry(tally::Expiry::kIgnore);
  const tally::ValueLimits limits;
  SkippedValues skipped;
  EngineSink sink(engine, limits, skipped,
                  {.keep_expired = keep_expired, .drop_field_deadlines = keep_expired});
  sink.set_now(kNow);
  sink.set_most_keys(file.size());
  PieceSource source(file, piece);
  RdbReader reader(source, sink);
  const absl::Status status = ReadAll(reader);
  skipped.ForEachLine([](std::string_view) {});
  size_t keys = 0;
  for (size_t i = 0; i < kDatabases; ++i) keys += engine.database(i).size();
  return {std::string(status.message()), Saved(engine), keys};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view file(reinterpret_cast<const char*>(data + 1), size - 1);
  const bool keep_expired = (data[0] & 1) != 0;
  const Outcome whole = Read(file, SIZE_MAX, keep_expired);
  const Outcome pieces = Read(file, std::max<size_t>(data[0], 1), keep_expired);
  Check(pieces.status == whole.status, "a file in pieces reads as the whole");
  Check(pieces.keys == whole.keys && pieces.engine.size() == whole.engine.size(),
        "and holds as much");
  tally::UtcOnly zones;
  Engine again(kDatabases, 1, zones);
  Check(tally::LoadEngine(again, whole.engine).ok(), "what is saved can be loaded");
  return 0;
}
