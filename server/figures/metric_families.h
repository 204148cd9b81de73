// The families of /metrics, in the order in which they are printed.
#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace tally::server {

struct MetricFamily {
  std::string_view name;  // without "tallyd_" before it, nor a counter's "_total" after it
  std::string_view type;  // as the format calls it
  std::string_view help;
  std::array<std::string_view, 2> labels = {};  // their names, as many as its samples have
};

inline constexpr MetricFamily kMetricFamilies[] = {
    {"build_info", "gauge", "The version that runs; always 1.", {"version", "redis_version"}},
    {"uptime_seconds", "gauge", "Since the process has started."},
    {"clock_jumps", "counter", "Times that the system's clock was set by more than 2 s."},
    {"loading", "gauge", "1 while the data is loaded."},
    {"clients", "gauge", "Clients that are connected."},
    {"clients_limit", "gauge", "Clients that may be connected at once: maxclients."},
    {"connections", "counter", "Connections that were accepted."},
    {"connections_rejected", "counter", "Connections refused, as there were too many."},
    {"clients_closed", "counter", "Clients whose connections the server has ended.", {"reason"}},
    {"pubsub_subscriptions", "gauge", "Channels and patterns that somebody listens to.", {"kind"}},
    {"network_bytes", "counter", "Bytes received from clients and sent to them.", {"direction"}},
    {"memory_used_bytes", "gauge", "In use, as maxmemory counts it."},
    {"memory_peak_bytes", "gauge", "The most that was in use."},
    {"memory_limit_bytes", "gauge", "maxmemory; 0 is no limit."},
    {"memory_resident_bytes", "gauge", "Pages of the process in memory."},
    {"memory_allocator_bytes",
     "gauge",
     "What the allocator has: given out, in pages that hold any of it, and in all its pages.",
     {"state"}},
    {"memory_part_bytes", "gauge", "Parts of what is in use that are known exactly.", {"part"}},
    {"reclaim_pending_values", "gauge", "Deleted values whose memory is not free yet."},
    {"keys", "gauge", "Keys by the type of their values.", {"type"}},
    {"database_keys", "gauge", "Keys by database.", {"database"}},
    {"database_expiring_keys", "gauge", "Keys with a deadline, by database.", {"database"}},
    {"quota_books", "gauge", "Quota books."},
    {"audiences", "gauge", "Audiences: the keys of ACTIVE."},
    {"lookups", "counter", "Keys that reading commands looked for.", {"result"}},
    {"expired_keys", "counter", "Keys that ended by their deadlines."},
    {"evicted_keys", "counter", "Keys that were evicted for maxmemory."},
    {"expiry_lag_seconds", "gauge", "How long keys have been due that are still there."},
    {"log_enabled", "gauge", "1 while the append-only log is on."},
    {"persistence_failed",
     "gauge",
     "1 after an operation on the files has failed, until it succeeds.",
     {"operation"}},
    {"log_size_bytes", "gauge", "Of the base and the logs after it."},
    {"base_size_bytes", "gauge", "Of the base."},
    {"log_pending_bytes", "gauge", "Logged, and not known to be on disk."},
    {"log_last_fsync_seconds", "gauge", "How long the last fsync of the log took."},
    {"log_delayed_fsyncs", "counter", "How often writers had to wait for a slow disk."},
    {"unsaved_changes", "gauge", "Changes since the last base."},
    {"load_progress_ratio", "gauge", "How much of the data is loaded, 0 to 1."},
    {"rewrite_running", "gauge", "1 while a new base is written."},
    {"rewrite_progress_ratio", "gauge", "How much of the new base is done, 0 to 1."},
    {"rewrite_failures", "gauge", "Rewrites that have failed since the last good one."},
    {"saves", "counter", "Bases that were completed."},
    {"last_save_age_seconds", "gauge", "Since the last base, or since the start."},
    {"loop_turn_seconds", "histogram", "How long turns of the event loop took."},
    {"loop_part_seconds", "counter", "What the parts of turns took.", {"part"}},
    {"loop_longest_turn_seconds",
     "gauge",
     "The longest turn of the last minute, by its parts.",
     {"part"}},
    {"decisions", "counter", "Decisions by the command that asked.", {"command", "decision"}},
    {"limit_algorithm_decisions",
     "counter",
     "Decisions by the algorithm of a rule.",
     {"algorithm", "decision"}},
    {"limit_policy_decisions", "counter", "Decisions by policy.", {"policy", "decision"}},
    {"limit_holds", "counter", "What became of holds; those made are reserved.", {"event"}},
    {"limit_policies", "gauge", "Policies that are set."},
    {"command_duration_seconds", "histogram", "How long calls took, by command.", {"command"}},
    {"command_errors",
     "counter",
     "Calls that replied an error, and that were not run.",
     {"command", "kind"}},
    {"commands", "counter", "Calls of all commands."},
};

// A family, by its name. A name that is not in the table does not compile.
class MetricName {
 public:
  static constexpr size_t kNone = std::size(kMetricFamilies);

  constexpr MetricName() = default;
  consteval MetricName(const char* name) : index_(0) {
    while (kMetricFamilies[index_].name != name) ++index_;
  }
  // Of the table; kNone for no family.
  size_t index() const { return index_; }

 private:
  size_t index_ = kNone;
};

}  // namespace tally::server
