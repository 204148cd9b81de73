#include "core/keyspace/value.h"

#include <algorithm>

#include "core/bytes/heap_size.h"
#include "core/check.h"
#include "core/list/list.h"

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

const List& AsList(const void* value) { return *static_cast<const List*>(value); }

constexpr ValueOperations kListOperations = {
    .destroy = [](void* value) { delete static_cast<List*>(value); },
    .free_some = [](void* value,
                    size_t budget) { return static_cast<List*>(value)->FreeSome(budget); },
    .clone = [](const void* value) -> void* { return new List(AsList(value).Clone()); },
    .weight = [](const void* value) { return AsList(value).size(); },
    .memory_bytes =
        [](const void* value) { return HeapBytes(sizeof(List)) + AsList(value).MemoryBytes(); },
    .encoding = [](const void* value) { return AsList(value).encoding(); },
    .save =
        [](const void* value, uint64_t cursor, size_t max_bytes, std::string& out) {
          const List& list = AsList(value);
          const size_t next = list.Save(cursor, max_bytes, out);
          return next == list.size() ? uint64_t{0} : uint64_t{next};
        },
    .create = [](uint64_t) -> void* { return new List; },
    .load = [](void* value, std::string_view run) { return static_cast<List*>(value)->Load(run); },
};

}  // namespace

const ValueOperations& OperationsOf(Type type) {
  switch (type) {
    case Type::kString:
      return kStringOperations;
    case Type::kList:
      return kListOperations;
    default:
      Check(false, "a type with heap values");
      return kStringOperations;
  }
}

}  // namespace tally
