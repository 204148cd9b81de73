#include "server/state/key_event_feed.h"

#include "core/bytes/str_cat.h"

namespace tally::server {
void KeyEventFeed::Publish(std::string_view event, size_t database, std::string_view key) {
  if (pubsub_.idle()) return;
  if ((classes_ & kEventKeyspace) != 0) {
    pubsub_.Publish(StrCat("__keyspace@", database, "__:", key), event);
  }
  if ((classes_ & kEventKeyevent) != 0) {
    pubsub_.Publish(StrCat("__keyevent@", database, "__:", event), key);
  }
}

}  // namespace tally::server
