#include "server/command/arguments.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/check.h"
#include "core/bytes/str_cat.h"

namespace tally::server {
namespace {

struct ArgumentTypeName {
  ArgumentType type;
  std::string_view in_docs;  // as COMMAND DOCS names it
  std::string_view in_text;  // as rows write it; empty if rows do not write it
};

constexpr ArgumentTypeName kTypeNames[] = {
    {ArgumentType::kString, "string", ""},
    {ArgumentType::kInteger, "integer", "int"},
    {ArgumentType::kDouble, "double", "double"},
    {ArgumentType::kUnixTime, "unix-time", "time"},
    {ArgumentType::kPattern, "pattern", "pattern"},
    {ArgumentType::kKey, "key", "key"},
    {ArgumentType::kPureToken, "pure-token", ""},
    {ArgumentType::kOneOf, "oneof", ""},
    {ArgumentType::kBlock, "block", ""},
};

bool IsNameByte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return absl::ascii_isalnum(byte) || c == '-' || c == '_' || c == '/';
}

bool IsVersionByte(char c) {
  return absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '.';
}

bool IsToken(std::string_view word) {
  const auto is_upper = [](char c) { return absl::ascii_isupper(static_cast<unsigned char>(c)); };
  const auto is_lower = [](char c) { return absl::ascii_islower(static_cast<unsigned char>(c)); };
  return std::any_of(word.begin(), word.end(), is_upper) &&
         std::none_of(word.begin(), word.end(), is_lower);
}

// Each Read… function removes what it reads from the front of the text. It returns false if the
// text is not what it expects.
class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  bool ReadAll(Arguments& arguments) {
    while (SkipBlanks(), !rest_.empty() && rest_.front() != ')') {
      if (!ReadArgument(arguments.emplace_back())) return false;
    }
    return true;
  }
  bool done() const { return rest_.empty(); }

 private:
  bool Take(std::string_view what) {
    if (!rest_.starts_with(what)) return false;
    rest_.remove_prefix(what.size());
    return true;
  }

  void SkipBlanks() {
    while (Take(" ")) {
    }
  }

  template <typename Belongs>
  std::string_view TakeWhile(Belongs belongs) {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), belongs);
    const auto taken = rest_.substr(0, static_cast<size_t>(end - rest_.begin()));
    rest_.remove_prefix(taken.size());
    return taken;
  }

  bool ReadArgument(Argument& argument) {
    const bool optional = Take("[");
    SkipBlanks();
    if (!ReadWords(argument)) return false;
    if (argument.type == ArgumentType::kOneOf && !ReadAlternatives(argument.arguments))
      return false;
    if (argument.type == ArgumentType::kBlock &&
        (!ReadAll(argument.arguments) || argument.arguments.empty() || !Take(")"))) {
      return false;
    }
    SkipBlanks();  // a version ends there
    argument.multiple |= Take("...");
    argument.optional = optional;
    SkipBlanks();
    return !optional || Take("]");
  }

  // Reads an argument up to its first bracket; the caller reads what is in the brackets.
  bool ReadWords(Argument& argument) {
    const std::string_view word = TakeWhile(IsNameByte);
    if (!IsToken(word)) return ReadValue(word, argument);
    argument.token = word;
    argument.multiple_token = argument.multiple = Take("...");
    if (rest_.starts_with(' ')) {
      SkipBlanks();
      if (ValueFollows()) return ReadValue(TakeWhile(IsNameByte), argument);
    }
    argument.type = ArgumentType::kPureToken;
    argument.name = absl::AsciiStrToLower({word.data(), word.size()});
    return !argument.multiple_token && ReadVersions(argument);
  }

  // Whether a value follows, and not another word or the end.
  bool ValueFollows() const {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), IsNameByte);
    const std::string_view word(rest_.begin(), end);
    return rest_.starts_with('\'') || (!word.empty() && !IsToken(word));
  }

  bool ReadValue(std::string_view name, Argument& argument) {
    if (name.empty() && Take("'")) {
      name = TakeWhile([](char c) { return c != '\''; });
      if (!Take("'")) return false;
    }
    argument.name = name;
    if (name.empty()) return false;
    if (Take("=")) {
      if (argument.token) return false;
      argument.token = TakeWhile(IsNameByte);
      argument.type = ArgumentType::kPureToken;
      return ReadVersions(argument);
    }
    if (!ReadType(argument) || !ReadVersions(argument)) return false;
    if (argument.type != ArgumentType::kString) return true;
    if (Take("<")) argument.type = ArgumentType::kOneOf;
    if (Take("(")) argument.type = ArgumentType::kBlock;
    return true;
  }

  bool ReadType(Argument& argument) {
    if (Take(":")) {
      const std::string_view text = TakeWhile(IsNameByte);
      const auto* name =
          std::find_if(std::begin(kTypeNames), std::end(kTypeNames),
                       [&](const ArgumentTypeName& one) { return one.in_text == text; });
      if (text.empty() || name == std::end(kTypeNames)) return false;
      argument.type = name->type;
    }
    if (!Take("#")) return true;
    if (argument.type == ArgumentType::kString) argument.type = ArgumentType::kKey;
    if (rest_.empty() || !absl::ascii_isdigit(static_cast<unsigned char>(rest_.front())))
      return false;
    argument.key_spec = rest_.front() - '0';
    rest_.remove_prefix(1);
    return true;
  }

  bool ReadVersions(Argument& argument) {
    if (Take("@") && (argument.since = TakeWhile(IsVersionByte)).empty()) return false;
    return !Take("!") || !(argument.deprecated_since = TakeWhile(IsVersionByte)).empty();
  }

  bool ReadAlternatives(Arguments& alternatives) {
    do {
      SkipBlanks();
      if (!ReadArgument(alternatives.emplace_back())) return false;
      SkipBlanks();
    } while (Take("|"));
    return Take(">");
  }

  std::string_view rest_;
};

