#include "server/module/command_registration.h"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/check.h"
#include "server/describe/acl_categories.h"
#include "server/module/command_info.h"
#include "server/module/module.h"
#include "server/module/module_api.h"

namespace tally::module {
namespace {

// The server does not say to a callback which command is called, so each command has its own one.
constexpr size_t kMostItems = 64;

template <size_t kId>
int RunItem(redis::Context* context, redis::String** argv, int argc) {
  return TheModule().Run(kId, context, argv, argc);
}

template <size_t... kIds>
constexpr std::array<redis::CommandFunction, kMostItems> RunnersOf(
    std::index_sequence<kIds...> /*ids*/) {
  return {RunItem<kIds>...};
}

constexpr auto kRunners = RunnersOf(std::make_index_sequence<kMostItems>());

std::string FlagsOf(const server::Command& command) {
  constexpr std::pair<uint32_t, std::string_view> kNames[] = {
      {server::kWrite, "write"},
      {server::kReadOnly, "readonly"},
      {server::kDenyOom, "deny-oom"},
      {server::kFast, "fast"},
      {server::kMovableKeys, "getkeys-api"},
      {server::kLoading, "allow-loading"},
      {server::kStale, "allow-stale"},
  };
  std::string flags;
  for (const auto& [flag, name] : kNames) {
    if ((command.flags & flag) == 0) continue;
    if (!flags.empty()) flags += ' ';
    flags += name;
  }
  return flags;
}

// Before Redis 7.4 a module cannot add categories for its families, so the commands are only in the
// usual ones; before 7.2 they are in none.
void SetCategories(redis::Context* context, redis::Command* command,
                   const server::CommandEntry& entry) {
  const redis::Api& api = redis::Functions();
  if (api.SetCommandACLCategories == nullptr) return;
  const std::string own(entry.family->category);
  std::string names;
  for (const std::string_view category : server::CategoriesOf(entry)) {
    if (category == own && api.AddACLCategory == nullptr) continue;
    if (category == own) api.AddACLCategory(context, own.c_str());
    if (!names.empty()) names += ' ';
    names += category;
  }
  api.SetCommandACLCategories(command, names.c_str());
}

// The command as the server is to see it. The name of a policy is like a key to permissions, so
// that the server checks it, and ACL LOG and ACL DRYRUN know it. Not so in a cluster, where a key
// would be looked for in the slot of its name: there the command itself checks the permissions.
server::Command SeenByServer(redis::Context* context, const server::Command& command) {
  server::Command seen = command;
  const bool in_cluster =
      (redis::Functions().GetContextFlags(context) & redis::kContextCluster) != 0;
  if (command.policy_use != 0 && !in_cluster) seen.keys = {1, 1, 1, command.policy_use};
  return seen;
}

bool Create(redis::Context* context, const server::CommandEntry& entry,
            const server::Command& command) {
  const redis::Api& api = redis::Functions();
  const std::string name(command.name);
  const std::string flags = FlagsOf(command);
  const redis::CommandFunction run = command.handler == nullptr ? nullptr : kRunners[entry.id];
  const auto& [first, last, step, use, others_use] = command.keys;
  if (entry.parent == nullptr) {
    return api.CreateCommand(context, name.c_str(), run, flags.c_str(), first, last, step) ==
           redis::kOk;
  }
  redis::Command* parent = api.GetCommand(context, std::string(entry.parent->name).c_str());
  return parent != nullptr && api.CreateSubcommand(parent, name.c_str(), run, flags.c_str(), first,
                                                   last, step) == redis::kOk;
}

}  // namespace

bool RegisterCommands(redis::Context* context, const server::CommandTable& commands) {
  Check(commands.entries().size() <= kMostItems, "each command has a callback");
  for (const server::CommandEntry& entry : commands.entries()) {
    const server::Command seen = SeenByServer(context, *entry.command);
    if (!Create(context, entry, seen)) {
      redis::Functions().Log(context, "warning",
                             "tally: the server refuses the command '%s'. Is there one of this "
                             "name already, of another module?",
                             entry.full_name.c_str());
      return false;
    }
    redis::Command* command = redis::Functions().GetCommand(context, entry.full_name.c_str());
    if (command == nullptr || !DescribeCommand(command, seen)) {
      redis::Functions().Log(context, "warning",
                             "tally: the server refuses the description of the command '%s'",
                             entry.full_name.c_str());
      return false;
    }
    SetCategories(context, command, entry);
  }
  return true;
}

}  // namespace tally::module
