#include "server/command/command_table.h"

#include <absl/strings/ascii.h>

#include <cstring>
#include <string>

#include "core/base/check.h"

namespace tally::server {
namespace {

// The most bytes that a name may have.
constexpr size_t kMaxName = 64;

// The first bytes of a text as an integer, the same for small and capital letters: the bit that
// they differ in is set. It makes some other characters the same too, which costs no more than
// comparing.
template <typename Integer>
uint64_t Folded(const char* text) {
  Integer bytes;
  std::memcpy(&bytes, text, sizeof bytes);
  return bytes | static_cast<Integer>(0x2020202020202020);
}

}  // namespace

// The first eight characters and the last are enough: names are few, and not chosen by clients.
size_t CommandTable::NameHash::operator()(std::string_view name) const {
  const size_t size = name.size();
  const char* const end = name.data() + size;
  uint64_t first = 0;
  uint64_t last = 0;
  if (size >= 8) {
    first = Folded<uint64_t>(name.data());
    last = Folded<uint64_t>(end - 8);
  } else if (size >= 4) {
    first = Folded<uint32_t>(name.data());
    last = Folded<uint32_t>(end - 4);
  } else {
    for (const char c : name) first = first << 8 | Folded<uint8_t>(&c);
  }
  const uint64_t hash = ((first * 0x9E3779B97F4A7C15u) ^ last) * 0xC2B2AE3D27D4EB4Fu + size;
  return hash ^ hash >> 32;
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
  const bool fresh = by_name_.emplace(name, entries_.size()).second;
  Check(fresh, "a command has one row");
  entries_.push_back({.command = &command,
                      .family = &family,
                      .parent = parent,
                      .id = entries_.size(),
                      .full_name = std::move(name)});
  for (const Command& sub : command.subcommands) Add(family, sub, &command);
}

const CommandEntry* CommandTable::FindFullName(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : &entries_[it->second];
}

absl::Status CommandTable::Rename(std::string_view from, std::string_view to) {
  const CommandEntry* const found = Find(from);
  if (found == nullptr) return absl::InvalidArgumentError("No such command in rename-command");
  CommandEntry& entry = entries_[found->id];
  if (!to.empty()) {
    if (Find(to) != nullptr) {
      return absl::InvalidArgumentError("Target command name already exists");
    }
    by_new_name_.emplace(absl::AsciiStrToLower(std::string(to)), entry.id);
  }
  if (!entry.keeps_name) by_new_name_.erase(absl::AsciiStrToLower(std::string(from)));
  entry.keeps_name = false;
  for (size_t i = 0; i <= entry.command->subcommands.size(); ++i) {
    entries_[entry.id + i].callable = !to.empty();
  }
  return absl::OkStatus();
}

const CommandEntry* CommandTable::Find(std::string_view name) const {
  const CommandEntry* entry = FindFullName(name);
  if (entry != nullptr && entry->parent == nullptr && entry->keeps_name) return entry;
  if (by_new_name_.empty()) [[likely]]
    return nullptr;
  const auto it = by_new_name_.find(absl::AsciiStrToLower(std::string(name)));
  return it == by_new_name_.end() ? nullptr : &entries_[it->second];
}

const CommandEntry* CommandTable::FindCallable(std::string_view name) const {
  const size_t bar = name.find('|');
  const CommandEntry* entry = Find(name.substr(0, bar));
  if (entry == nullptr || bar == std::string_view::npos) return entry;
  return FindSub(*entry, name.substr(bar + 1));
}

const CommandEntry* CommandTable::FindSub(const CommandEntry& parent, std::string_view name) const {
  if (parent.full_name.size() + 1 + name.size() > kMaxName) return nullptr;
  char full[kMaxName];
  size_t size = parent.full_name.copy(full, kMaxName);
  full[size++] = '|';
  size += name.copy(full + size, kMaxName - size);
  const CommandEntry* entry = FindFullName({full, size});
  return entry != nullptr && entry->parent == parent.command ? entry : nullptr;
}

const CommandEntry* CommandTable::Resolve(Args args) const {
  const CommandEntry* entry = args.empty() ? nullptr : Find(args[0]);
  if (entry == nullptr || args.size() < 2 || entry->command->subcommands.empty()) return entry;
  const CommandEntry* sub = FindSub(*entry, args[1]);
  return sub != nullptr ? sub : entry;
}

}  // namespace tally::server
