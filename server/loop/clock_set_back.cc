#include "server/loop/clock_set_back.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/bytes/number.h"
#include "core/limit/rule_text.h"
#include "core/limit/rule_words.h"
#include "core/words/word_list.h"
#include "server/arguments/time_args.h"
#include "server/effects/effect_stream.h"
#include "server/interfaces/command_runner.h"
#include "server/state/client.h"
#include "server/state/clock.h"

namespace tally::server {
namespace {

// The words of a rule's text, which are views into it.
void AppendParts(WordList& words, std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

ClockSetBack::ClockSetBack(Services& server)
    : server_(server), client_(std::make_unique<Client>()) {
  client_->authenticated = true;
  walk_.Begin();
}

ClockSetBack::~ClockSetBack() = default;

bool ClockSetBack::goes_on() {
  const uint64_t jumps = server_.clock.jumps().count;
  if (jumps != jumps_seen_) walk_.Begin();
  jumps_seen_ = jumps;
  return walk_.goes_on();
}

size_t ClockSetBack::Next() {
  found_.clear();
  effects_ = 0;
  walk_.Next(server_.engine, server_.clock.now_ms(), found_);
  for (const AheadWalk::Found& found : found_) SetBack(found);
  return effects_;
}

void ClockSetBack::SetBack(const AheadWalk::Found& found) {
  const int64_t now_ms = server_.clock.now_ms();
  const InstantText now(now_ms);
  switch (found.type) {
    case Type::kHits: {
      const DurationText window(found.window_ms);
      const std::string_view words[] = {"HITS.ADD", found.key, window.view(), "COUNT",
                                        "0",        "AT",      now.view()};
      return Do(found.database, words);
    }
    case Type::kLimit:
      return SetBackLimit(found, now.view());
    case Type::kActive: {
      const std::string_view words[] = {"ACTIVE.TOUCH", found.key, "AT", now.view()};
      return Do(found.database, words);
    }
    default: {
      const Int64Text judged_at(now_ms);
      const Int64Text lag(server_.engine.deletion_lag_ms());
      const std::string_view words[] = {"QUOTA.RECORD", found.key, found.user,       "0",
                                        "ITEMS",        "NOW",     judged_at.view(), "LAG",
                                        lag.view()};
      return Do(found.database, words);
    }
  }
}

// A command has at most kMaxRules. Without rules it sets back what is held.
void ClockSetBack::SetBackLimit(const AheadWalk::Found& found, std::string_view now) {
  for (size_t begin = 0; begin == 0 || begin < found.rules.size(); begin += kMaxRules) {
    const size_t end = std::min(begin + kMaxRules, found.rules.size());
    std::vector<std::string> rules;
    for (size_t i = begin; i < end; ++i) rules.push_back(RuleText(found.rules[i]));
    if (rules.empty()) rules.emplace_back("ALLOW");
    WordList words = {"LIMIT.TAKE", found.key};
    for (const std::string& rule : rules) AppendParts(words, rule);
    AppendWords(words, {{"COST", "0", "AT", now}});
    Do(found.database, words);
  }
}

void ClockSetBack::Do(size_t database, Words effect) {
  const CommandEntry* entry = server_.commands.FindFullName(effect[0]);
  Check(entry != nullptr, "effects are commands");
  client_->database = database;
  client_->output.Clear();
  server_.runner->Replay(*client_, *entry, effect);
  server_.effects.Append(database, effect);
  ++effects_;
}

}  // namespace tally::server
