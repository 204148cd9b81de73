// Limits and reservations as a client asks for them, by commands, against the naive model that the
// engine has to agree with too. What a server has logged is replayed by another, and what it then
// holds is loaded by a third.
#include <catch2/catch.hpp>
#include <charconv>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/str_cat.h"
#include "core/tzdata/tzdata_zones.h"
#include "scale.h"
#include "server/arguments/time_args.h"
#include "server/command_harness.h"
#include "server/replay.h"
#include "tests/unit/core/reservation_run.h"

namespace tally::server::reservation_model_test {
namespace {

constexpr std::string_view kNoWords;

class CommandTarget {
 public:
  static constexpr bool kTellsShadow = false;

  ZoneSource& zones() { return zones_; }
  uint64_t commands() const { return commands_; }

  void PassTo(int64_t now) { server_->PassTo(now); }
  // What was forgotten without a command is not in the log: the next server loads it.
  void Forget() {
    Replace();
    for (const std::string_view key : test::kReservedKeys)
      test::ForgetEnded(server_->engine, key, server_->now());
    Save();
  }
  void SetBackTo(int64_t now) {
    server_->PassTo(now);
    server_->SetAllBack();
    KeepEffects();
  }

  // First from the log, then from what is saved of each key.
  void Restart() {
    Replace();
    Save();
    Replace();
  }
  // In place: to be loaded is no command.
  void Reload(std::string_view) {}

  LimitResult Decide(const LimitRequest& request, LimitMode mode) {
    constexpr std::string_view kNames[] = {"LIMIT.TAKE ", "LIMIT.PEEK ", "LIMIT.FORCE "};
    std::string words = StrCat(kNames[static_cast<size_t>(mode)], Words(request));
    if (!request.once.empty()) StrAppend(words, " ONCE ", request.once);
    LimitResult result;
    ReadDecision(Run(words), result);
    return result;
  }
  HoldResult Reserve(const HoldRequest& request) {
    return Held(
        StrCat("LIMIT.RESERVE ", request.id, " ", request.ttl_ms, "ms ", Words(request.limits)));
  }
  HoldResult Extend(const HoldRequest& request) {
    return Held(StrCat("LIMIT.EXTEND ", request.id, " ", request.ttl_ms, "ms",
                       Keys(request.limits.keys), " COST ", request.limits.cost));
  }
  SettleResult Commit(const CommitRequest& request, int64_t) {
    std::string words = StrCat("LIMIT.COMMIT ", request.id, Keys(request.keys));
    if (request.cost) StrAppend(words, " COST ", *request.cost);
    StrAppend(words, request.late ? " LATE" : kNoWords, request.keep ? " KEEP" : kNoWords,
              request.force ? " FORCE" : kNoWords);
    return Settled(words);
  }
  SettleResult Cancel(std::string_view id, const std::vector<KeyRules>& keys, int64_t) {
    return Settled(StrCat("LIMIT.CANCEL ", id, Keys(keys)));
  }
  void Give(std::string_view key, int64_t count, int64_t) {
    Run(StrCat("LIMIT.GIVE ", key, " ", count));
  }
  void Reset(std::string_view key) { Run(StrCat("LIMIT.RESET ", key)); }
  void Held(std::string_view key, std::vector<HeldShown>& held) {
    const std::string reply = Run(StrCat("LIMIT.HELD ", key));
    for (size_t at = reply.find('"'); at != std::string::npos; at = reply.find('"', at)) {
      const size_t end = reply.find('"', at + 1);
      const size_t row = reply.find(']', end);
      const std::vector<int64_t> fields = Numbers(reply.substr(end, row - end));
      REQUIRE(fields.size() == 4);
      held.push_back(
          {reply.substr(at + 1, end - at - 1), fields[0], fields[1], fields[2], fields[3]});
      at = row;
    }
  }

 private:
  static void Load(CommandHarness& server, std::string_view key, const std::string& payload) {
    REQUIRE(server.Run(CommandHarness::Words{"RESTORE", std::string(key), "0", payload}) == "+OK");
  }

  // Another server loads what was saved, and does what was logged since.
  void Replace() {
    auto next = std::make_unique<CommandHarness>();
    // At the time of a new server, or now, what was saved may have ended.
    next->PassTo(saved_at_);
    for (const auto& [key, payload] : saved_) Load(*next, key, payload);
    ReplayInto(*next, log_, server_->now());
    server_ = std::move(next);
  }
  void Save() {
    log_.clear();
    saved_.clear();
    saved_at_ = server_->now();
    for (const std::string_view key : test::kReservedKeys) {
      const std::string reply = server_->Wire(*server_->self, {"DUMP", std::string(key)});
      if (reply == "$-1\r\n") continue;
      const size_t begin = reply.find('\n') + 1;
      saved_.emplace_back(key, reply.substr(begin, reply.size() - begin - 2));
    }
  }

