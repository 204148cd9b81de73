// What CLIENT TRACKING has set for a client.
#pragma once

#include <absl/container/btree_set.h>

#include <cstdint>
#include <string>

namespace tally::server {

enum class TrackingMode : uint8_t {
  kEveryRead,  // the keys of each read are remembered
  kOptIn,      // only after CLIENT CACHING YES
  kOptOut,     // not after CLIENT CACHING NO
  kBroadcast,  // nothing is remembered; the client gets every change under its prefixes
};

struct Tracking {
  TrackingMode mode = TrackingMode::kEveryRead;
  bool no_loop = false;          // the client gets no message about its own changes
  bool caching_given = false;    // CLIENT CACHING: the next command is an exception to the mode
  bool redirect_broken = false;  // a message was due when the client of `redirect` was gone
  uint64_t redirect = 0;         // the client that gets the messages; 0: this one
  absl::btree_set<std::string> prefixes = {};  // of kBroadcast
};

}  // namespace tally::server
