#include "server/command/command_context.h"

#include <climits>

#include "core/bytes/double_format.h"
#include "core/bytes/number.h"
#include "core/bytes/text.h"

namespace tally::server {

Keyspace::Entry CommandContext::Find(std::string_view key) {
  const Keyspace::Entry found = keyspace().Find(key, now_ms);
  NoteLookup(key, static_cast<bool>(found));
  return found;
}

Text CommandContext::TakeFromRequest(std::string_view arg) {
  return request_ == nullptr ? Text() : request_->Take(arg);
}

void CommandContext::NoteMiss(std::string_view key) {
  ++host.lookups.misses;
  host.key_events.Notify(kEventKeyMiss, "keymiss", database, key);
}

bool CommandContext::CheckType(const Keyspace::Entry& found, Type type) {
  if (!found || found.type() == type) return true;
  reply.Error(kWrongTypeError);
  return false;
}

std::optional<int64_t> CommandContext::Int64Arg(size_t index, std::string_view error) {
  const auto value = ParseInt64(args[index]);
  if (!value) reply.Error(error);
  return value;
}

std::optional<int64_t> CommandContext::Int64ArgIn(size_t index, int64_t low, int64_t high,
                                                  std::string_view error) {
  const auto value = ParseInt64(args[index]);
  if (value && *value >= low && *value <= high) return value;
  reply.Error(error);
  return std::nullopt;
}

std::optional<size_t> CommandContext::DatabaseArg(size_t index) {
  const auto number = Int64Arg(index);
  if (!number) return std::nullopt;
  if (*number < INT_MIN || *number > INT_MAX) {
    reply.Error("ERR value is out of range, value must between -2147483648 and 2147483647");
    return std::nullopt;
  }
  if (*number < 0 || *number >= static_cast<int64_t>(engine().databases())) {
    reply.Error("ERR DB index is out of range");
    return std::nullopt;
  }
  return static_cast<size_t>(*number);
}

std::optional<double> CommandContext::DoubleArg(size_t index, std::string_view error) {
  const auto value = ParseDouble(args[index]);
  if (!value) reply.Error(error);
  return value;
}

void CommandContext::Remove(const Keyspace::Entry& found, std::string_view event) {
  const std::string key(found.key());
  keyspace().Erase(found);
  Changed(kEventGeneric, event, key);
}

void CommandContext::RemoveEmpty(std::string_view key) {
  const Keyspace::Entry found = keyspace().FindForWrite(key, now_ms);
  Check(static_cast<bool>(found), "an emptied key is there");
  keyspace().Erase(found);
  host.key_events.Notify(kEventGeneric, "del", database, key);
}

}  // namespace tally::server
