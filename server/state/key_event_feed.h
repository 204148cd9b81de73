// Passes the key events that commands report to the clients that watch or track keys, and to the
// subscribers of keyspace notifications.
#pragma once

#include <cstdint>
#include <string_view>

#include "server/command/key_events.h"
#include "server/state/key_tracking.h"
#include "server/state/pubsub.h"
#include "server/state/watch_list.h"

namespace tally::server {

class KeyEventFeed final : public KeyEvents {
 public:
  KeyEventFeed(WatchList& watches, KeyTracking& tracking, PubSub& pubsub)
      : watches_(watches), tracking_(tracking), pubsub_(pubsub) {}

  void set_classes(uint32_t classes) { classes_ = classes; }
  bool wants(uint32_t event_class) const { return (classes_ & event_class) != 0; }

  void Changed(uint32_t event_class, std::string_view event, size_t database,
               std::string_view key) override {
    Touched(database, key);
    Notify(event_class, event, database, key);
  }
  void Touched(size_t database, std::string_view key) override {
    if (!watches_.empty()) watches_.Touch(database, key);
    if (tracking_.active()) [[unlikely]]
      tracking_.Changed(key);
  }
  void Notify(uint32_t event_class, std::string_view event, size_t database,
              std::string_view key) override {
    if (wants(event_class)) Publish(event, database, key);
  }
  // The key is removed because its deadline has passed.
  void Expired(size_t database, std::string_view key) {
    if (!watches_.empty()) watches_.TouchExpired(database, key);
    if (tracking_.active()) [[unlikely]]
      tracking_.ChangedByServer(key);
    Notify(kEventExpired, "expired", database, key);
  }
  // The key was removed to make room.
  void Evicted(size_t database, std::string_view key) {
    if (!watches_.empty()) watches_.Touch(database, key);
    if (tracking_.active()) [[unlikely]]
      tracking_.ChangedByServer(key);
    Notify(kEventEvicted, "evicted", database, key);
  }

 private:
  void Publish(std::string_view event, size_t database, std::string_view key);

  WatchList& watches_;
  KeyTracking& tracking_;
  PubSub& pubsub_;
  uint32_t classes_ = 0;
};

}  // namespace tally::server
