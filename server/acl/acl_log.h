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
    std::string_view reason;  // command, key, channel, auth; a string literal
    std::string_view place;   // toplevel, multi, lua; a string literal
    std::string object;
    std::string user;
    std::string client;      // in the form of CLIENT INFO
    int64_t created_ms = 0;  // Clock::elapsed_ms, of the newest event that `count` counts
    uint64_t count = 1;
  };

  // If one of the 10 newest entries is equal and at most a minute old, counts the new one with it
  // and moves it to the front. Otherwise adds an entry. The oldest entries above `max_entries` are
  // removed.
  void Add(Entry entry, size_t max_entries);
  // Newest first.
  const std::deque<Entry>& entries() const { return entries_; }
  void Clear() { entries_.clear(); }

 private:
  std::deque<Entry> entries_;
};

}  // namespace tally::server
