#include "server/module/stored_value.h"

#include <cstring>

#include "core/base/check.h"
#include "core/bytes/heap_size.h"
#include "core/keyspace/value.h"
#include "server/module/module_api.h"

namespace tally::module {
namespace {

// What an allocator sets aside in any case, so that a value can change within its block.
size_t BlockBytes(size_t size) { return HeapBytes(size + 1); }

void Write(char* block, std::string_view bytes) {
  block[0] = static_cast<char>(static_cast<uint8_t>(bytes.size()));
  std::memcpy(block + 1, bytes.data(), bytes.size());
}

}  // namespace

StoredValue StoredValue::OfBlock(char* block) {
  StoredValue value;
  value.raw_ = reinterpret_cast<uintptr_t>(block) | kPackedBit;
  return value;
}

StoredValue StoredValue::Pack(std::string_view bytes) {
  Check(bytes.size() <= kMaxPackedBytes, "a packed value is short");
  char* block = static_cast<char*>(redis::Functions().Alloc(BlockBytes(bytes.size())));
  Write(block, bytes);
  return OfBlock(block);
}

std::string StoredValue::SavedBlock() const {
  std::string bytes(block(), 1 + packed().size());
  bytes.resize(BlockBytes(packed().size()));
  return bytes;
}

std::string_view StoredValue::packed() const {
  const char* bytes = block();
  return {bytes + 1, static_cast<uint8_t>(bytes[0])};
}

bool StoredValue::Repack(std::string_view bytes) const {
  if (BlockBytes(packed().size()) != BlockBytes(bytes.size())) return false;
  Write(block(), bytes);
  return true;
}

void StoredValue::Free(Type type) const {
  if (raw_ == 0) return;
  if (is_packed()) {
    redis::Functions().Free(block());
  } else {
    OperationsOf(type).destroy(heap());
  }
}

StoredValue StoredValue::Clone(Type type) const {
  if (raw_ == 0) return {};
  return is_packed() ? Pack(packed()) : OfHeap(OperationsOf(type).clone(heap()));
}

size_t StoredValue::MemoryBytes(Type type) const {
  if (raw_ == 0) return 0;
  return is_packed() ? BlockBytes(packed().size()) : OperationsOf(type).memory_bytes(heap());
}

size_t StoredValue::Weight(Type type) const {
  return raw_ == 0 || is_packed() ? 1 : OperationsOf(type).weight(heap());
}

bool IsPackedValue(Type type, std::string_view bytes) {
  const auto is_packed = OperationsOf(type).is_packed;
  return bytes.size() <= StoredValue::kMaxPackedBytes && is_packed != nullptr && is_packed(bytes);
}

bool IsBlock(Type type, std::string_view bytes) {
  if (bytes.empty()) return false;
  const size_t size = static_cast<uint8_t>(bytes.front());
  if (bytes.size() != BlockBytes(size)) return false;
  const std::string_view padding = bytes.substr(1 + size);
  return padding.find_first_not_of('\0') == std::string_view::npos &&
         IsPackedValue(type, bytes.substr(1, size));
}

void* NewHeapValue(Type type, uint64_t seed, ZoneSource& zones) {
  return OperationsOf(type).create(seed, zones);
}

bool LoadRun(Type type, void* value, std::string_view run) {
  return OperationsOf(type).load(value, run);
}

}  // namespace tally::module
