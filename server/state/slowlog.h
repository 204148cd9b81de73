// SLOWLOG and LATENCY: what took long, kept in short lists.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "server/command/command.h"
#include "server/state/client.h"

namespace tally::server {

class Slowlog {
 public:
  struct Entry {
    uint64_t id;
    int64_t unix_s;
    int64_t micros;
    std::vector<std::string> args;  // shortened as Redis does: 32 arguments of 128 bytes
    std::string address;
    std::string name;
  };

  void Add(const Client& client, Args args, int64_t unix_s, int64_t micros, size_t max_entries);
  // The newest first.
  const std::deque<Entry>& entries() const { return entries_; }
  void Clear() { entries_.clear(); }

 private:
  uint64_t next_id_ = 0;
  std::deque<Entry> entries_;
};

class LatencyLog {
 public:
  struct Sample {
    int64_t unix_s;
    int64_t ms;
  };
  struct Event {
    std::deque<Sample> samples;  // the oldest first, one a second at most
    int64_t max_ms = 0;
  };

  void Add(std::string_view event, int64_t unix_s, int64_t ms);
  const std::map<std::string, Event, std::less<>>& events() const { return events_; }
  bool Reset(std::string_view event) { return events_.erase(std::string(event)) > 0; }
  size_t ResetAll();

 private:
  std::map<std::string, Event, std::less<>> events_;
};

}  // namespace tally::server
