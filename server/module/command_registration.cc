#include "server/module/command_registration.h"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/check.h"
#include "server/command/acl_categories.h"
#include "server/module/command_info.h"
#include "server/module/module.h"
#include "server/module/module_api.h"

namespace tally::module {
namespace {

using Item = server::CommandTable::Item;

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
void SetCategories(redis::Context* context, redis::Command* command, const Item& item) {
  const redis::Api& api = redis::Functions();
  if (api.SetCommandACLCategories == nullptr) return;
  const std::string own(item.family->category);
  std::string names;
  for (const std::string_view category : server::CategoriesOf(item)) {
    if (category == own && api.AddACLCategory == nullptr) continue;
    if (category == own) api.AddACLCategory(context, own.c_str());
    if (!names.empty()) names += ' ';
    names += category;
  }
  api.SetCommandACLCategories(command, names.c_str());
}

bool Create(redis::Context* context, const Item& item) {
  const redis::Api& api = redis::Functions();
  const server::Command& command = *item.command;
  const std::string name(command.name);
  const std::string flags = FlagsOf(command);
  const redis::CommandFunction run = command.handler == nullptr ? nullptr : kRunners[item.id];
  const auto& [first, last, step, use, others_use] = command.keys;
  if (item.parent == nullptr) {
    return api.CreateCommand(context, name.c_str(), run, flags.c_str(), first, last, step) ==
           redis::kOk;
  }
  redis::Command* parent = api.GetCommand(context, std::string(item.parent->name).c_str());
  return parent != nullptr && api.CreateSubcommand(parent, name.c_str(), run, flags.c_str(), first,
                                                   last, step) == redis::kOk;
}

}  // namespace

bool RegisterCommands(redis::Context* context, const server::CommandTable& commands) {
  Check(commands.items().size() <= kMostItems, "each command has a callback");
  for (const Item& item : commands.items()) {
    if (!Create(context, item)) return false;
    redis::Command* command = redis::Functions().GetCommand(context, item.full_name.c_str());
    if (command == nullptr || !DescribeCommand(command, *item.command)) return false;
    SetCategories(context, command, item);
  }
  return true;
}

}  // namespace tally::module
