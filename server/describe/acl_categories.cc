#include "server/describe/acl_categories.h"

#include <algorithm>

#include "server/command/command_context.h"

namespace tally::server {
namespace {

// The categories of Redis. The categories of tallyd's own families come after them.
constexpr std::string_view kRedisCategories[] = {
    "keyspace", "read",   "write",       "set",       "sortedset",  "list",        "hash",
    "string",   "bitmap", "hyperloglog", "geo",       "stream",     "pubsub",      "admin",
    "fast",     "slow",   "blocking",    "dangerous", "connection", "transaction", "scripting"};

bool IsRedisCategory(std::string_view category) {
  return std::find(std::begin(kRedisCategories), std::end(kRedisCategories), category) !=
         std::end(kRedisCategories);
}

// `category` must be in lower case.
bool Has(const CommandEntry& entry, std::string_view category) {
  const uint32_t flags = entry.command->flags;
  const auto any = [&](uint32_t wanted) { return (flags & wanted) != 0; };
  const bool is_container = entry.command->handler == nullptr;
  if (!is_container && category == entry.family->category) return true;
  if (category == "keyspace") return any(kKeyspaceCategory);
  if (category == "list" || category == "set" || category == "sortedset") {
    return any(kCollections);
  }
  if (category == "read") return any(kReadOnly) && entry.family->category != "scripting";
  if (category == "write") return any(kWrite);
  if (category == "pubsub") return any(kPubSub);
  if (category == "admin") return any(kAdmin);
  if (category == "fast") return any(kFast);
  if (category == "slow") return !any(kFast);
  if (category == "blocking") return any(kBlocking);
  if (category == "dangerous") return any(kDangerous | kAdmin);
  return false;
}

}  // namespace

std::vector<std::string_view> CategoriesOf(const CommandEntry& entry) {
  std::vector<std::string_view> categories;
  for (const std::string_view category : kRedisCategories) {
    if (Has(entry, category)) categories.push_back(category);
  }
  const std::string_view own = entry.family->category;
  if (!own.empty() && !IsRedisCategory(own) && Has(entry, own)) categories.push_back(own);
  return categories;
}

bool HasCategory(const CommandEntry& entry, std::string_view category) {
  const auto categories = CategoriesOf(entry);
  return std::any_of(categories.begin(), categories.end(),
                     [&](std::string_view one) { return IsWord(category, one); });
}

std::vector<std::string_view> AllCategories(const CommandTable& table) {
  std::vector<std::string_view> categories(std::begin(kRedisCategories),
                                           std::end(kRedisCategories));
  for (const CommandFamily& family : table.families()) {
    if (family.category.empty()) continue;
    if (std::find(categories.begin(), categories.end(), family.category) == categories.end()) {
      categories.push_back(family.category);
    }
  }
  return categories;
}

}  // namespace tally::server
