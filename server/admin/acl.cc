// ACL: the users, and what they may do.
#include <absl/container/flat_hash_set.h>
#include <absl/strings/escaping.h>
#include <absl/strings/substitute.h>

#include <algorithm>
#include <random>
#include <string>

#include "core/bytes/str_cat.h"
#include "server/acl/acl_check.h"
#include "server/acl/acl_file.h"
#include "server/acl/acl_guard.h"
#include "server/acl/acl_log.h"
#include "server/acl/acl_rules.h"
#include "server/acl/acl_users.h"
#include "server/admin/families.h"
#include "server/admin/server_context.h"
#include "server/command/command_table.h"
#include "server/command/help.h"
#include "server/config/config.h"
#include "server/describe/acl_categories.h"
#include "server/log/log.h"
#include "server/state/client_table.h"

namespace tally::server {
namespace {

void WhoAmI(ServerContext& context) { context.reply.Bulk(context.client.user); }

void Users(ServerContext& context, Services& server) {
  const auto& users = server.users.all();
  context.reply.Array(users.size());
  for (const auto& [name, user] : users) context.reply.Bulk(name);
}

void List(ServerContext& context, Services& server) {
  const auto& users = server.users.all();
  context.reply.Array(users.size());
  for (const auto& [name, user] : users) context.reply.Bulk(DescribeUser(*user));
}

// Replies three fields of a map.
void ReplySelector(ReplyBuilder& reply, const AclSelector& selector) {
  reply.Bulk("commands");
  reply.Bulk(CommandsText(selector));
  reply.Bulk("keys");
  reply.Bulk(KeysText(selector));
  reply.Bulk("channels");
  reply.Bulk(ChannelsText(selector));
}

void GetUser(ServerContext& context, Services& server) {
  ReplyBuilder& reply = context.reply;
  const auto user = server.users.Find(context.args[2]);
  if (user == nullptr) return reply.Null();
  reply.Map(6);
  reply.Bulk("flags");
  const std::vector<std::string_view> flags = FlagsOf(*user);
  reply.Set(flags.size());
  for (const std::string_view flag : flags) reply.Bulk(flag);
  reply.Bulk("passwords");
  reply.Array(user->passwords.size());
  for (const std::string& hash : user->passwords) reply.Bulk(hash);
  ReplySelector(reply, user->own);
  reply.Bulk("selectors");
  reply.Array(user->selectors.size());
  for (const AclSelector& selector : user->selectors) {
    reply.Map(3);
    ReplySelector(reply, selector);
  }
}

// Returns whether the client is subscribed only to channels and patterns that its user may hear.
bool ListensRightly(const Client& client) {
  const auto may_hear = [&](const auto& names, bool patterns) {
    return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
      return client.acl->MayListenTo(name, patterns);
    });
  };
  return may_hear(client.channels, false) && may_hear(client.patterns, true) &&
         may_hear(client.shard_channels, false);
}

void SetUser(ServerContext& context, Services& server) {
  const std::string_view name = context.args[2];
  if (!IsUserName(name)) return context.reply.Error(StrCat("ERR ", kBadUserName));
  const std::string error = server.users.Set(name, context.args.subspan(3));
  if (!error.empty()) return context.reply.Error(StrCat("ERR ", error));
  ClientTable& clients = server.clients;
  clients.ForEach([&](Client& client) {
    if (client.user == name && !ListensRightly(client)) clients.Kill(client, context.client);
  });
  context.reply.Ok();
}

// Ends the connections of the users for which is_gone(name) is true. If the caller is one of them,
// it still gets its reply.
template <typename IsGone>
void EndSessions(ServerContext& context, Services& server, IsGone&& is_gone) {
  server.clients.ForEach([&](Client& client) {
    if (!is_gone(client.user)) return;
    LoginAsDefault(server.users, client);
    client.authenticated = false;
    server.clients.Kill(client, context.client);
  });
}

void DelUser(ServerContext& context, Services& server) {
  const Args names = context.args.subspan(2);
  if (std::find(names.begin(), names.end(), kDefaultUser) != names.end()) {
    return context.reply.Error("ERR The 'default' user cannot be removed");
  }
  absl::flat_hash_set<std::string_view> removed;
  for (const std::string_view name : names) {
    if (server.users.Remove(name)) removed.insert(name);
  }
  context.reply.Integer(static_cast<int64_t>(removed.size()));
  if (removed.empty()) return;
  EndSessions(context, server, [&](std::string_view user) { return removed.contains(user); });
}

// Returns false, after an error reply, if no ACL file is configured.
bool HasAclFile(ServerContext& context, Services& server) {
  if (!server.config.aclfile.empty()) return true;
  context.reply.Error(
      "ERR This Redis instance is not configured to use an ACL file. You may want to specify users "
      "via the ACL SETUSER command and then issue a CONFIG REWRITE (assuming you have a Redis "
      "configuration file set) in order to store users in the Redis configuration.");
  return false;
}

