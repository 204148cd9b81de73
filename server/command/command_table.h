// All commands by name. Made once at start from the families' rows, read-only afterwards.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/command/command.h"

namespace tally::server {

class CommandTable {
 public:
  // One for each row and subcommand, in the families' order.
  struct Item {
    const Command* command;
    const CommandFamily* family;
    const Command* parent;  // null for a top-level command
    size_t id;              // dense, for tables of statistics
    std::string full_name;  // "client|id"
  };

  explicit CommandTable(std::span<const CommandFamily> families);
  CommandTable(const CommandTable&) = delete;
  CommandTable& operator=(const CommandTable&) = delete;

  // By name in any case. Null when there is none.
  const Item* Find(std::string_view name) const;
  // A subcommand by its second word. Null when there is none.
  const Item* FindSub(const Item& parent, std::string_view name) const;
  // The item that a call runs: a subcommand where the command has some and the word is one.
  const Item* Resolve(Args args) const;
  // "get", "client|id".
  const Item* FindFullName(std::string_view name) const;

  std::span<const Item> items() const { return items_; }
  std::span<const CommandFamily> families() const { return families_; }

 private:
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const;
  };
  struct TextEqual {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const { return a == b; }
  };

  void Add(const CommandFamily& family, const Command& command, const Command* parent);

  std::span<const CommandFamily> families_;
  std::vector<Item> items_;
  absl::flat_hash_map<std::string, size_t, TextHash, TextEqual> by_name_;
};

}  // namespace tally::server
