// SORT: lists, sets and sorted sets in another order, and what stands elsewhere for their elements.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/bytes/double_format.h"
#include "core/bytes/str_cat.h"
#include "core/hash/hash.h"
#include "core/list/list.h"
#include "core/set/set.h"
#include "core/zset/zset.h"
#include "server/acl/acl_check.h"
#include "server/command/command_context.h"
#include "server/command/compact_value.h"
#include "server/command/list_value.h"
#include "server/command/string_value.h"
#include "server/commands/families.h"

namespace tally::server {
namespace {

struct SortOptions {
  std::optional<std::string_view> by;
  bool sorts = true;  // a BY without a star leaves the order as it is
  bool descending = false;
  bool as_text = false;
  int64_t offset = 0;
  int64_t count = -1;
  std::vector<std::string_view> gets;
  std::optional<std::string_view> target;
};

using Text = std::optional<std::string>;

struct Element {
  std::string text;
  double score = 0;
  Text weight;
};

// False after an error reply.
bool MayLookElsewhere(CommandContext& context, std::string_view option) {
  const ReadRights rights(context.client.acl.get(), context.item, context.args);
  if (rights.MayReadEveryKey()) return true;
  context.reply.Error(
      StrCat("ERR ", option, " option of SORT denied due to insufficient ACL permissions"));
  return false;
}

// Reads the option at `i`, and moves `i` to its last word. False after an error reply.
bool ReadOption(CommandContext& context, bool may_store, size_t& i, SortOptions& options) {
  const Args args = context.args;
  const size_t left = args.size() - 1 - i;
  if (IsWord(args[i], "asc") || IsWord(args[i], "desc")) {
    options.descending = IsWord(args[i], "desc");
  } else if (IsWord(args[i], "alpha")) {
    options.as_text = true;
  } else if (IsWord(args[i], "limit") && left >= 2) {
    const auto offset = context.Int64Arg(i + 1);
    const auto count = offset ? context.Int64Arg(i + 2) : std::nullopt;
    if (!count) return false;
    options.offset = *offset;
    options.count = *count;
    i += 2;
  } else if (may_store && IsWord(args[i], "store") && left >= 1) {
    options.target = args[++i];
  } else if (IsWord(args[i], "by") && left >= 1) {
    options.by = args[++i];
    options.sorts = options.by->find('*') != std::string_view::npos;
    return !options.sorts || MayLookElsewhere(context, "BY");
  } else if (IsWord(args[i], "get") && left >= 1) {
    options.gets.push_back(args[++i]);
    return args[i] == "#" || MayLookElsewhere(context, "GET");
  } else {
    context.reply.Error(kSyntaxError);
    return false;
  }
  return true;
}

// What stands at the pattern for an element: `#` is itself, `a*b` the string at that key, and
// `a*b->field` the field of the hash there.
Text LookUp(CommandContext& context, std::string_view pattern, const std::string& element) {
  if (pattern == "#") return element;
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return std::nullopt;
  size_t end = pattern.find("->", star + 1);
  if (end == std::string_view::npos || end + 2 == pattern.size()) end = pattern.size();
  const std::string key =
      StrCat(pattern.substr(0, star), element, pattern.substr(star + 1, end - star - 1));
  const Keyspace::Entry entry = context.Find(key);
  if (end == pattern.size()) {
    if (!entry || entry.type() != Type::kString) return std::nullopt;
    return std::string(StringText(entry).view());
  }
  if (!entry || entry.type() != Type::kHash) return std::nullopt;
  CompactValue<Hash> hash(context.server.scratch.hash);
  hash.Take(entry);
  const auto value = hash->Find(pattern.substr(end + 2));
  return value ? Text(std::string(value->text().view())) : std::nullopt;
}

// The elements of the key in their own order. Null after replying WRONGTYPE.
std::optional<std::vector<Element>> ReadElements(CommandContext& context, SortOptions& options) {
  std::vector<Element> elements;
  const auto add = [&](std::string_view text) {
    elements.push_back({std::string(text), 0, std::nullopt});
    return true;
  };
  const Keyspace::Entry entry = context.Find(context.args[1]);
  if (!entry) return elements;
  if (entry.type() == Type::kList) {
    const List& list = entry.heap<List>();
    list.ForEach(0, list.size(), add);
    if (!options.sorts && options.descending) std::reverse(elements.begin(), elements.end());
  } else if (entry.type() == Type::kSet) {
    entry.heap<Set>().ForEach(add);
    // Sets have no order of their own, and what is stored has to come out the same of the log.
    if (!options.sorts && options.target) {
      options.sorts = options.as_text = true;
      options.by = std::nullopt;
    }
  } else if (entry.type() == Type::kZSet) {
    const ZSet& set = entry.heap<ZSet>();
    set.ForEach({0, set.size()}, !options.sorts && options.descending,
                [&](std::string_view member, double) { return add(member); });
  } else {
    context.reply.Error(kWrongTypeError);
    return std::nullopt;
  }
  return elements;
}

// As strtod reads it: nothing at all is 0.
std::optional<double> ScoreOf(std::string_view text) {
  text = text.substr(0, text.find('\0'));
  const size_t begin = text.find_first_not_of(" \t\n\v\f\r");
  return text.empty() ? 0 : ParseDouble(text.substr(std::min(begin, text.size())));
}

// False after replying that a weight is no number.
bool Weigh(CommandContext& context, const SortOptions& options, std::vector<Element>& elements) {
  for (Element& element : elements) {
    Text weight = options.by ? LookUp(context, *options.by, element.text) : element.text;
    if (!weight) continue;  // comes before all texts, and is 0 as a number
    if (options.as_text) {
      element.weight = std::move(weight);
      continue;
    }
    const auto score = ScoreOf(*weight);
    if (!score) {
      context.reply.Error("ERR One or more scores can't be converted into double");
      return false;
    }
    element.score = *score;
  }
  return true;
}

void Order(const SortOptions& options, std::vector<Element>& elements) {
  const auto precedes = [&](const Element& a, const Element& b) {
    const Element& first = options.descending ? b : a;
    const Element& second = options.descending ? a : b;
    if (first.weight != second.weight) return first.weight < second.weight;
    if (first.score != second.score) return first.score < second.score;
    // Whatever order a set gives its elements in, what is stored comes out the same of the log.
    return first.text < second.text;
  };
  std::sort(elements.begin(), elements.end(), precedes);
}

// Keeps what LIMIT asks for.
void Cut(const SortOptions& options, std::vector<Element>& elements) {
  const auto size = static_cast<int64_t>(elements.size());
  const int64_t from = std::clamp<int64_t>(options.offset, 0, size);
  const int64_t most = size - from;
  const int64_t count = options.count < 0 ? most : std::min(options.count, most);
  elements.erase(elements.begin() + from + count, elements.end());
  elements.erase(elements.begin(), elements.begin() + from);
}

// One value for each element, or as many as there are GETs.
std::vector<Text> Values(CommandContext& context, const SortOptions& options,
                         std::vector<Element> elements) {
  std::vector<Text> values;
  for (Element& element : elements) {
    for (const std::string_view pattern : options.gets) {
      values.push_back(LookUp(context, pattern, element.text));
    }
    if (options.gets.empty()) values.emplace_back(std::move(element.text));
  }
  return values;
}

void Reply(ReplyBuilder& reply, const std::vector<Text>& values) {
  reply.Array(values.size());
  for (const Text& value : values) {
    if (value) {
      reply.Bulk(*value);
    } else {
      reply.Null();
    }
  }
}

// What is absent is stored as an empty element.
void Store(CommandContext& context, std::string_view target, const std::vector<Text>& values) {
  context.reply.Integer(static_cast<int64_t>(values.size()));
  if (values.empty()) {
    if (const Keyspace::Entry old = context.FindForWrite(target)) context.Remove(old);
    return;
  }
  List& list = CreateList(context, target);
  for (const Text& value : values) list.PushBack(value ? std::string_view(*value) : "");
  context.Changed(kEventList, "sortstore", target);
}

void SortKey(CommandContext& context, bool may_store) {
  SortOptions options;
  for (size_t i = 2; i < context.args.size(); ++i) {
    if (!ReadOption(context, may_store, i, options)) return;
  }
  auto elements = ReadElements(context, options);
  if (!elements) return;
  if (options.sorts) {
    if (!Weigh(context, options, *elements)) return;
    Order(options, *elements);
  }
  Cut(options, *elements);
  const std::vector<Text> values = Values(context, options, std::move(*elements));
  if (options.target) return Store(context, *options.target, values);
  Reply(context.reply, values);
}

void Sort(CommandContext& context) { SortKey(context, true); }

void SortRo(CommandContext& context) { SortKey(context, false); }

bool FindSortKeys(Args args, std::vector<KeyReference>& keys) {
  keys.push_back({1});
  for (size_t i = 2; i + 1 < args.size(); ++i) {
    if (IsWord(args[i], "limit")) {
      i += 2;
    } else if (IsWord(args[i], "by") || IsWord(args[i], "get")) {
      ++i;
    } else if (IsWord(args[i], "store")) {
      keys.push_back({++i});
    }
  }
  return true;
}

bool FindSortedKey(Args, std::vector<KeyReference>& keys) {
  keys.push_back({1});
  return true;
}

constexpr uint32_t kAnyCollection = kMovableKeys | kDangerous | kCollections;

constexpr Command kCommands[] = {
    {.name = "sort",
     .handler = Sort,
     .arity = -2,
     .flags = kWrite | kDenyOom | kAnyCollection,
     .keys = {1, 1, 1, kReadsKey, kOverwritesKey},
     .summary =
         "Sorts the elements in a list, a set, or a sorted set, optionally storing the result.",
     .since = "1.0.0",
     .arguments = "key#0 [BY pattern:pattern#1] [LIMIT offset_count(offset:int count:int)] [GET... "
                  "pattern:pattern#1] [order<ASC|DESC>] [sorting=ALPHA] [STORE destination#2]",
     .find_keys = FindSortKeys},
    {.name = "sort_ro",
     .handler = SortRo,
     .arity = -2,
     .flags = kReadOnly | kAnyCollection,
     .keys = OneKey(kReadsKey),
     .summary = "Returns the sorted elements of a list, a set, or a sorted set.",
     .since = "7.0.0",
     .arguments = "key#0 [BY pattern:pattern#1] [LIMIT offset_count(offset:int count:int)] [GET... "
                  "pattern:pattern#1] [order<ASC|DESC>] [sorting=ALPHA]",
     .find_keys = FindSortedKey},
};

}  // namespace

std::span<const Command> SortCommands() { return kCommands; }

}  // namespace tally::server