// Loading makes all users anew except the default one, as in Redis. So their connections end.
void Load(ServerContext& context, Services& server) {
  if (!HasAclFile(context, server)) return;
  const absl::Status status = LoadAclFile(server.config.aclfile, server.users);
  if (!status.ok()) return context.reply.Error(StrCat("ERR ", std::string(status.message())));
  EndSessions(context, server, [](std::string_view user) { return user != kDefaultUser; });
  context.reply.Ok();
}

void AclSave(ServerContext& context, Services& server) {
  if (!HasAclFile(context, server)) return;
  const absl::Status status = SaveAclFile(server.config.aclfile, server.users);
  if (status.ok()) return context.reply.Ok();
  server.log.Warning("ACL SAVE failed: ", std::string(status.message()));
  context.reply.Error(
      "ERR There was an error trying to save the ACLs. Please check the server logs for more "
      "information");
}

void DryRun(ServerContext& context, Services& server) {
  ReplyBuilder& reply = context.reply;
  const Args call = context.args.subspan(3);
  const auto user = server.users.Find(context.args[2]);
  if (user == nullptr) return reply.Error(StrCat("ERR User '", context.args[2], "' not found"));
  const CommandEntry* const entry = server.commands.Resolve(call);
  if (entry == nullptr || (!entry->command->subcommands.empty() && call.size() > 1)) {
    return reply.Error(StrCat("ERR Command '", call[0], "' not found"));
  }
  if (!ArityFits(*entry->command, call.size())) {
    return reply.Error(
        StrCat("ERR wrong number of arguments for '", entry->full_name, "' command"));
  }
  const AclVerdict verdict = CheckCall(*user, *entry, call);
  if (verdict.denial == AclDenial::kNone) return reply.Ok();
  reply.Bulk(absl::Substitute(WordsOf(verdict.denial).dry_run, std::string(verdict.object)));
}

void ReplyLogEntry(ReplyBuilder& reply, const AclLog::Entry& entry, int64_t elapsed_ms) {
  reply.Map(7);
  reply.Bulk("count");
  reply.Integer(static_cast<int64_t>(entry.count));
  reply.Bulk("reason");
  reply.Bulk(entry.reason);
  reply.Bulk("context");
  reply.Bulk(entry.place);
  reply.Bulk("object");
  reply.Bulk(entry.object);
  reply.Bulk("username");
  reply.Bulk(entry.user);
  reply.Bulk("age-seconds");
  reply.Double(static_cast<double>(elapsed_ms - entry.created_ms) / 1000);
  reply.Bulk("client-info");
  reply.Bulk(entry.client);
}

void Log(ServerContext& context, Services& server) {
  AclLog& log = server.acl_log;
  size_t count = 10;
  if (context.args.size() == 3) {
    if (IsWord(context.args[2], "reset")) {
      log.Clear();
      return context.reply.Ok();
    }
    const auto wanted = context.Int64Arg(2);
    if (!wanted) return;
    count = static_cast<size_t>(std::max<int64_t>(*wanted, 0));
  } else if (context.args.size() > 3) {
    return ReplyUnknownSubcommand(context);
  }
  count = std::min(count, log.entries().size());
  context.reply.Array(count);
  const int64_t elapsed_ms = server.clock.elapsed_ms();
  for (size_t i = 0; i < count; ++i) ReplyLogEntry(context.reply, log.entries()[i], elapsed_ms);
}

void Categories(ServerContext& context, Services& server) {
  const CommandTable& table = server.commands;
  const auto categories = AllCategories(table);
  if (context.args.size() == 2) {
    context.reply.Array(categories.size());
    for (const std::string_view category : categories) context.reply.Bulk(category);
    return;
  }
  if (context.args.size() > 3) return ReplyUnknownSubcommand(context);
  const std::string_view wanted = context.args[2];
  const bool known = std::any_of(categories.begin(), categories.end(),
                                 [&](std::string_view one) { return IsWord(wanted, one); });
  if (!known) return context.reply.Error(StrCat("ERR Unknown category '", wanted, "'"));
  const size_t mark = context.reply.BeginArray();
  size_t found = 0;
  for (const CommandEntry& entry : table.entries()) {
    if (!HasCategory(entry, wanted)) continue;
    context.reply.Bulk(entry.full_name);
    ++found;
  }
  context.reply.EndArray(mark, found);
}

