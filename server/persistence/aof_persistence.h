#pragma once
#include "server/state/server_state.h"
namespace tally::server {
class Dispatcher;
class AofPersistence : public Persistence {
 public:
  AofPersistence(ServerState&, Dispatcher&) {}
  absl::Status s;
  const absl::Status& write_error() const override { return s; }
  absl::Status StartRewrite() override { return s; }
  bool rewriting() const override { return false; }
  absl::Status SaveNow() override { return s; }
  absl::Status ApplyConfig() override { return s; }
  absl::Status Reload() override { return s; }
  void AppendInfo(std::string&) const override {}
  int64_t last_save_ms() const override { return 0; }
  absl::Status Open() { return s; }
  absl::Status Close() { return s; }
  absl::Status FlushTurn() { return s; }
  void Cron() {}
  void SaveBeforeChange(size_t, Keyspace::Segment&) {}
};
}  // namespace tally::server
