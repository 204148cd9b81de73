// What a server must answer: the types of Redis by a naive model, and tallyd's own by another
// server, which has no files and never stops. Its own tests compare their meaning with naive
// models; here it says what the same commands give when nothing goes wrong.
#pragma once

#include <absl/strings/ascii.h>

#include <memory>
#include <string>

#include "command_harness.h"
#include "core/snapshot/engine_stream.h"
#include "naive_keyspace.h"

namespace tally::server {

class ReferenceKeyspace {
 public:
  using Words = test::NaiveKeyspace::Words;

  // No command makes a string longer than `largest`.
  ReferenceKeyspace(size_t databases, size_t largest)
      : largest_(largest), redis_(databases, largest), natives_(MakeServer(databases)) {}
  ReferenceKeyspace(const ReferenceKeyspace&) = delete;
  ReferenceKeyspace& operator=(const ReferenceKeyspace& other);

  // Engine::set_deletion_lag_ms() of what is run from now on.
  void set_deletion_lag_ms(int64_t ms) { deletion_lag_ms_ = ms; }

  // Executes a command; returns its reply as ReplyText shows it.
  std::string Run(size_t database, const Words& words, int64_t now_ms);
  void Remove(size_t database, const std::string& key);
  void RemoveDue(int64_t now_ms);
  // Sets back what lies after now; see ClockSetBack.
  void SetBack(int64_t now_ms);
  bool IsLive(size_t database, const std::string& key, int64_t now_ms);
  // About as many as its value has; 0 for a value of tallyd's own types.
  size_t Bytes(size_t database, const std::string& key) const {
    return redis_.Bytes(database, key);
  }

 private:
  // Keys and policies of tallyd's own commands begin with a capital letter, others do not.
  static bool IsNative(const std::string& key) {
    return absl::ascii_isupper(static_cast<unsigned char>(key[0]));
  }
  std::unique_ptr<CommandHarness> MakeServer(size_t databases) const;
  void SetClock(int64_t now_ms) {
    natives_->PassTo(now_ms);
    natives_->engine.set_deletion_lag_ms(deletion_lag_ms_);
  }
  std::string RunNative(size_t database, const Words& words, int64_t now_ms);

  size_t largest_;
  int64_t deletion_lag_ms_ = 0;
  test::NaiveKeyspace redis_;
  std::unique_ptr<CommandHarness> natives_;
};

inline void ReferenceKeyspace::SetBack(int64_t now_ms) {
  SetClock(now_ms);
  natives_->SetAllBack();
}

inline std::unique_ptr<CommandHarness> ReferenceKeyspace::MakeServer(size_t databases) const {
  Config config;
  config.databases = static_cast<int64_t>(databases);
  config.proto_max_bulk_len = static_cast<int64_t>(largest_);
  auto server = std::make_unique<CommandHarness>(config);
  server->StopEffects();
  return server;
}

inline ReferenceKeyspace& ReferenceKeyspace::operator=(const ReferenceKeyspace& other) {
  if (this == &other) return *this;
  redis_ = other.redis_;
  std::string saved;
  const auto keep = [&](std::string_view bytes) {
    saved += bytes;
    return absl::OkStatus();
  };
  REQUIRE(SaveEngine(other.natives_->engine, keep).ok());
  natives_ = MakeServer(static_cast<size_t>(other.natives_->config.databases));
  REQUIRE(LoadEngine(natives_->engine, saved).ok());
  return *this;
}

inline std::string ReferenceKeyspace::RunNative(size_t database, const Words& words,
                                                int64_t now_ms) {
  SetClock(now_ms);
  natives_->self->database = database;
  return natives_->Run(words);
}

inline std::string ReferenceKeyspace::Run(size_t database, const Words& words, int64_t now_ms) {
  if (words[0] == "SWAPDB" || words[0] == "FLUSHDB") {
    REQUIRE(RunNative(database, words, now_ms) == "+OK");
    return redis_.Run(database, words, now_ms);
  }
  if (IsNative(words[1])) return RunNative(database, words, now_ms);
  return redis_.Run(database, words, now_ms);
}

inline void ReferenceKeyspace::Remove(size_t database, const std::string& key) {
  if (!IsNative(key)) return redis_.Remove(database, key);
  RunNative(database, {"DEL", key}, natives_->now());
}

inline void ReferenceKeyspace::RemoveDue(int64_t now_ms) {
  redis_.RemoveDue(now_ms);
  SetClock(now_ms);
  natives_->ExpireDue();
}

inline bool ReferenceKeyspace::IsLive(size_t database, const std::string& key, int64_t now_ms) {
  if (!IsNative(key)) return redis_.IsLive(database, key, now_ms);
  return RunNative(database, {"EXISTS", key}, now_ms) == ":1";
}

}  // namespace tally::server
