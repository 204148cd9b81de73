// SORT: sorts the elements of lists, sets and sorted sets, and looks up values at other keys for
// them.
#include <algorithm>
#include <cstring>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/bytes/double_format.h"
#include "core/bytes/str_cat.h"
#include "core/engine/scratch.h"
#include "core/hash/hash.h"
#include "core/list/list.h"
#include "core/set/set.h"
#include "core/zset/zset.h"
#include "server/command/command_context.h"
#include "server/commands/command_value.h"
#include "server/commands/families.h"
#include "server/commands/list_value.h"
#include "server/commands/string_value.h"

namespace tally::server {
namespace {

struct SortOptions {
  std::optional<std::string_view> by;
  bool sorts = true;  // false: a BY without a star keeps the order as it is
  bool descending = false;
  bool as_text = false;
  int64_t offset = 0;
  int64_t count = -1;
  std::vector<std::string_view> gets;
  std::optional<std::string_view> target;
};

struct Element {
  std::string_view text;
  std::optional<std::string_view> weight;  // sort key for ALPHA, if it is not the text
  double score = 0;                        // sort key without ALPHA
};

// The elements, and the memory that holds their texts and weights. Elements have views of it,
// because a million of them are sorted faster as views.
struct Elements {
  std::string_view Keep(std::string_view text) {
    if (text.empty()) return {};
    char* const kept = static_cast<char*>(memory.allocate(text.size(), 1));
    std::memcpy(kept, text.data(), text.size());
    return {kept, text.size()};
  }

