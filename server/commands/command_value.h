// A compact value as commands use it: counts lookups, replies WRONGTYPE and reports removed keys.
#pragma once

#include <string_view>

#include "core/engine/scratch.h"
#include "core/keyspace/compact_value.h"
#include "server/command/command_context.h"

namespace tally::server {

template <typename T>
class CommandValue : public tally::CompactValue<T> {
 public:
  using tally::CompactValue<T>::CompactValue;

  // Opens the value of the key; it is empty if the key is absent. Returns false after replying
  // WRONGTYPE.
  [[nodiscard]] bool Read(CommandContext& context, std::string_view key) {
    return Open(context, context.Find(key));
  }
  [[nodiscard]] bool Write(CommandContext& context, std::string_view key) {
    return Open(context, context.FindForWrite(key));
  }

  // Stores what was changed since Write. Erases the key and reports "del" if the value became
  // empty.
  void Store(CommandContext& context, std::string_view key) {
    std::string& bytes = context.engine().scratch().bytes;
    if (tally::CompactValue<T>::Store(context.keyspace(), key, context.now_ms, bytes)) {
      context.host.key_events.Notify(kEventGeneric, "del", context.database, key);
    }
  }

 private:
  bool Open(CommandContext& context, const Keyspace::Entry& entry) {
    return tally::CompactValue<T>::Open(entry) || context.CheckType(entry, T::kType);
  }
};

}  // namespace tally::server
