// Collects what a call reports about its keys. It is sent to the server when the call is over and
// the keys have their new values, because listeners may read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "server/command/key_events.h"
#include "server/module/loan.h"
#include "server/module/redis_module.h"

namespace tally::module {

class KeyEventQueue : public server::KeyEvents {
 public:
  // Sets the call's keys; all later reports must be about them. The loan must live until the last.
  void Begin(const Loan& loan) { loan_ = &loan; }
  void Expired(std::string_view key) {
    Add(redis::kNotifyExpired, "expired", loan_->NameOf(key), true);
  }
  // Sends the events to the server, in their order.
  void Send(redis::Context* context);

  // KeyEvents
  void Changed(uint32_t event_class, std::string_view event, size_t database,
               std::string_view key) override;
  void Touched(size_t database, std::string_view key) override;
  void Notify(uint32_t event_class, std::string_view event, size_t database,
              std::string_view key) override;

 private:
  struct Event {
    int type;
    const char* name;  // null: there is no notification
    redis::String* key;
    bool changed;
  };

  void Add(int type, const char* name, redis::String* key, bool changed) {
    if (key != nullptr) events_.push_back({type, name, key, changed});
  }

  const Loan* loan_ = nullptr;
  std::vector<Event> events_;
};

}  // namespace tally::module
