#include "server/module/value_codec.h"

#include <cstddef>
#include <string>

#include "core/bytes/run_sink.h"
#include "core/keyspace/value.h"
#include "server/module/module_api.h"

namespace tally::module {
namespace {

enum Part : char { kPacked = 'P', kRun = 'R', kLastRun = 'L' };

// A string of the payload. Its memory is the server's; the destructor frees it.
class LoadedString {
 public:
  explicit LoadedString(redis::Io* io) {
    bytes_ = redis::Functions().LoadStringBuffer(io, &size_);
    good_ = bytes_ != nullptr && size_ > 0 && redis::Functions().IsIOError(io) == 0;
  }
  ~LoadedString() {
    if (bytes_ != nullptr) redis::Functions().Free(bytes_);
  }
  LoadedString(const LoadedString&) = delete;
  LoadedString& operator=(const LoadedString&) = delete;

  bool good() const { return good_; }
  // part() and rest() require good().
  char part() const { return bytes_[0]; }
  std::string_view rest() const { return {bytes_ + 1, size_ - 1}; }

 private:
  char* bytes_;
  size_t size_ = 0;
  bool good_;
};

// Calls take(run, is_last) for each run of the heap value. `run` begins with kRun.
template <typename Take>
void ForEachRun(Type type, const void* value, Take&& take) {
  std::string run;
  uint64_t cursor = 0;
  do {
    run.assign(1, kRun);
    cursor = OperationsOf(type).save(value, cursor, kRunBytes, run);
    take(run, cursor == 0);
  } while (cursor != 0);
}

}  // namespace

void SaveValue(redis::Io* io, Type type, StoredValue value) {
  const auto save = [&](std::string_view part) {
    redis::Functions().SaveStringBuffer(io, part.data(), part.size());
  };
  if (value.is_packed()) return save(std::string(1, kPacked).append(value.packed()));
  ForEachRun(type, value.heap(), [&](std::string& run, bool is_last) {
    if (is_last) run.front() = kLastRun;
    save(run);
  });
}

StoredValue LoadValue(redis::Io* io, Type type, int encoding_version, uint64_t seed,
                      ZoneSource& zones) {
  if (encoding_version != kEncodingVersion) return {};
  StoredValue value;
  while (true) {
    const LoadedString string(io);
    if (!string.good()) break;
    const char part = string.part();
    if (part == kPacked && !value) {
      if (!IsPackedValue(type, string.rest())) break;
      return StoredValue::Pack(string.rest());
    }
    if (part != kRun && part != kLastRun) break;
    if (!value) value = StoredValue::OfHeap(NewHeapValue(type, seed, zones));
    if (!LoadRun(type, value.heap(), string.rest())) break;
    if (part == kLastRun) return value;
  }
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
  ForEachRun(type, value.heap(), [&](std::string_view run, bool) {
    emit(part, run.substr(1));
    part = kLoadMore;
  });
}

}  // namespace tally::module