  std::pmr::monotonic_buffer_resource memory;
  std::vector<Element> all;
};

// False after an error reply.
bool MayLookElsewhere(CommandContext& context, std::string_view option) {
  if (context.MayReadEveryKey()) return true;
  context.reply.Error(
      StrCat("ERR ", option, " option of SORT denied due to insufficient ACL permissions."));
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
    // As in Redis also for GET #, which looks at nothing else.
    return MayLookElsewhere(context, "GET");
  } else {
    context.reply.Error(kSyntaxError);
    return false;
  }
  return true;
}

// Returns the value that a pattern names for an element: `#` is the element itself, `a*b` the
// string at that key with the element in place of the star, and `a*b->field` the field of the hash
// at that key. Returns nothing if there is no such value.
std::optional<std::string> LookUp(CommandContext& context, std::string_view pattern,
                                  std::string_view element) {
  if (pattern == "#") return std::string(element);
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
  CommandValue<Hash> hash(context.engine().scratch().hash);
  hash.Take(entry);
  const auto value = hash->Find(pattern.substr(end + 2));
  return value ? std::optional(std::string(value->text().view())) : std::nullopt;
}

// Reads the elements of the key in their own order. Returns false after replying WRONGTYPE.
bool ReadElements(CommandContext& context, SortOptions& options, Elements& elements) {
  const auto add = [&](std::string_view text) {
    elements.all.push_back({elements.Keep(text), std::nullopt, 0});
    return true;
  };
  const Keyspace::Entry entry = context.Find(context.args[1]);
  if (!entry) return true;
  if (entry.type() == Type::kList) {
    const List& list = entry.heap<List>();
    elements.all.reserve(list.size());
    list.ForEach(0, list.size(), add);
    if (!options.sorts && options.descending) {
      std::reverse(elements.all.begin(), elements.all.end());
    }
  } else if (entry.type() == Type::kSet) {
    entry.heap<Set>().ForEach(add);
    // A set has no order of its own, but a replay of the log must store the same list, and a script
    // find the same one each time.
    if (!options.sorts && (options.target || context.InScript())) {
      options.sorts = options.as_text = true;
      options.by = std::nullopt;
    }
  } else if (entry.type() == Type::kZSet) {
    const ZSet& set = entry.heap<ZSet>();
    set.ForEach({0, set.size()}, !options.sorts && options.descending,
                [&](std::string_view member, double) { return add(member); });
  } else {
    context.reply.Error(kWrongTypeError);
    return false;
  }
  return true;
}

// Returns the number as strtod reads it, where an empty text is 0; nothing if the text is no
// number.
std::optional<double> ScoreOf(std::string_view text) {
  if (const auto number = ParseInt64(text)) return static_cast<double>(*number);
  text = text.substr(0, text.find('\0'));
  const size_t begin = text.find_first_not_of(" \t\n\v\f\r");
  return text.empty() ? 0 : ParseDouble(text.substr(std::min(begin, text.size())));
}

// Sets what each element is sorted by. Returns false after replying that a weight is no number.
bool Weigh(CommandContext& context, const SortOptions& options, Elements& elements) {
  if (options.as_text && !options.by) return true;
  for (Element& element : elements.all) {
    std::optional<std::string> found;
    if (options.by) {
      found = LookUp(context, *options.by, element.text);
      if (!found) continue;  // comes before all texts, and is 0 as a number
    }
    if (options.as_text) {
      element.weight = elements.Keep(*found);
      continue;
    }
    const auto score = ScoreOf(found ? std::string_view(*found) : element.text);
    if (!score) {
      context.reply.Error("ERR One or more scores can't be converted into double");
      return false;
    }
    element.score = *score;
  }
  return true;
}

// Returns the part of the elements that LIMIT asks for.
std::span<Element> Limited(const SortOptions& options, std::vector<Element>& elements) {
  const auto size = static_cast<int64_t>(elements.size());
  const int64_t from = std::clamp<int64_t>(options.offset, 0, size);
  const int64_t most = size - from;
  const int64_t count = options.count < 0 ? most : std::min(options.count, most);
  return std::span(elements).subspan(static_cast<size_t>(from), static_cast<size_t>(count));
}

bool Precedes(const Element& a, const Element& b) {
  if (a.score != b.score) return a.score < b.score;
  if (a.weight != b.weight) return a.weight < b.weight;
  // Ties are ordered by text, so that a replay of the log stores the same list, whatever order a
  // set gives its elements in.
  return a.text < b.text;
}

// Sorts only as much of `elements` as is needed to have the right ones in `wanted`, in order.
// `wanted` is a part of `elements`.
template <typename Less>
void OrderPart(std::vector<Element>& elements, std::span<Element> wanted, Less&& less) {
  Element* const begin = elements.data();
  Element* const end = begin + elements.size();
  Element* const first = wanted.data();
  Element* const last = first + wanted.size();
  if (first == last) return;
  if (last != end) std::nth_element(begin, last, end, less);
  if (first != begin) std::nth_element(begin, first, last, less);
  std::sort(first, last, less);
}

void Order(const SortOptions& options, std::vector<Element>& elements, std::span<Element> wanted) {
  if (options.descending) {
    OrderPart(elements, wanted, [](const Element& a, const Element& b) { return Precedes(b, a); });
  } else {
    OrderPart(elements, wanted, Precedes);
  }
}

// Calls give(std::optional<std::string_view>) for each element: once with the element, or once for
// each GET with the value of its pattern.
template <typename Give>
void ForEachValue(CommandContext& context, const SortOptions& options,
                  std::span<const Element> elements, Give&& give) {
  for (const Element& element : elements) {
    if (options.gets.empty()) give(std::optional(element.text));
    for (const std::string_view pattern : options.gets) {
      const std::optional<std::string> value = LookUp(context, pattern, element.text);
      give(value ? std::optional<std::string_view>(*value) : std::nullopt);
    }
  }
}

void Reply(CommandContext& context, const SortOptions& options, std::span<const Element> elements) {
  context.reply.Array(elements.size() * std::max<size_t>(options.gets.size(), 1));
  ForEachValue(context, options, elements, [&](std::optional<std::string_view> value) {
    value ? context.reply.Bulk(*value) : context.reply.Null();
  });
}

// Stores the values as a list at the target; an absent value becomes an empty element.
void Store(CommandContext& context, const SortOptions& options, std::span<const Element> elements) {
  const std::string_view target = *options.target;
  // The patterns may name the target, so it is overwritten only after all lookups.
  List stored;
  ForEachValue(context, options, elements, [&](std::optional<std::string_view> value) {
    stored.PushBack(value.value_or(std::string_view()));
  });
  context.reply.Integer(static_cast<int64_t>(stored.size()));
  if (stored.empty()) {
    if (const Keyspace::Entry old = context.FindForWrite(target)) context.Remove(old);
    return;
  }
  CreateList(context, target) = std::move(stored);
  context.Changed(kEventList, "sortstore", target);
}

void SortKey(CommandContext& context, bool may_store) {
  SortOptions options;
  for (size_t i = 2; i < context.args.size(); ++i) {
    if (!ReadOption(context, may_store, i, options)) return;
  }
  Elements elements;
  if (!ReadElements(context, options, elements)) return;
  if (options.sorts && !Weigh(context, options, elements)) return;
  const std::span<Element> wanted = Limited(options, elements.all);
  if (options.sorts) Order(options, elements.all, wanted);
  options.target ? Store(context, options, wanted) : Reply(context, options, wanted);
}

void Sort(CommandContext& context) { SortKey(context, true); }

void SortRo(CommandContext& context) { SortKey(context, false); }

bool FindSortKeys(Args args, std::vector<KeyReference>& keys) {
  keys.push_back({1});
  size_t target = 0;  // of several STORE the last counts
  for (size_t i = 2; i + 1 < args.size(); ++i) {
    if (IsWord(args[i], "limit")) {
      i += 2;
    } else if (IsWord(args[i], "by") || IsWord(args[i], "get")) {
      ++i;
    } else if (IsWord(args[i], "store")) {
      target = ++i;
    }
  }
  if (target != 0) keys.push_back({target});
  return true;
}

bool FindSortedKey(Args, std::vector<KeyReference>& keys) {
  keys.push_back({1});
  return true;
}

constexpr uint32_t kAnyCollection = kMovableKeys | kDangerous | kCollections;

constexpr Command kSortCommands[] = {
    {.name = "sort",
     .handler = Sort,
     .arity = -2,
     .flags = kStores | kAnyCollection,
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

std::span<const Command> SortCommands() { return kSortCommands; }

}  // namespace tally::server
