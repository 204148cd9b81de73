// ACL, as far as there is one user: who may do what is told, and cannot be changed but by
// requirepass.
#include <absl/strings/escaping.h>

#include <algorithm>
#include <random>
#include <string>

#include "core/bytes/str_cat.h"
#include "server/command/acl_categories.h"
#include "server/command/command_context.h"
#include "server/command/help.h"
#include "server/command/login.h"
#include "server/commands/families.h"

namespace tally::server {
namespace {

constexpr std::string_view kAllCommands = "+@all";
constexpr std::string_view kAllKeys = "~*";
constexpr std::string_view kAllChannels = "&*";

void WhoAmI(CommandContext& context) { context.reply.Bulk(context.client.user); }

void Users(CommandContext& context) {
  context.reply.Array(1);
  context.reply.Bulk(kDefaultUser);
}

void List(CommandContext& context) {
  const std::string& password = context.server.config.requirepass;
  context.reply.Array(1);
  context.reply.Bulk(StrCat("user ", kDefaultUser, " on ",
                            password.empty() ? "nopass" : StrCat('#', PasswordHash(password)), ' ',
                            kAllKeys, ' ', kAllChannels, ' ', kAllCommands));
}

void GetUser(CommandContext& context) {
  ReplyBuilder& reply = context.reply;
  if (!UserExists(context.server.config, context.args[2])) return reply.Null();
  const std::string& password = context.server.config.requirepass;
  reply.Map(6);
  reply.Bulk("flags");
  reply.Set(password.empty() ? 2 : 1);
  reply.Bulk("on");
  if (password.empty()) reply.Bulk("nopass");
  reply.Bulk("passwords");
  reply.Array(password.empty() ? 0 : 1);
  if (!password.empty()) reply.Bulk(PasswordHash(password));
  reply.Bulk("commands");
  reply.Bulk(kAllCommands);
  reply.Bulk("keys");
  reply.Bulk(kAllKeys);
  reply.Bulk("channels");
  reply.Bulk(kAllChannels);
  reply.Bulk("selectors");
  reply.Array(0);
}

void Categories(CommandContext& context) {
  const CommandTable& table = context.server.commands;
  const auto categories = AllCategories(table);
  if (context.args.size() == 2) {
    context.reply.Array(categories.size());
    for (const std::string_view category : categories) context.reply.Bulk(category);
    return;
  }
  const std::string_view wanted = context.args[2];
  const bool known = std::any_of(categories.begin(), categories.end(),
                                 [&](std::string_view one) { return IsWord(wanted, one); });
  if (!known || context.args.size() > 3) {
    return context.reply.Error(
        known ? "ERR unknown subcommand or wrong number of arguments for 'CAT'. Try ACL HELP."
              : StrCat("ERR Unknown category '", wanted, "'"));
  }
  const size_t mark = context.reply.BeginArray();
  size_t found = 0;
  for (const CommandTable::Item& item : table.items()) {
    if (!HasCategory(item, wanted)) continue;
    context.reply.Bulk(item.full_name);
    ++found;
  }
  context.reply.EndArray(mark, found);
}

// A password from the system's source of entropy, four bits a digit.
void GenPass(CommandContext& context) {
  constexpr int64_t kMaxBits = 4096;
  int64_t bits = 256;
  if (context.args.size() > 2) {
    const auto asked = context.Int64ArgIn(
        2, 1, kMaxBits,
        "ERR ACL GENPASS argument must be the number of bits for the output password, a positive "
        "number up to 4096");
    if (!asked) return;
    bits = *asked;
  }
  const auto digits = static_cast<size_t>((bits + 3) / 4);
  std::random_device device;
  std::string bytes;
  while (bytes.size() * 2 < digits) bytes += static_cast<char>(device() & 0xff);
  context.reply.Bulk(absl::BytesToHexString(bytes).substr(0, digits));
}

void AclHelp(CommandContext& context) {
  constexpr std::string_view kLines[] = {
      "CAT [<category>]",
      "    List all commands that belong to <category>, or all command categories",
      "    when no category is specified.",
      "GETUSER <username>",
      "    Get the user's details.",
      "GENPASS [<bits>]",
      "    Generate a secure 256-bit user password. The optional `bits` argument can",
      "    be used to specify a different size.",
      "LIST",
      "    Show users details in config file format.",
      "USERS",
      "    List all the registered usernames.",
      "WHOAMI",
      "    Return the current connection username.",
  };
  ReplyHelp(context, kLines);
}

constexpr uint32_t kAsk = kNoScript | kLoading | kStale;
constexpr uint32_t kAdminister = kAsk | kAdmin | kDangerous;
constexpr KeyRange kNoKeys;

constexpr Command kSubcommands[] = {
    {"cat", Categories, -2, kAsk, kNoKeys,
     "Lists the ACL categories, or the commands inside a category.", "6.0.0"},
    {"genpass", GenPass, -2, kAsk, kNoKeys,
     "Generates a pseudorandom, secure password that can be used to identify ACL users.", "6.0.0"},
    {"getuser", GetUser, 3, kAdminister, kNoKeys, "Lists the ACL rules of a user.", "6.0.0"},
    {"help", AclHelp, 2, kLoading | kStale, kNoKeys, "Returns helpful text about the subcommands.",
     "6.0.0"},
    {"list", List, 2, kAdminister, kNoKeys, "Dumps the effective rules in ACL file format.",
     "6.0.0"},
    {"users", Users, 2, kAdminister, kNoKeys, "Lists all ACL users.", "6.0.0"},
    {"whoami", WhoAmI, 2, kAsk, kNoKeys,
     "Returns the authenticated username of the current connection.", "6.0.0"},
};

constexpr Command kCommands[] = {
    {"acl", nullptr, -2, 0, kNoKeys, "A container for Access List Control commands.", "6.0.0",
     kSubcommands},
};

}  // namespace

std::span<const Command> AclCommands() { return kCommands; }

}  // namespace tally::server
