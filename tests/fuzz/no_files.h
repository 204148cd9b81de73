// The process around a session under fuzz: nothing is ever written, and nothing fails.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "server/interfaces/persistence.h"
#include "server/interfaces/process.h"

namespace tally::fuzz {

inline constexpr int64_t kNow = 1'700'000'000'000;  // unix ms

class NoFiles : public server::Persistence {
 public:
  const absl::Status& write_error() const override { return ok_; }
  bool accepts_writes() const override { return true; }
  absl::Status StartRewrite() override { return absl::OkStatus(); }
  absl::Status StartSave() override { return absl::OkStatus(); }
  absl::Status WriteRdb(server::RdbRequest) override { return absl::OkStatus(); }
  absl::StatusOr<server::SyncBase> TakeRdb(const std::string&) override {
    return absl::NotFoundError("no RDB");
  }
  void RemoveRdb(const std::string&) override {}
  bool rewriting() const override { return false; }
  absl::StatusOr<server::SyncBase> OpenBase() const override {
    return absl::NotFoundError("no base");
  }
  absl::StatusOr<std::unique_ptr<server::StreamSource>> OpenStream(uint64_t) const override {
    return absl::NotFoundError("no log");
  }
  absl::Status SaveNow() override { return absl::OkStatus(); }
  absl::Status SaveAtEnd() override { return absl::OkStatus(); }
  absl::Status ApplyConfig() override { return absl::OkStatus(); }
  absl::Status Reload() override { return absl::OkStatus(); }
  void Report(server::FigureSink&) const override {}
  int64_t last_save_ms() const override { return kNow; }

 private:
  absl::Status ok_;
};

class NoProcess : public server::Process {
 public:
  absl::Status Shutdown(bool, server::EndSave) override { return absl::OkStatus(); }
  absl::Status ApplyConfig(std::string_view) override { return absl::OkStatus(); }
  int64_t started_ms() const override { return kNow; }
  bool ServeOthers() override { return true; }
};

}  // namespace tally::fuzz
