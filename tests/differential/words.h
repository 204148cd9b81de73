// The arguments of the stream's commands: mostly sensible, some at the edges, some nonsense.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/differential/random.h"
#include "tests/differential/wire.h"

namespace tally::differential {

class Words {
 public:
  explicit Words(Random& random) : random_(random) {}

  // Appends what <name> stands for in a line of the grammar: one argument, or a few (<expiry>,
  // <keys:list>). Deadlines lie far in the future or in the past, so that no key dies between one
  // server's execution of a command and the other's.
  void Append(std::string_view name, Request& request);

  // Connections that <listener> and <client> name.
  void SetClients(std::vector<std::string> listeners, std::vector<std::string> clients);

  // A key of any pool but those of sets whose scores have to stay equal, and of what SORT sorts.
  std::string AnyKey();
  // No command takes it for anything.
  std::string Junk();

 private:
  bool AppendKeys(std::string_view name, Request& request);
  // An argument of a kind: its name, and how it is made.
  struct Kind {
    std::string_view name;
    std::string (*make)(Words& words);
  };
  std::string One(std::string_view name);
  // Timeouts, channels, clients, users and scripts.
  std::string OneBesideValues(std::string_view name);
  // Of a kind with this name, or otherwise.
  std::string Make(std::span<const Kind> kinds, std::string_view name,
                   std::string (Words::*otherwise)(std::string_view));
  std::string Key(std::string_view pool);
  std::string Element();
  std::string Member();
  std::string Value();
  std::string Integer();
  std::string Decimal();
  std::string Score();
  std::string Bound();
  std::string LexBound();
  std::string Field();
  std::string FieldOffset();
  std::string Index();
  std::string Timeout();
  std::string ScriptName(std::string_view text);
  std::string Deadline(int64_t low, int64_t high);

  Random& random_;
  std::vector<std::string> listeners_{"0"};
  std::vector<std::string> clients_{"0"};
};

}  // namespace tally::differential
