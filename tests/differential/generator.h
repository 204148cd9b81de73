// The stream of commands, from a seed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/differential/comparison.h"
#include "tests/differential/grammar.h"
#include "tests/differential/random.h"
#include "tests/differential/wire.h"
#include "tests/differential/words.h"

namespace tally::differential {

struct Step {
  Request request;
  Rule rule = Rule::kExact;
  bool is_inline = false;

  void AppendTo(std::string& out) const;
};

class Generator {
 public:
  explicit Generator(uint64_t seed);

  // Appends the next command, or the few commands of a line that belong together.
  void Next(Phase phase, bool in_transaction, std::vector<Step>& steps);

  // A command that may wait for ever.
  Request NextEndless();
  // What turns tracking on or off in the phase of broadcasts.
  Step NextBroadcast();

  // The ids of the connections that commands may name, and of those that hear for others.
  void SetClients(std::vector<std::string> listeners, std::vector<std::string> clients) {
    words_.SetClients(std::move(listeners), std::move(clients));
  }

  // Gives some keys a few milliseconds to live: `steps` sets the deadlines and `after`, to be sent
  // when they have passed, looks for the keys. No key is named twice.
  void NextDeaths(std::vector<Step>& steps, std::vector<Step>& after);

  uint64_t Below(uint64_t bound) { return random_.Below(bound); }
  Random& random() { return random_; }
  std::string AnyKey() { return words_.AnyKey(); }

 private:
  // A line that is sent in this phase.
  const Line& Choose(Phase phase);
  // Appends the words of another line's command.
  void AppendCarried(Phase phase, Step& step);
  void Mutate(Request& request);

  Random random_;
  Words words_{random_};
  std::vector<const Line*> lines_;
  std::vector<int64_t> weights_;  // summed up
};

// The requests that a line of the grammar stands for.
std::vector<Request> Expand(std::string_view line, Random& random, Words& words);

}  // namespace tally::differential
