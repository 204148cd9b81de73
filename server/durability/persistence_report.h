// The messages in the server's own log about loading, saving and writing.
#pragma once

#include <absl/status/status.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/engine.h"
#include "server/aof/aof_loader.h"
#include "server/durability/redis_loader.h"
#include "server/log/log.h"

namespace tally::server {

// Returns the number of keys in all databases.
uint64_t CountKeys(const Engine& engine);

// How much of something is done.
struct Extent {
  uint64_t done = 0;
  uint64_t total = 0;

  // From 0 to 1; 0 if `total` is 0.
  double share() const {
    return total == 0 ? 0 : static_cast<double>(std::min(done, total)) / static_cast<double>(total);
  }
};

struct LoadingFigures {
  int64_t started_ms = 0;  // unix ms
  Extent bytes;
  std::optional<int64_t> seconds_left;
};

struct SavingFigures {
  Extent keys;
  uint64_t bytes = 0;
  Extent extent;  // counted in keys, or in bytes if there are few keys
  std::optional<int64_t> seconds_left;
};

class PersistenceReport {
 public:
  explicit PersistenceReport(const Logger& log) : log_(log) {}

  void Loading(const LoadingFigures& figures, uint64_t keys) const;
  void Loaded(const AofLoader& loader, uint64_t keys, int64_t took_us) const;

  void TakesOver(const RedisFiles& redis) const;
  void LoadedRedis(const RedisLoader& loader, uint64_t keys, int64_t took_us) const;
  void TookOver(const std::vector<std::string>& set_aside) const;

  void ChangesAreDue(uint64_t changes) const;
  void LogIsDue(uint64_t bytes) const;
  void RewriteBegins(uint64_t base) const;
  void Rewriting(const SavingFigures& figures) const;
  void RewriteDone(uint64_t records, uint64_t bytes, int64_t took_ms, uint64_t failures) const;
  void RdbBegins(std::string_view path) const;
  void RdbDone(uint64_t keys, uint64_t bytes, int64_t took_ms, uint64_t failures) const;
  void RewriteFailed(const absl::Status& why) const;
  void RewriteGivenUp(std::string_view why) const;

 private:
  const Logger& log_;
};

}  // namespace tally::server
