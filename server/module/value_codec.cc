#include "server/module/value_codec.h"

#include <cstddef>
#include <string>
#include <utility>

#include "core/bytes/run_sink.h"
#include "core/keyspace/value.h"
#include "server/module/module_api.h"

namespace tally::module {
namespace {

// The first byte of a run. That of a block is less: it is the length of the packed bytes.
enum Part : uint8_t { kRun = 0xfe, kLastRun = 0xff };
static_assert(StoredValue::kMaxPackedBytes < kRun);

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
  // The others require good().
  uint8_t part() const { return static_cast<uint8_t>(bytes_[0]); }
  std::string_view rest() const { return {bytes_ + 1, size_ - 1}; }
  std::string_view bytes() const { return {bytes_, size_}; }
  // The caller owns the memory now.
  char* Release() { return std::exchange(bytes_, nullptr); }

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
    run.assign(1, static_cast<char>(kRun));
    cursor = OperationsOf(type).save(value, cursor, kRunBytes, run);
    take(run, cursor == 0);
  } while (cursor != 0);
}

}  // namespace

void SaveValue(redis::Io* io, Type type, StoredValue value) {
  const auto save = [&](std::string_view part) {
    redis::Functions().SaveStringBuffer(io, part.data(), part.size());
  };
  if (value.is_packed()) return save(value.SavedBlock());
  ForEachRun(type, value.heap(), [&](std::string& run, bool is_last) {
    if (is_last) run.front() = static_cast<char>(kLastRun);
    save(run);
  });
}

StoredValue LoadValue(redis::Io* io, Type type, int encoding_version, uint64_t seed,
                      ZoneSource& zones) {
  if (encoding_version != kEncodingVersion) return {};
  StoredValue value;
  while (true) {
    LoadedString string(io);
    if (!string.good()) break;
    const uint8_t part = string.part();
    if (part < kRun) {
      // The string becomes the value, which saves a second allocation and a copy.
      if (value || !IsBlock(type, string.bytes())) break;
      return StoredValue::OfBlock(string.Release());
    }
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
