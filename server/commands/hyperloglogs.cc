// Distinct counts: HyperLogLogs in strings.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "core/bytes/text.h"
#include "core/hyperloglog/hyperloglog.h"
#include "server/command/command_context.h"
#include "server/commands/families.h"

namespace tally::server {
namespace {

using hyperloglog::Change;
using hyperloglog::Registers;

constexpr std::string_view kMalformedError = "INVALIDOBJ Corrupted HLL object detected";

// Returns false after replying an error if the entry exists and is no HyperLogLog.
bool CheckHyperLogLog(CommandContext& context, const Keyspace::Entry& entry) {
  if (!entry) return true;
  if (!context.CheckType(entry, Type::kString)) return false;
  if (!entry.is_integer() && hyperloglog::LooksValid(entry.bytes())) return true;
  context.reply.Error("WRONGTYPE Key is not a valid HyperLogLog string value.");
  return false;
}

// Returns the string at the key for changes in place; it is created empty if the key is absent.
Text& Writable(CommandContext& context, std::string_view key, Keyspace::Entry entry) {
  if (!entry) {
    context.keyspace().SetString(key, hyperloglog::Empty(), kNoDeadline, context.now_ms);
    entry = context.FindForWrite(key);
  }
  return context.keyspace().MutableString(entry);
}

size_t MaxSparse(const CommandContext& context) {
  return static_cast<size_t>(context.host.limits.hll_sparse_max_bytes);
}

void PfAdd(CommandContext& context) {
  const std::string_view key = context.args[1];
  const Keyspace::Entry entry = context.FindForWrite(key);
  if (!CheckHyperLogLog(context, entry)) return;
  bool changed = !entry;
  bool malformed = false;
  Text& bytes = Writable(context, key, entry);
  for (const std::string_view element : context.args.subspan(2)) {
    const Change change = hyperloglog::Add(bytes, element, MaxSparse(context));
    changed |= change == Change::kChanged;
    malformed = change == Change::kMalformed;
    if (malformed) break;
  }
  if (changed) hyperloglog::ForgetEstimate(bytes);
  if (malformed) {
    // Elements before the error stay added, as in Redis. But the command itself cannot be replayed,
    // so its result is logged.
    if (changed) context.LogInstead({"SET", key, bytes, "KEEPTTL"});
    return context.reply.Error(kMalformedError);
  }
  if (changed) context.Changed(kEventString, "pfadd", key);
  context.reply.Integer(changed ? 1 : 0);
}

// Merges the HyperLogLogs of all keys from argument 1 on, and sets `dense` to whether one of them
// was dense. Returns false after replying an error.
bool MergeAll(CommandContext& context, Registers& registers, bool& dense) {
  dense = false;
  for (const std::string_view key : context.args.subspan(1)) {
    const Keyspace::Entry entry = context.Find(key);
    if (!CheckHyperLogLog(context, entry)) return false;
    if (!entry) continue;
    dense |= hyperloglog::IsDense(entry.bytes());
    if (!hyperloglog::MergeInto(entry.bytes(), registers)) {
      context.reply.Error(kMalformedError);
      return false;
    }
  }
  return true;
}

void CountOne(CommandContext& context) {
  const std::string_view key = context.args[1];
  const Keyspace::Entry entry = context.Find(key);
  if (!CheckHyperLogLog(context, entry)) return;
  if (!entry) return context.reply.Integer(0);
  std::optional<uint64_t> estimate = hyperloglog::CachedEstimate(entry.bytes());
  if (!estimate) {
    estimate = hyperloglog::Estimate(entry.bytes());
    if (!estimate) return context.reply.Error(kMalformedError);
    // The cached estimate is not logged, because it follows from the rest of the string. But the
    // string has changed for a watcher.
    hyperloglog::CacheEstimate(context.keyspace().MutableString(entry), *estimate);
    context.host.key_events.Touched(context.database, key);
  }
  context.reply.Integer(static_cast<int64_t>(*estimate));
}

void PfCount(CommandContext& context) {
  if (context.args.size() == 2) return CountOne(context);
  Registers registers{};
  bool dense = false;
  if (!MergeAll(context, registers, dense)) return;
  context.reply.Integer(static_cast<int64_t>(hyperloglog::Estimate(registers)));
}

void PfMerge(CommandContext& context) {
  const std::string_view key = context.args[1];
  Registers registers{};
  bool dense = false;
  if (!MergeAll(context, registers, dense)) return;
  Text& bytes = Writable(context, key, context.FindForWrite(key));
  // The string was merged above or has just been created, so it is not malformed.
  bool whole = !dense || hyperloglog::MakeDense(bytes);
  for (size_t i = 0; whole && i < registers.size(); ++i) {
    if (registers[i] == 0) continue;
    whole = hyperloglog::RaiseRegister(bytes, i, registers[i], MaxSparse(context)) !=
            Change::kMalformed;
  }
  Check(whole, "a merged HyperLogLog is well-formed");
  hyperloglog::ForgetEstimate(bytes);
  context.Changed(kEventString, "pfadd", key);
  context.reply.Ok();
}

constexpr Command kHyperLogLogCommands[] = {
    {"pfadd", PfAdd, -2, kStores | kFast, OneKey(kInsertsIntoKey),
     "Adds elements to a HyperLogLog, creating it if it doesn't exist.", "2.8.9",
     "key#0 [element...]"},
    {"pfcount", PfCount, -2, kReadOnly | kMayReplicate, AllKeys(kKeyReadWrite | kKeyAccess),
     "Returns the approximated number of distinct elements in HyperLogLogs.", "2.8.9", "key#0..."},
    {"pfmerge", PfMerge, -2, kStores, AllKeys(kKeyReadWrite | kKeyAccess | kKeyInsert, kReadsKey),
     "Merges HyperLogLogs into a single one.", "2.8.9", "destkey#0 sourcekey#1..."},
};

}  // namespace

std::span<const Command> HyperLogLogCommands() { return kHyperLogLogCommands; }

}  // namespace tally::server
