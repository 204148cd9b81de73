#include "server/describe/command_description.h"

#include <span>
#include <string>

#include "core/bytes/str_cat.h"
#include "server/command/arguments.h"
#include "server/describe/acl_categories.h"

namespace tally::server {
namespace {

struct FlagName {
  uint32_t flag;
  std::string_view name;
};

constexpr FlagName kFlagNames[] = {
    {kWrite, "write"},
    {kReadOnly, "readonly"},
    {kDenyOom, "denyoom"},
    {kAdmin, "admin"},
    {kPubSub, "pubsub"},
    {kNoScript, "noscript"},
    {kBlocking, "blocking"},
    {kLoading, "loading"},
    {kStale, "stale"},
    {kSkipMonitor, "skip_monitor"},
    {kSkipSlowlog, "skip_slowlog"},
    {kFast, "fast"},
    {kNoAuth, "no_auth"},
    {kMayReplicate, "may_replicate"},
    {kNoMulti, "no_multi"},
    {kAllowBusy, "allow_busy"},
    {kMovableKeys, "movablekeys"},
};

constexpr FlagName kKeyFlagNames[] = {
    {kKeyReadOnly, "RO"},   {kKeyReadWrite, "RW"},  {kKeyOverwrite, "OW"},
    {kKeyRemove, "RM"},     {kKeyAccess, "access"}, {kKeyUpdate, "update"},
    {kKeyInsert, "insert"}, {kKeyDelete, "delete"}, {kKeyVariable, "variable_flags"},
    {kNotKey, "not_key"},
};

void ReplyNames(ReplyBuilder& reply, std::span<const FlagName> names, uint32_t flags) {
  const size_t mark = reply.BeginSet();
  size_t count = 0;
  for (const FlagName& one : names) {
    if ((flags & one.flag) == 0) continue;
    reply.Status(one.name);
    ++count;
  }
  reply.EndSet(mark, count);
}

// By this tip clients know which reads they must not cache.
void ReplyTips(ReplyBuilder& reply, const CommandEntry& entry) {
  const bool varies = entry.family->native && (entry.command->flags & kReadOnly) != 0;
  reply.Set(varies ? 1 : 0);
  if (varies) reply.Bulk("nondeterministic_output");
}

void ReplyCategories(ReplyBuilder& reply, const CommandEntry& entry) {
  const auto categories = CategoriesOf(entry);
  reply.Set(categories.size());
  for (const std::string_view category : categories) reply.Status(StrCat('@', category));
}

// Replies the specification of the keys from argument `first` to `last`. `last` counts from
// `first`, or from the end of the call if it is negative.
void ReplyKeySpec(ReplyBuilder& reply, uint16_t use, int first, int last, int step) {
  reply.Map(3);
  reply.Bulk("flags");
  ReplyKeyFlags(reply, use);
  reply.Bulk("begin_search");
  reply.Map(2);
  reply.Bulk("type");
  reply.Bulk("index");
  reply.Bulk("spec");
  reply.Map(1);
  reply.Bulk("index");
  reply.Integer(first);
  reply.Bulk("find_keys");
  reply.Map(2);
  reply.Bulk("type");
  reply.Bulk("range");
  reply.Bulk("spec");
  reply.Map(3);
  reply.Bulk("lastkey");
  reply.Integer(last);
  reply.Bulk("keystep");
  reply.Integer(step);
  reply.Bulk("limit");
  reply.Integer(0);
}

// Only a range of keys has a specification. For keys that must be searched for, a client can ask
// COMMAND GETKEYS.
void ReplyKeySpecs(ReplyBuilder& reply, const Command& command) {
  const KeyRange& keys = command.keys;
  if (keys.first == 0) return reply.Set(0);
  const auto last_from = [&](int first) { return keys.last < 0 ? keys.last : keys.last - first; };
  const bool others_differ = keys.last != keys.first && keys.others_use != 0;
  reply.Set(others_differ ? 2 : 1);
  const int last = others_differ ? 0 : last_from(keys.first);
  ReplyKeySpec(reply, KeyUse(command, true), keys.first, last, keys.step);
  if (!others_differ) return;
  const int second = keys.first + keys.step;
  ReplyKeySpec(reply, KeyUse(command, false), second, last_from(second), keys.step);
}

// Calls visit(entry) for each subcommand. Subcommands follow directly after their parent in the
// table.
template <typename Visit>
void ForEachSubcommand(const CommandTable& table, const CommandEntry& entry, Visit&& visit) {
  for (size_t i = 1; i <= entry.command->subcommands.size(); ++i)
    visit(table.entries()[entry.id + i]);
}

}  // namespace

void ReplyKeyFlags(ReplyBuilder& reply, uint16_t use) { ReplyNames(reply, kKeyFlagNames, use); }

void ReplyCommandInfo(ReplyBuilder& reply, const CommandTable& table, const CommandEntry& entry) {
  const Command& command = *entry.command;
  reply.Array(10);
  reply.Bulk(entry.full_name);
  reply.Integer(command.arity);
  ReplyNames(reply, kFlagNames, command.flags);
  reply.Integer(command.keys.first);
  reply.Integer(command.keys.last);
  reply.Integer(command.keys.step);
  ReplyCategories(reply, entry);
  ReplyTips(reply, entry);
  ReplyKeySpecs(reply, command);
  if (command.subcommands.empty()) return reply.Set(0);
  reply.Array(command.subcommands.size());
  ForEachSubcommand(table, entry,
                    [&](const CommandEntry& sub) { ReplyCommandInfo(reply, table, sub); });
}

void ReplyCommandDocs(ReplyBuilder& reply, const CommandTable& table, const CommandEntry& entry) {
  const Command& command = *entry.command;
  reply.Bulk(entry.full_name);
  reply.Map(3 + (command.arguments.empty() ? 0 : 1) + (command.subcommands.empty() ? 0 : 1));
  reply.Bulk("summary");
  reply.Bulk(command.summary);
  reply.Bulk("since");
  reply.Bulk(command.since);
  reply.Bulk("group");
  reply.Bulk(entry.family->group);
  if (!command.arguments.empty()) {
    reply.Bulk("arguments");
    ReplyArguments(reply, ArgumentsOf(command));
  }
  if (command.subcommands.empty()) return;
  reply.Bulk("subcommands");
  reply.Map(command.subcommands.size());
  ForEachSubcommand(table, entry,
                    [&](const CommandEntry& sub) { ReplyCommandDocs(reply, table, sub); });
}

}  // namespace tally::server