// Replies a random password in hexadecimal digits, four bits each, from the source of entropy of
// the system.
void GenPass(ServerContext& context) {
  constexpr int64_t kMaxBits = 4096;
  if (context.args.size() > 3) return ReplyUnknownSubcommand(context);
  int64_t bits = 256;
  if (context.args.size() > 2) {
    const auto asked = context.Int64Arg(2);
    if (!asked) return;
    bits = *asked;
  }
  if (bits <= 0 || bits > kMaxBits) {
    return context.reply.Error(
        "ERR ACL GENPASS argument must be the number of bits for the output password, a positive "
        "number up to 4096");
  }
  const auto digits = static_cast<size_t>((bits + 3) / 4);
  std::random_device device;
  std::string bytes;
  while (bytes.size() * 2 < digits) bytes += static_cast<char>(device() & 0xff);
  context.reply.Bulk(absl::BytesToHexString(bytes).substr(0, digits));
}

void AclHelp(ServerContext& context) {
  constexpr std::string_view kLines[] = {
      "CAT [<category>]",
      "    List all commands that belong to <category>, or all command categories",
      "    when no category is specified.",
      "DELUSER <username> [<username> ...]",
      "    Delete a list of users.",
      "DRYRUN <username> <command> [<arg> ...]",
      "    Returns whether the user can execute the given command without executing the command.",
      "GETUSER <username>",
      "    Get the user's details.",
      "GENPASS [<bits>]",
      "    Generate a secure 256-bit user password. The optional `bits` argument can",
      "    be used to specify a different size.",
      "LIST",
      "    Show users details in config file format.",
      "LOAD",
      "    Reload users from the ACL file.",
      "LOG [<count> | RESET]",
      "    Show the ACL log entries.",
      "SAVE",
      "    Save the current config to the ACL file.",
      "SETUSER <username> <attribute> [<attribute> ...]",
      "    Create or modify a user with the specified attributes.",
      "USERS",
      "    List all the registered usernames.",
      "WHOAMI",
      "    Return the current connection username.",
  };
  ReplyHelp(context, kLines);
}

// The secret words of ACL SETUSER user rule …: a rule may hold a password.
bool IsSecretRule(Args, size_t index) { return index >= 2; }

constexpr uint32_t kAsk = kNoScript | kAnyTime;
constexpr uint32_t kAdminister = kAsk | kAdmin | kDangerous;

constexpr Command kAclSubcommands[] = {
    {"cat", Serve<Categories>, -2, kAsk, kNoKeys,
     "Lists the ACL categories, or the commands inside a category.", "6.0.0", "[categoryname]"},
    {"deluser", Serve<DelUser>, -3, kAdminister, kNoKeys,
     "Deletes ACL users, and terminates their connections.", "6.0.0", "username..."},
    {"dryrun", Serve<DryRun>, -4, kAdminister, kNoKeys,
     "Simulates the execution of a command by a user, without executing the command.", "7.0.0",
     "username command [arg...]"},
    {"genpass", GenPass, -2, kAsk, kNoKeys,
     "Generates a pseudorandom, secure password that can be used to identify ACL users.", "6.0.0",
     "[bits:int]"},
    {"getuser", Serve<GetUser>, 3, kAdminister, kNoKeys, "Lists the ACL rules of a user.", "6.0.0",
     "username"},
    {"help", AclHelp, 2, kAnyTime, kNoKeys, "Returns helpful text about the subcommands.", "6.0.0"},
    {"list", Serve<List>, 2, kAdminister, kNoKeys, "Dumps the effective rules in ACL file format.",
     "6.0.0"},
    {"load", Serve<Load>, 2, kAdminister, kNoKeys, "Reloads the users from the ACL file.", "6.0.0"},
    {"log", Serve<Log>, -2, kAdminister, kNoKeys,
     "Lists recent calls that were denied and logins that failed.", "6.0.0",
     "[operation<count:int|RESET>]"},
    {"save", Serve<AclSave>, 2, kAdminister, kNoKeys, "Saves the users in the ACL file.", "6.0.0"},
    {.name = "setuser",
     .handler = Serve<SetUser>,
     .arity = -3,
     .flags = kAdminister,
     .keys = kNoKeys,
     .summary = "Creates and modifies an ACL user and its rules.",
     .since = "6.0.0",
     .arguments = "username [rule...]",
     .is_secret = IsSecretRule},
    {"users", Serve<Users>, 2, kAdminister, kNoKeys, "Lists all ACL users.", "6.0.0"},
    {"whoami", WhoAmI, 2, kAsk, kNoKeys,
     "Returns the authenticated username of the current connection.", "6.0.0"},
};

constexpr Command kAclCommands[] = {
    {"acl", nullptr, -2, 0, kNoKeys, "A container for Access List Control commands.", "6.0.0", "",
     kAclSubcommands},
};

}  // namespace

std::span<const Command> AclCommands() { return kAclCommands; }

}  // namespace tally::server