void AppendUsage(std::string& out, const Argument& argument);

void AppendUsages(std::string& out, const Arguments& arguments, std::string_view between) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (i > 0) out += between;
    AppendUsage(out, arguments[i]);
  }
}

// Appends one occurrence of the argument, without the marks for optional and repeated.
void AppendOnce(std::string& out, const Argument& argument) {
  switch (argument.type) {
    case ArgumentType::kPureToken:
      return StrAppend(out, *argument.token);
    case ArgumentType::kBlock:
      return AppendUsages(out, argument.arguments, " ");
    case ArgumentType::kOneOf: {
      // The brackets of an optional argument also show where its alternatives end.
      const bool bracketed = argument.optional && !argument.token && !argument.multiple;
      if (!bracketed) out += '<';
      AppendUsages(out, argument.arguments, " | ");
      if (!bracketed) out += '>';
      return;
    }
    default:
      out += argument.name;
  }
}

void AppendUsage(std::string& out, const Argument& argument) {
  if (argument.optional) out += '[';
  if (argument.token && argument.type != ArgumentType::kPureToken) {
    StrAppend(out, *argument.token, ' ');
  }
  AppendOnce(out, argument);
  if (argument.multiple_token) {
    out += " ...";
  } else if (argument.multiple) {
    out += " [";
    AppendOnce(out, argument);
    out += " ...]";
  }
  if (argument.optional) out += ']';
}

void ReplyFlags(ReplyBuilder& reply, const Argument& argument) {
  reply.Bulk("flags");
  reply.Set(static_cast<size_t>(argument.optional) + static_cast<size_t>(argument.multiple) +
            static_cast<size_t>(argument.multiple_token));
  if (argument.optional) reply.Status("optional");
  if (argument.multiple) reply.Status("multiple");
  if (argument.multiple_token) reply.Status("multiple_token");
}

void ReplyArgument(ReplyBuilder& reply, const Argument& argument) {
  const auto* type =
      std::find_if(std::begin(kTypeNames), std::end(kTypeNames),
                   [&](const ArgumentTypeName& one) { return one.type == argument.type; });
  const size_t mark = reply.BeginMap();
  size_t fields = 0;
  const auto text = [&](std::string_view name, std::string_view value) {
    reply.Bulk(name);
    reply.Bulk(value);
    ++fields;
  };
  text("name", argument.name);
  text("type", type->in_docs);
  if (argument.key_spec >= 0) {
    reply.Bulk("key_spec_index");
    reply.Integer(argument.key_spec);
    ++fields;
  }
  if (argument.token) text("token", *argument.token);
  if (!argument.since.empty()) text("since", argument.since);
  if (!argument.deprecated_since.empty()) text("deprecated_since", argument.deprecated_since);
  if (argument.optional || argument.multiple) {
    ReplyFlags(reply, argument);
    ++fields;
  }
  if (!argument.arguments.empty()) {
    reply.Bulk("arguments");
    ReplyArguments(reply, argument.arguments);
    ++fields;
  }
  reply.EndMap(mark, fields);
}

}  // namespace

std::optional<Arguments> ParseArguments(std::string_view text) {
  Parser parser(text);
  Arguments arguments;
  if (!parser.ReadAll(arguments) || !parser.done()) return std::nullopt;
  return arguments;
}

Arguments ArgumentsOf(const Command& command) {
  auto arguments = ParseArguments(command.arguments);
  Check(arguments.has_value(), "a row's arguments are well formed");
  return *std::move(arguments);
}

std::string UsageOf(const Arguments& arguments) {
  std::string usage;
  AppendUsages(usage, arguments, " ");
  return usage;
}

void ReplyArguments(ReplyBuilder& reply, const Arguments& arguments) {
  reply.Array(arguments.size());
  for (const Argument& argument : arguments) ReplyArgument(reply, argument);
}

}  // namespace tally::server
