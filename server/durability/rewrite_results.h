// How the rewrites so far have ended, and how long automatic ones pause after failures.
#pragma once

#include <absl/status/status.h>

#include <cstdint>

#include "server/durability/retry_pause.h"

namespace tally::server {

// Steady times are milliseconds of a clock that never goes back.
struct RewriteResults {
  absl::Status last;
  RetryPause pause;
  uint64_t saves = 0;
  int64_t last_seconds = -1;  // how long the last successful rewrite took; -1: there was none
  int64_t last_save_ms = 0;   // unix ms; before the first save: when the server started
  int64_t last_save_steady_ms = 0;
  int64_t last_failure_steady_ms = INT64_MIN / 2;

  void Started(int64_t now_ms, int64_t steady_ms) {
    last_save_ms = now_ms;
    last_save_steady_ms = steady_ms;
  }
  void Succeeded(int64_t took_ms, int64_t now_ms, int64_t steady_ms) {
    last = absl::OkStatus();
    pause.Succeeded();
    ++saves;
    last_seconds = took_ms / 1000;
    last_save_ms = now_ms;
    last_save_steady_ms = steady_ms;
  }
  void Failed(const absl::Status& status, int64_t steady_ms) {
    last = status;
    pause.Failed(steady_ms);
    last_failure_steady_ms = steady_ms;
  }
};

}  // namespace tally::server
