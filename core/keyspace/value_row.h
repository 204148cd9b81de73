// Makes the row of ValueOperations for a class that has size or Weight, MemoryBytes, Clone,
// FreeSome, encoding, Save and Load as the containers of core/ do. The class may also have
// IsPacked or LoadPacked, if its values can be packed, and BeginSnapshot, SaveSnapshot and
// EndSnapshot, if a snapshot can be taken while it changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/bytes/heap_size.h"
#include "core/bytes/run_sink.h"
#include "core/keyspace/value.h"

namespace tally {

// Whether all values of the class are on the heap: Clone returns a pointer, and MemoryBytes counts
// the value itself.
template <typename T>
constexpr bool kIsOnHeap = requires(const T& value) { value.Clone().release(); };

template <typename T>
constexpr ValueOperations RowOf() {
  ValueOperations row = {
      .destroy = [](void* value) { delete static_cast<T*>(value); },
      .free_some = [](void* value,
                      size_t budget) { return static_cast<T*>(value)->FreeSome(budget); },
      .clone = [](const void* value) -> void* {
        if constexpr (kIsOnHeap<T>)
          return static_cast<const T*>(value)->Clone().release();
        else
          return new T(static_cast<const T*>(value)->Clone());
      },
      .weight =
          [](const void* value) {
            const T& weighed = *static_cast<const T*>(value);
            if constexpr (requires { weighed.Weight(); })
              return weighed.Weight();
            else
              return weighed.size();
          },
      .memory_bytes =
          [](const void* value) {
            const size_t own = kIsOnHeap<T> ? 0 : HeapBytes(sizeof(T));
            return own + static_cast<const T*>(value)->MemoryBytes();
          },
      .encoding = [](const void* value) -> std::string_view {
        return static_cast<const T*>(value)->encoding();
      },
      .save =
          [](const void* value, uint64_t cursor, size_t max_bytes, std::string& out) {
            return static_cast<const T*>(value)->Save(cursor, max_bytes, out);
          },
      .create = [](uint64_t seed, ZoneSource& zones) -> void* {
        if constexpr (std::is_constructible_v<T, uint64_t, ZoneSource&>) {
          return new T(seed, zones);
        } else if constexpr (std::is_constructible_v<T, uint64_t>) {
          return new T(seed);
        } else {
          return new T;
        }
      },
      .load = [](void* value, std::string_view run) { return static_cast<T*>(value)->Load(run); },
  };
  if constexpr (requires { T::IsPacked({}); }) {
    row.is_packed = T::IsPacked;
  } else if constexpr (requires(T& value) { value.LoadPacked({}); }) {
    row.is_packed = [](std::string_view bytes) { return T().LoadPacked(bytes); };
  }
  if constexpr (requires(T& value, const RunSink& sink) { value.BeginSnapshot(sink); }) {
    row.begin_snapshot = [](void* value, const RunSink& sink) {
      return static_cast<T*>(value)->BeginSnapshot(sink);
    };
    row.save_snapshot = [](void* value) { return static_cast<T*>(value)->SaveSnapshot(); };
    row.end_snapshot = [](void* value) { static_cast<T*>(value)->EndSnapshot(); };
  }
  return row;
}

}  // namespace tally
