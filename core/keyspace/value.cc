#include "core/keyspace/value.h"

#include <algorithm>

#include "core/bytes/heap_size.h"
#include "core/check.h"

namespace tally {
namespace {

const std::string& AsString(const void* value) { return *static_cast<const std::string*>(value); }

constexpr ValueOperations kStringOperations = {
    .destroy = [](void* value) { delete static_cast<std::string*>(value); },
    .free_some = [](void*, size_t) { return true; },
    .clone = [](const void* value) -> void* { return new std::string(AsString(value)); },
    .weight = [](const void*) { return size_t{1}; },
    .memory_bytes =
        [](const void* value) {
          return HeapBytes(sizeof(std::string)) + HeapBytes(AsString(value).capacity() + 1);
        },
    .encoding = [](const void*) { return std::string_view("raw"); },
    .save =
        [](const void* value, uint64_t cursor, size_t max_bytes, std::string& out) {
          const std::string& text = AsString(value);
          const size_t end = std::min(text.size(), cursor + std::max<size_t>(max_bytes, 1));
          out.append(text, cursor, end - cursor);
          return end == text.size() ? uint64_t{0} : uint64_t{end};
        },
    .create = [](uint64_t) -> void* { return new std::string; },
    .load =
        [](void* value, std::string_view run) {
          static_cast<std::string*>(value)->append(run);
          return true;
        },
};

}  // namespace

const ValueOperations& OperationsOf(Type type) {
  switch (type) {
    case Type::kString:
      return kStringOperations;
    default:
      Check(false, "a type with heap values");
      return kStringOperations;
  }
}

}  // namespace tally
