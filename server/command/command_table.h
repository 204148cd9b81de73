// All commands by name. Made once at start from the families' rows, read-only afterwards.
//
// A client may know a command by another name (`rename-command`), or not at all. Its full name
// stays what it was: in ACL rules, in statistics, in the log. So the log can be read without the
// renames.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/status/status.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/words/word.h"
#include "server/command/command.h"

namespace tally::server {

// One entry for each row and subcommand, in the order of the families. Subcommands follow directly
// after their parent.
struct CommandEntry {
  const Command* command;
  const CommandFamily* family;
  const Command* parent;  // null for a top-level command
  size_t id;              // index in entries(), for tables of statistics
  std::string full_name;  // "client|id"
  // False for a command that clients know by another name, or not at all.
  bool keeps_name = true;
  // Whether a client can call it by some name.
  bool callable = true;
};

class CommandTable {
 public:
  explicit CommandTable(std::span<const CommandFamily> families);
  CommandTable(const CommandTable&) = delete;
  CommandTable& operator=(const CommandTable&) = delete;

  // Gives the command `from` the name `to`, or none if `to` is empty. An error says what is wrong
  // with the names; the table is then as it was.
  absl::Status Rename(std::string_view from, std::string_view to);

  // Returns the top-level command that a client calls by this name, in any case; null if there is
  // none.
  const CommandEntry* Find(std::string_view name) const;
  // Returns the subcommand that has this second word, in any case; null if there is none.
  const CommandEntry* FindSub(const CommandEntry& parent, std::string_view name) const;
  // Returns the entry that a call runs: the subcommand that its second word names, if there is one,
  // otherwise the command. Null if the first word is no command.
  const CommandEntry* Resolve(Args args) const;
  // Returns what a client means by "get" or "client|id", in any case; null if there is none.
  const CommandEntry* FindCallable(std::string_view name) const;
  // Returns the entry of a full name ("get", "client|id"), in any case; null if there is none.
  const CommandEntry* FindFullName(std::string_view name) const;

  std::span<const CommandEntry> entries() const { return entries_; }
  std::span<const CommandFamily> families() const { return families_; }

 private:
  // Neither looks at the case of letters.
  struct NameHash {
    using is_transparent = void;
    size_t operator()(std::string_view name) const;
  };
  struct NameEqual {
    using is_transparent = void;
    bool operator()(const std::string& full_name, std::string_view name) const {
      return IsWord(name, full_name);
    }
  };

  void Add(const CommandFamily& family, const Command& command, const Command* parent);

  std::span<const CommandFamily> families_;
  std::vector<CommandEntry> entries_;
  absl::flat_hash_map<std::string, size_t, NameHash, NameEqual> by_name_;
  // The new names of renamed commands, in lower case.
  absl::flat_hash_map<std::string, size_t> by_new_name_;
};

// Whether a client may keep the reply until a key of the call changes. The replies of tallyd's own
// reads change with the time, and no key says when.
inline bool MayBeCached(const CommandEntry& entry) {
  return (entry.command->flags & (kReadOnly | kReadsByCalls)) == kReadOnly && !entry.family->native;
}

}  // namespace tally::server
