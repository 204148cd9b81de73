// The arguments of a command, which its row describes in one text. A part of SET's text:
//   key#0 value [condition@2.6.12<NX|XX>] [GET@6.2.0] [expiration<EX seconds:int|KEEPTTL@6.0.0>]
//
//   name              a value; the name is in single quotes if it contains a colon
//   WORD              a word, sent as it is written; its name is the word in lower case
//   name=WORD         a word with a name of its own
//   WORD argument     an argument that follows its word
//   name<a|b>         one of the arguments a and b
//   name(a b)         all of the arguments a and b, in this order
//   [argument]        an argument that may be left out
//   argument...       an argument once or more; WORD... argument: each time with its word
// A name may be followed by these, in this order:
//   :int :double :time :pattern :key   the type; without it a string
//   #n                its key specification in COMMAND INFO; makes it a key if it has no type
//   @version          since when it exists
//   !version          since when it is deprecated
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
  int key_spec = -1;  // -1: none
  bool optional = false;
  bool multiple = false;
  bool multiple_token = false;
  std::vector<Argument> arguments;  // of kOneOf and kBlock
};

using Arguments = std::vector<Argument>;

// Returns nothing if the text is malformed. The text must outlive the result, which points into it.
std::optional<Arguments> ParseArguments(std::string_view text);

// Returns the arguments of a command's row; asserts that its text is well formed.
Arguments ArgumentsOf(const Command& command);

// Returns the arguments as Redis's documentation writes them: "key window [COUNT n] [AT t]".
std::string UsageOf(const Arguments& arguments);

// Replies the arguments as COMMAND DOCS shows them.
void ReplyArguments(ReplyBuilder& reply, const Arguments& arguments);

}  // namespace tally::server
