// Sets back what lies after now, once the clock was set back: key by key, each as an effect that
// the log and followers get. Begins after each jump of the clock, and after the start, since the
// clock may have been set back meanwhile.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/engine/ahead_walk.h"
#include "core/words/word.h"
#include "server/interfaces/services.h"

namespace tally::server {

struct Client;

class ClockSetBack {
 public:
  explicit ClockSetBack(Services& server);
  ~ClockSetBack();

  // Whether there is something to look at. The clock's jumps are asked for here.
  bool goes_on();
  // Looks at some keys, about as many as a segment has. Returns how many effects it had. The log
  // must be able to take them.
  size_t Next();

 private:
  void SetBack(const AheadWalk::Found& found);
  void SetBackLimit(const AheadWalk::Found& found, std::string_view now);
  // Runs the effect as it will be run when it is read from the log, and logs it.
  void Do(size_t database, Words effect);

  Services& server_;
  AheadWalk walk_;
  std::vector<AheadWalk::Found> found_;
  uint64_t jumps_seen_ = 0;
  size_t effects_ = 0;
  std::unique_ptr<Client> client_;  // whom nobody hears
};

}  // namespace tally::server
