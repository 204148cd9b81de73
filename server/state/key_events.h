// What follows from a changed key beside the change itself: WATCH and keyspace notifications.
#pragma once

#include <cstdint>
#include <string_view>

#include "server/config/event_classes.h"
#include "server/state/pubsub.h"
#include "server/state/watch_list.h"

namespace tally::server {

class KeyEvents {
 public:
  KeyEvents(WatchList& watches, PubSub& pubsub) : watches_(watches), pubsub_(pubsub) {}

  void set_classes(uint32_t classes) { classes_ = classes; }
  bool wants(uint32_t event_class) const { return (classes_ & event_class) != 0; }

  // The key's value or deadline has changed.
  void Changed(uint32_t event_class, std::string_view event, size_t database,
               std::string_view key) {
    if (!watches_.empty()) watches_.Touch(database, key);
    if (wants(event_class)) Publish(event, database, key);
  }
  // The key is removed because its deadline has passed.
  void Expired(size_t database, std::string_view key) {
    if (!watches_.empty()) watches_.TouchExpired(database, key);
    Notify(kEventExpired, "expired", database, key);
  }
  // Something happened to the key that is no change (a miss, a new key).
  void Notify(uint32_t event_class, std::string_view event, size_t database, std::string_view key) {
    if (wants(event_class)) Publish(event, database, key);
  }

 private:
  void Publish(std::string_view event, size_t database, std::string_view key);

  WatchList& watches_;
  PubSub& pubsub_;
  uint32_t classes_ = 0;
};

}  // namespace tally::server
