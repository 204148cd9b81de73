// What was met in files of Redis that has no type here: how many of each kind, and the names of the
// first ones.
#pragma once

#include <absl/container/btree_map.h>
#include <absl/functional/function_ref.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tally::rdb {

class SkippedValues {
 public:
  static constexpr size_t kMostNames = 10;

  void Add(std::string_view kind, uint64_t database, std::string_view name);
  bool empty() const { return kinds_.empty(); }
  // A line for each kind, without a line end: "stream: 12: a, b, db3:c, ...".
  void ForEachLine(absl::FunctionRef<void(std::string_view line)> visit) const;

 private:
  struct Kind {
    uint64_t count = 0;
    std::vector<std::string> names;
  };

  absl::btree_map<std::string, Kind> kinds_;
};

}  // namespace tally::rdb
