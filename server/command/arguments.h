// What arguments a command takes, as its row says it in one text. SET's, in part:
//   key#0 value [condition@2.6.12<NX|XX>] [GET@6.2.0] [expiration<EX seconds:int|KEEPTTL@6.0.0>]
//
//   name              a value; in quotes if there is a colon in it
//   WORD              a word, sent as it is written; it is called as itself in lower case
//   name=WORD         a word with a name of its own
//   WORD argument     an argument after its word
//   name<a|b>         one of them
//   name(a b)         all of them, in this order
//   [argument]        may be left out
//   argument...       once or more; WORD... argument: each time with its word
// After a name may come, in this order: its type, one of :int :double :time :pattern :key, a
// string if there is none; #n, the key specification of COMMAND INFO that it belongs to, a key if
// it has no other type; @version, since when; !version, since when it is deprecated.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/command/command.h"
#include "server/resp/reply.h"

namespace tally::server {

enum class ArgumentType {
  kString,
  kInteger,
  kDouble,
  kUnixTime,
  kPattern,
  kKey,
  kPureToken,
  kOneOf,
  kBlock
};

struct Argument {
  std::string name;
  ArgumentType type = ArgumentType::kString;
  std::optional<std::string_view> token;
  std::string_view since;
  std::string_view deprecated_since;
  int key_spec = -1;  // none
  bool optional = false;
  bool multiple = false;
  bool multiple_token = false;
  std::vector<Argument> arguments;  // of kOneOf and kBlock
};

using Arguments = std::vector<Argument>;

// Nothing if the text is not as above; it must outlive what is returned.
std::optional<Arguments> ParseArguments(std::string_view text);

// Of a command's row.
Arguments ArgumentsOf(const Command& command);

// For people, as Redis's documentation writes it: "key window [COUNT n] [AT t]".
std::string UsageOf(const Arguments& arguments);

// As COMMAND DOCS shows them.
void ReplyArguments(ReplyBuilder& reply, const Arguments& arguments);

}  // namespace tally::server
