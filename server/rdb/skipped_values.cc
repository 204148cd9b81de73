#include "server/rdb/skipped_values.h"

#include "core/bytes/printable.h"
#include "core/bytes/str_cat.h"

namespace tally::rdb {
namespace {

// A longer name is cut: it is for a line of the log.
constexpr size_t kMostNameBytes = 100;

}  // namespace

void SkippedValues::Add(std::string_view kind, uint64_t database, std::string_view name) {
  Kind& found = kinds_[std::string(kind)];
  ++found.count;
  if (found.names.size() == kMostNames) return;
  std::string shown;
  if (database != 0) StrAppend(shown, "db", database, ":");
  shown += Printable(name.substr(0, kMostNameBytes));
  if (name.size() > kMostNameBytes) shown += "...";
  found.names.push_back(std::move(shown));
}

void SkippedValues::ForEachLine(absl::FunctionRef<void(std::string_view line)> visit) const {
  for (const auto& [name, kind] : kinds_) {
    std::string line = StrCat(name, ": ", kind.count, ": ");
    const char* separator = "";
    for (const std::string& key : kind.names) {
      StrAppend(line, separator, key);
      separator = ", ";
    }
    if (kind.count > kind.names.size()) line += ", ...";
    visit(line);
  }
}

}  // namespace tally::rdb
