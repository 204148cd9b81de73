// ACL LOG: calls that were denied, and logins that failed.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace tally::server {

class AclLog {
 public:
  struct Entry {
    std::string_view reason;  // command, key, channel, auth
    std::string_view place;   // toplevel, multi, lua
    std::string object;
    std::string user;
    std::string client;      // as CLIENT INFO
    int64_t created_ms = 0;  // unix ms; of the last of those counted
    uint64_t count = 1;
  };

  // The same again within a minute is counted, not added, if it is among the newest; the oldest
  // goes when there are too many.
  void Add(Entry entry, size_t max_entries);
  // The newest first.
  const std::deque<Entry>& entries() const { return entries_; }
  void Clear() { entries_.clear(); }

 private:
  std::deque<Entry> entries_;
};

}  // namespace tally::server
