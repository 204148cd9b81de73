#include "server/module/command_info.h"

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "server/command/arguments.h"
#include "server/module/module_api.h"

namespace tally::module {
namespace {

using server::Argument;
using server::ArgumentType;

redis::ArgType TypeOf(ArgumentType type) {
  switch (type) {
    case ArgumentType::kString:
      return redis::ArgType::kString;
    case ArgumentType::kInteger:
      return redis::ArgType::kInteger;
    case ArgumentType::kDouble:
      return redis::ArgType::kDouble;
    case ArgumentType::kUnixTime:
      return redis::ArgType::kUnixTime;
    case ArgumentType::kPattern:
      return redis::ArgType::kPattern;
    case ArgumentType::kKey:
      return redis::ArgType::kKey;
    case ArgumentType::kPureToken:
      return redis::ArgType::kPureToken;
    case ArgumentType::kOneOf:
      return redis::ArgType::kOneOf;
    case ArgumentType::kBlock:
      return redis::ArgType::kBlock;
  }
  return redis::ArgType::kString;
}

// Owns the description of a command until the server has copied it.
class Description {
 public:
  // Returns an array whose last element is all zeros; null if there are no arguments.
  redis::CommandArg* ArgsOf(const server::Arguments& arguments) {
    if (arguments.empty()) return nullptr;
    std::vector<redis::CommandArg>& args = lists_.emplace_back();
    args.reserve(arguments.size() + 1);
    for (const Argument& argument : arguments) args.push_back(ArgOf(argument));
    args.emplace_back();
    return args.data();
  }

  const char* Text(std::string_view text) {
    return text.empty() ? nullptr : texts_.emplace_back(text).c_str();
  }

 private:
  redis::CommandArg ArgOf(const Argument& argument) {
    redis::CommandArg arg{};
    arg.name = Text(argument.name);
    arg.type = TypeOf(argument.type);
    // The server asks for the specification of each key. Keys after AND, too, belong to the first.
    arg.key_spec_index = argument.type == ArgumentType::kKey ? std::max(argument.key_spec, 0) : -1;
    if (argument.token) arg.token = Text(*argument.token);
    arg.since = Text(argument.since);
    arg.deprecated_since = Text(argument.deprecated_since);
    if (argument.optional) arg.flags |= redis::kArgOptional;
    if (argument.multiple) arg.flags |= redis::kArgMultiple;
    if (argument.multiple_token) arg.flags |= redis::kArgMultipleToken;
    arg.subargs = ArgsOf(argument.arguments);
    return arg;
  }

  std::deque<std::string> texts_;
  std::deque<std::vector<redis::CommandArg>> lists_;
};

redis::KeySpec KeySpecOf(const server::Command& command) {
  redis::KeySpec spec{};
  spec.flags = server::KeyUse(command, true) & redis::kKeyUseMask;
  // If the server must ask the module where the keys are, the range has only the first of them.
  if (command.find_keys != nullptr) spec.flags |= redis::kKeysIncomplete;
  spec.begin_search_type = redis::kBeginAtIndex;
  spec.begin.index.pos = command.keys.first;
  spec.find_keys_type = redis::kFindRange;
  const int last = command.keys.last;
  spec.find.range = {last < 0 ? last : last - command.keys.first, command.keys.step, 0};
  return spec;
}

}  // namespace

bool DescribeCommand(redis::Command* made, const server::Command& command) {
  Description description;
  redis::CommandInfo info{};
  info.version = &redis::kCommandInfoVersion;
  info.summary = description.Text(command.summary);
  info.since = description.Text(command.since);
  info.arity = command.arity;
  redis::KeySpec specs[2] = {};
  if (command.keys.first != 0) {
    specs[0] = KeySpecOf(command);
    info.key_specs = specs;
  }
  info.args = description.ArgsOf(server::ArgumentsOf(command));
  return redis::Functions().SetCommandInfo(made, &info) == redis::kOk;
}

}  // namespace tally::module
