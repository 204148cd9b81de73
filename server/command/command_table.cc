#include "server/command/command_table.h"

#include <absl/strings/ascii.h>

#include <string>

#include "core/base/check.h"

namespace tally::server {
namespace {

// The most bytes that a name may have; a longer word is no command.
constexpr size_t kMaxName = 64;

struct LowerName {
  explicit LowerName(std::string_view name) {
    if (name.size() > kMaxName) return;
    for (char c : name) text[size++] = absl::ascii_tolower(static_cast<unsigned char>(c));
  }
  std::string_view view() const { return {text, size}; }
  char text[kMaxName];
  size_t size = 0;
};

}  // namespace

size_t CommandTable::TextHash::operator()(std::string_view text) const {
  // FNV-1a is good enough: the names are short, few, and not chosen by clients.
  uint64_t hash = 0xcbf29ce484222325u;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

CommandTable::CommandTable(std::span<const CommandFamily> families) : families_(families) {
  for (const CommandFamily& family : families) {
    for (const Command& command : family.commands) Add(family, command, nullptr);
  }
}

void CommandTable::Add(const CommandFamily& family, const Command& command, const Command* parent) {
  std::string name(command.name);
  if (parent != nullptr) name.insert(0, std::string(parent->name) + "|");
  Check(name.size() <= kMaxName, "a command's name is short");
  const bool fresh = by_name_.emplace(name, items_.size()).second;
  Check(fresh, "a command has one row");
  items_.push_back({.command = &command,
                    .family = &family,
                    .parent = parent,
                    .id = items_.size(),
                    .full_name = std::move(name)});
  for (const Command& sub : command.subcommands) Add(family, sub, &command);
}

const CommandTable::Item* CommandTable::FindFullName(std::string_view name) const {
  const auto it = by_name_.find(LowerName(name).view());
  return it == by_name_.end() ? nullptr : &items_[it->second];
}

absl::Status CommandTable::Rename(std::string_view from, std::string_view to) {
  const Item* const found = Find(from);
  if (found == nullptr) return absl::InvalidArgumentError("No such command in rename-command");
  Item& item = items_[found->id];
  if (!to.empty()) {
    if (Find(to) != nullptr) {
      return absl::InvalidArgumentError("Target command name already exists");
    }
    by_new_name_.emplace(absl::AsciiStrToLower(std::string(to)), item.id);
  }
  if (!item.keeps_name) by_new_name_.erase(absl::AsciiStrToLower(std::string(from)));
  item.keeps_name = false;
  for (size_t i = 0; i <= item.command->subcommands.size(); ++i) {
    items_[item.id + i].callable = !to.empty();
  }
  return absl::OkStatus();
}

const CommandTable::Item* CommandTable::Find(std::string_view name) const {
  const Item* item = FindFullName(name);
  if (item != nullptr && item->parent == nullptr && item->keeps_name) return item;
  if (by_new_name_.empty()) [[likely]]
    return nullptr;
  const auto it = by_new_name_.find(absl::AsciiStrToLower(std::string(name)));
  return it == by_new_name_.end() ? nullptr : &items_[it->second];
}

const CommandTable::Item* CommandTable::FindCallable(std::string_view name) const {
  const size_t bar = name.find('|');
  const Item* item = Find(name.substr(0, bar));
  if (item == nullptr || bar == std::string_view::npos) return item;
  return FindSub(*item, name.substr(bar + 1));
}

const CommandTable::Item* CommandTable::FindSub(const Item& parent, std::string_view name) const {
  if (parent.full_name.size() + 1 + name.size() > kMaxName) return nullptr;
  char full[kMaxName];
  size_t size = parent.full_name.copy(full, kMaxName);
  full[size++] = '|';
  size += name.copy(full + size, kMaxName - size);
  const Item* item = FindFullName({full, size});
  return item != nullptr && item->parent == parent.command ? item : nullptr;
}

const CommandTable::Item* CommandTable::Resolve(Args args) const {
  const Item* item = args.empty() ? nullptr : Find(args[0]);
  if (item == nullptr || args.size() < 2 || item->command->subcommands.empty()) return item;
  const Item* sub = FindSub(*item, args[1]);
  return sub != nullptr ? sub : item;
}

}  // namespace tally::server
