// COMMAND: which commands exist, with their arguments, flags and keys. Client libraries ask it.
#include <string>
#include <vector>

#include "core/bytes/glob.h"
#include "server/admin/families.h"
#include "server/admin/server_context.h"
#include "server/command/command_table.h"
#include "server/command/help.h"
#include "server/command/missing_keys.h"
#include "server/describe/acl_categories.h"
#include "server/describe/command_description.h"

namespace tally::server {
namespace {

template <typename Visit>
void ForEachTopLevel(const CommandTable& table, Visit&& visit) {
  for (const CommandEntry& entry : table.entries()) {
    if (entry.parent == nullptr && entry.callable) visit(entry);
  }
}

size_t CountTopLevel(const CommandTable& table) {
  size_t count = 0;
  ForEachTopLevel(table, [&](const CommandEntry&) { ++count; });
  return count;
}

// Also runs COMMAND without a second word. An unknown second word was refused by the dispatcher.
void AllInfo(ServerContext& context, Services& server) {
  const CommandTable& table = server.commands;
  context.reply.Array(CountTopLevel(table));
  ForEachTopLevel(
      table, [&](const CommandEntry& entry) { ReplyCommandInfo(context.reply, table, entry); });
}

void CommandCount(ServerContext& context, Services& server) {
  context.reply.Integer(static_cast<int64_t>(CountTopLevel(server.commands)));
}

void CommandInfo(ServerContext& context, Services& server) {
  const CommandTable& table = server.commands;
  const Args names = context.args.subspan(2);
  if (names.empty()) return AllInfo(context, server);
  context.reply.Array(names.size());
  for (const std::string_view name : names) {
    if (const CommandEntry* entry = table.FindCallable(name)) {
      ReplyCommandInfo(context.reply, table, *entry);
    } else {
      context.reply.Null();
    }
  }
}

void CommandDocs(ServerContext& context, Services& server) {
  const CommandTable& table = server.commands;
  const size_t mark = context.reply.BeginMap();
  size_t found = 0;
  const auto add = [&](const CommandEntry& entry) {
    ReplyCommandDocs(context.reply, table, entry);
    ++found;
  };
  const Args names = context.args.subspan(2);
  if (names.empty()) ForEachTopLevel(table, add);
  for (const std::string_view name : names) {
    if (const CommandEntry* entry = table.FindCallable(name)) add(*entry);
  }
  context.reply.EndMap(mark, found);
}

void CommandList(ServerContext& context, Services& server) {
  const Args args = context.args;
  const bool filtered = args.size() == 5 && IsWord(args[2], "filterby");
  const bool by_module = filtered && IsWord(args[3], "module");
  const bool by_category = filtered && IsWord(args[3], "aclcat");
  const bool by_pattern = filtered && IsWord(args[3], "pattern");
  if (args.size() != 2 && !by_module && !by_category && !by_pattern) {
    return context.reply.Error(kSyntaxError);
  }
  const size_t mark = context.reply.BeginArray();
  size_t found = 0;
  for (const CommandEntry& entry : server.commands.entries()) {
    if (by_module) continue;  // there are none
    if (!entry.callable) continue;
    if (by_category && !HasCategory(entry, args[4])) continue;
    if (by_pattern && !GlobMatch(args[4], entry.full_name, GlobCase::kInsensitive)) continue;
    context.reply.Bulk(entry.full_name);
    ++found;
  }
  context.reply.EndArray(mark, found);
}

bool HasKeys(const Command& command) {
  return command.find_keys != nullptr || (command.keys.first != 0 && command.keys.use != kNotKey);
}

// Finds the keys of the call that follows the second word. Returns false after an error reply.
bool KeysArg(ServerContext& context, Services& server, std::vector<KeyReference>& keys) {
  const Args call = context.args.subspan(2);
  const CommandEntry* entry = server.commands.Resolve(call);
  std::string_view error;
  if (entry == nullptr || entry->command->handler == nullptr) {
    error = "ERR Invalid command specified";
  } else if (!HasKeys(*entry->command)) {
    error = "ERR The command has no key arguments";
  } else if (!ArityFits(*entry->command, call.size())) {
    error = "ERR Invalid number of arguments specified for command";
  } else if (!FindKeys(*entry->command, call, keys) ||
             (entry->command->find_keys == nullptr && LacksKeys(entry->command->keys, call))) {
    error = "ERR Invalid arguments specified for command";
  } else {
    return true;
  }
  context.reply.Error(error);
  return false;
}

void CommandGetKeys(ServerContext& context, Services& server) {
  std::vector<KeyReference> keys;
  if (!KeysArg(context, server, keys)) return;
  context.reply.Array(keys.size());
  for (const KeyReference& key : keys) context.reply.Bulk(context.args[2 + key.index]);
}

void CommandGetKeysAndFlags(ServerContext& context, Services& server) {
  std::vector<KeyReference> keys;
  if (!KeysArg(context, server, keys)) return;
  context.reply.Array(keys.size());
  for (const KeyReference& key : keys) {
    context.reply.Array(2);
    context.reply.Bulk(context.args[2 + key.index]);
    ReplyKeyFlags(context.reply, key.use);
  }
}

void CommandHelp(ServerContext& context) {
  constexpr std::string_view kLines[] = {
      "(no subcommand)",
      "    Return details about all commands.",
      "COUNT",
      "    Return the total number of commands in this server.",
      "LIST",
      "    Return a list of all commands in this server.",
      "INFO [<command-name> ...]",
      "    Return details about multiple commands.",
      "    If no command names are given, documentation details for all",
      "    commands are returned.",
      "DOCS [<command-name> ...]",
      "    Return documentation details about multiple commands.",
      "    If no command names are given, documentation details for all",
      "    commands are returned.",
      "GETKEYS <full-command>",
      "    Return the keys from a full command.",
      "GETKEYSANDFLAGS <full-command>",
      "    Return the keys and the access flags from a full command.",
  };
  ReplyHelp(context, kLines);
}

constexpr Command kIntrospectionSubcommands[] = {
    {"count", Serve<CommandCount>, 2, kAnyTime, kNoKeys, "Returns a count of commands.", "2.8.13"},
    {"docs", Serve<CommandDocs>, -2, kAnyTime, kNoKeys,
     "Returns documentary information about one, multiple or all commands.", "7.0.0",
     "[command-name...]"},
    {"getkeys", Serve<CommandGetKeys>, -4, kAnyTime, kNoKeys,
     "Extracts the key names from an arbitrary command.", "2.8.13"},
    {"getkeysandflags", Serve<CommandGetKeysAndFlags>, -4, kAnyTime, kNoKeys,
     "Extracts the key names and access flags for an arbitrary command.", "7.0.0"},
    {"help", CommandHelp, 2, kAnyTime, kNoKeys, "Returns helpful text about the subcommands.",
     "5.0.0"},
    {"info", Serve<CommandInfo>, -2, kAnyTime, kNoKeys,
     "Returns information about one, multiple or all commands.", "2.8.13", "[command-name...]"},
    {"list", Serve<CommandList>, -2, kAnyTime, kNoKeys, "Returns a list of command names.", "7.0.0",
     "[FILTERBY filterby<MODULE module-name|ACLCAT category|PATTERN pattern:pattern>]"},
};

constexpr Command kIntrospectionCommands[] = {
    {"command", Serve<AllInfo>, -1, kAnyTime, kNoKeys,
     "Returns detailed information about all commands.", "2.8.13", "", kIntrospectionSubcommands},
};

}  // namespace

std::span<const Command> IntrospectionCommands() { return kIntrospectionCommands; }

}  // namespace tally::server
