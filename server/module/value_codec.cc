#include "server/module/value_codec.h"

#include <cstddef>
#include <optional>
#include <string>

#include "core/keyspace/value.h"
#include "server/module/module_api.h"

namespace tally::module {
namespace {

enum Part : uint64_t { kPacked = 0, kRun = 1, kEnd = 2 };

constexpr size_t kRunBytes = size_t{64} << 10;

// A string of the payload, in memory of the server.
class LoadedString {
 public:
  explicit LoadedString(redis::Io* io) {
    bytes_ = redis::Functions().LoadStringBuffer(io, &size_);
    good_ = bytes_ != nullptr && redis::Functions().IsIOError(io) == 0;
  }
  ~LoadedString() {
    if (bytes_ != nullptr) redis::Functions().Free(bytes_);
  }
  LoadedString(const LoadedString&) = delete;
  LoadedString& operator=(const LoadedString&) = delete;

  bool good() const { return good_; }
  std::string_view view() const { return {bytes_, size_}; }

 private:
  char* bytes_;
  size_t size_ = 0;
  bool good_;
};

std::optional<uint64_t> LoadPart(redis::Io* io) {
  const uint64_t part = redis::Functions().LoadUnsigned(io);
  if (redis::Functions().IsIOError(io) != 0) return std::nullopt;
  return part;
}

// Loads runs into the value to the end; false if they are malformed. The first kRun is read.
bool LoadRuns(redis::Io* io, Type type, void* value) {
  while (true) {
    const LoadedString run(io);
    if (!run.good() || !LoadRun(type, value, run.view())) return false;
    const auto part = LoadPart(io);
    if (part == kEnd) return true;
    if (part != kRun) return false;
  }
}

// Calls take(run) for each run of the heap value.
template <typename Take>
void ForEachRun(Type type, const void* value, Take&& take) {
  std::string run;
  uint64_t cursor = 0;
  do {
    run.clear();
    cursor = OperationsOf(type).save(value, cursor, kRunBytes, run);
    take(std::string_view(run));
  } while (cursor != 0);
}

}  // namespace

void SaveValue(redis::Io* io, Type type, StoredValue value) {
  const redis::Api& api = redis::Functions();
  if (value.is_packed()) {
    api.SaveUnsigned(io, kPacked);
    api.SaveStringBuffer(io, value.packed().data(), value.packed().size());
    return;
  }
  ForEachRun(type, value.heap(), [&](std::string_view run) {
    api.SaveUnsigned(io, kRun);
    api.SaveStringBuffer(io, run.data(), run.size());
  });
  api.SaveUnsigned(io, kEnd);
}

StoredValue LoadValue(redis::Io* io, Type type, int encoding_version, uint64_t seed,
                      ZoneSource& zones) {
  if (encoding_version != kEncodingVersion) return {};
  const auto part = LoadPart(io);
  if (part == kPacked) {
    const LoadedString bytes(io);
    if (!bytes.good() || !IsPackedValue(type, bytes.view())) return {};
    return StoredValue::Pack(bytes.view());
  }
  if (part != kRun) return {};
  const StoredValue value = StoredValue::OfHeap(NewHeapValue(type, seed, zones));
  if (LoadRuns(io, type, value.heap())) return value;
  value.Free(type);
  return {};
}

void RewriteValue(redis::Io* io, redis::String* key, Type type, StoredValue value) {
  const std::string type_name(TypeName(type));
  const auto emit = [&](std::string_view part, std::string_view bytes) {
    redis::Functions().EmitAOF(io, "TALLY.LOAD", "scbb", key, type_name.c_str(), part.data(),
                               part.size(), bytes.data(), bytes.size());
  };
  if (value.is_packed()) return emit(kLoadPacked, value.packed());
  std::string_view part = kLoadFirst;
  ForEachRun(type, value.heap(), [&](std::string_view run) {
    emit(part, run);
    part = kLoadMore;
  });
}

}  // namespace tally::module