  static std::string Keys(std::span<const KeyRules> keys) {
    std::string words;
    for (const KeyRules& key : keys) StrAppend(words, " ", key.key);
    return words;
  }
  std::string Words(const LimitRequest& request) {
    std::string words;
    for (const KeyRules& key : request.keys) {
      StrAppend(words, words.empty() ? "" : " AND ", key.key);
      for (const LimitRule& rule : key.rules) StrAppend(words, " ", RuleWords(rule));
    }
    StrAppend(words, " COST ", request.cost);
    // Of what happens now a client says nothing.
    if (request.time.at_ms != request.time.judged_at_ms) {
      StrAppend(words, " AT ", InstantText(request.time.at_ms).view());
    }
    return words;
  }

  // HOLDS may only be in a policy.
  std::string RuleWords(const LimitRule& rule) {
    if (rule.algorithm != LimitAlgorithm::kHolds) return RuleText(rule);
    const std::string name = StrCat("holds", rule.period_ms, "-", rule.limit);
    Run(StrCat("POLICY.SET ", name, " ", RuleText(rule)));
    return StrCat("POLICY ", name);
  }

  static std::vector<int64_t> Numbers(std::string_view reply) {
    std::vector<int64_t> numbers;
    for (size_t at = reply.find(':'); at != reply.npos; at = reply.find(':', at + 1)) {
      int64_t& number = numbers.emplace_back();
      std::from_chars(reply.data() + at + 1, reply.data() + reply.size(), number);
    }
    return numbers;
  }

  std::string Run(const std::string& words) {
    ++commands_;
    std::string reply = server_->Run(words);
    KeepEffects();
    UNSCOPED_INFO(words << " -> " << reply);
    return reply;
  }
  void KeepEffects() {
    counted_ = false;
    for (std::string& effect : server_->Effects()) {
      // Holds had ended, or counters lay ahead of the clock.
      const bool settles =
          effect.find(" COST 0") != effect.npos &&
          (effect.starts_with("LIMIT.TAKE ") || effect.starts_with("LIMIT.FORCE "));
      counted_ |= !settles && effect.starts_with("LIMIT.");
      log_.push_back(std::move(effect));
    }
  }

  // The six fields of a decision, and how it ended. Whether it has counted anything is what the log
  // says.
  std::vector<int64_t> ReadDecision(const std::string& reply, LimitResult& result) const {
    result.counted = counted_;
    if (reply.starts_with("-ERR ")) result.wrong = "error";
    if (reply[0] == '-') return {};
    std::vector<int64_t> fields = Numbers(reply);
    REQUIRE(fields.size() >= 6);
    result.decision = {.allowed = fields[0] == 1,
                       .limit = fields[1],
                       .remaining = fields[2],
                       .retry_after_ms = fields[3],
                       .reset_after_ms = fields[4],
                       .rule = static_cast<int>(fields[5])};
    return fields;
  }
  HoldResult Held(const std::string& words) {
    const std::string reply = Run(words);
    HoldResult result;
    const std::vector<int64_t> fields = ReadDecision(reply, result);
    if (!fields.empty()) result.token = fields.at(6);
    if (reply == "-SETTLED committed") result.settled_as = HoldState::kCommitted;
    if (reply == "-SETTLED expired") result.settled_as = HoldState::kExpired;
    if (reply == "-SETTLED cancelled") result.settled_as = HoldState::kCancelled;
    return result;
  }
  SettleResult Settled(const std::string& words) {
    const std::string reply = Run(words);
    SettleResult result;
    result.counted = counted_;
    if (reply.starts_with("-ERR ")) result.wrong = "error";
    if (reply[0] == '-') return result;
    const std::vector<int64_t> fields = Numbers(reply);
    result.settled.found = static_cast<HoldState>(fields.at(0));
    result.settled.held = fields.at(1);
    result.settled.counted = fields.size() > 2 ? fields[2] : 0;
    return result;
  }

  TzdataZones zones_;
  std::unique_ptr<CommandHarness> server_ = std::make_unique<CommandHarness>();
  std::vector<std::pair<std::string, std::string>> saved_;
  int64_t saved_at_ = 0;
  std::vector<std::string> log_;  // since then
  uint64_t commands_ = 0;
  bool counted_ = false;
};

TEST_CASE("Reservations: the model, by commands", "[reservation]") {
  test::ReservedRun<CommandTarget> run;
  INFO("TALLY_SEED=" << run.seed());
  for (uint64_t steps = test::Scaled(5'000); steps > 0; --steps) run.Step();
  CHECK(run.target().commands() >= test::Scaled(5'000));
}

}  // namespace
}  // namespace tally::server::reservation_model_test
