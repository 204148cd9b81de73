#include "server/module/key_event_queue.h"

#include <utility>

#include "server/module/module_api.h"

namespace tally::module {
namespace {

// The server's classes have the same numbers as ours, except the class of modules.
int TypeOf(uint32_t event_class) {
  return event_class == server::kEventModule ? redis::kNotifyModule : static_cast<int>(event_class);
}

}  // namespace

// The names of events are string literals, so data() ends with a zero byte.
void KeyEventQueue::Changed(uint32_t event_class, std::string_view event, size_t,
                            std::string_view key) {
  Add(TypeOf(event_class), event.data(), loan_->NameOf(key), true);
}

void KeyEventQueue::Touched(size_t, std::string_view key) {
  Add(0, nullptr, loan_->NameOf(key), true);
}

void KeyEventQueue::Notify(uint32_t event_class, std::string_view event, size_t,
                           std::string_view key) {
  // The server itself has reported a miss when the key was opened.
  if (event_class == server::kEventKeyMiss) return;
  Add(TypeOf(event_class), event.data(), loan_->NameOf(key), false);
}

void KeyEventQueue::Send(redis::Context* context) {
  const redis::Api& api = redis::Functions();
  if (events_.empty()) return;
  // A listener may call one of our commands, which adds events, while they are sent.
  std::vector<Event> events = std::exchange(events_, {});
  for (const Event& event : events) {
    if (event.changed) api.SignalModifiedKey(context, event.key);
    if (event.name != nullptr) api.NotifyKeyspaceEvent(context, event.type, event.name, event.key);
  }
  // Reuses the memory for later events.
  events.clear();
  if (events_.empty()) events_ = std::move(events);
}

}  // namespace tally::module
