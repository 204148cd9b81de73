// The typed settings of one server. A default-constructed Config holds every default. The names,
// ranges and texts of the directives are in directive_table.cc.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/value_limits.h"
#include "server/config/fsync_policy.h"
#include "server/log/log_level.h"

namespace tally::server {

enum class EvictionPolicy : uint8_t {
  kVolatileLru,
  kAllkeysLru,
  kVolatileLfu,
  kAllkeysLfu,
  kVolatileRandom,
  kAllkeysRandom,
  kVolatileTtl,
  kNoEviction,
};

// Who may use a guarded feature: nobody, everybody, or only connections from this machine.
enum class LocalAccess : uint8_t { kNo, kYes, kLocal };

// Who is notified when the server is ready: nobody, systemd (a warning if NOTIFY_SOCKET is
// missing), nobody, or systemd if NOTIFY_SOCKET is set.
enum class Supervision : uint8_t { kNo, kSystemd, kUpstart, kAuto };

enum class TlsClientAuth : uint8_t { kNo, kYes, kOptional };

// A client is closed when its output buffer exceeds the hard limit, or stays above the soft limit
// for `soft_seconds`. The limits are in bytes; 0 is no limit.
struct OutputBufferLimit {
  int64_t hard = 0;
  int64_t soft = 0;
  int64_t soft_seconds = 0;

  bool operator==(const OutputBufferLimit&) const = default;
};

enum class ClientClass : uint8_t { kNormal, kReplica, kPubSub };
inline constexpr size_t kClientClasses = 3;

// A snapshot is due after `seconds` if at least `changes` keys changed.
struct SaveRule {
  int64_t seconds;
  int64_t changes;

  bool operator==(const SaveRule&) const = default;
};

inline constexpr int64_t kKib = 1024;
inline constexpr int64_t kMib = 1024 * kKib;
inline constexpr int64_t kGib = 1024 * kMib;

struct Config : ValueLimits {
  // Network. An address that begins with '-' may be missing on this machine.
  std::vector<std::string> bind{"127.0.0.1", "-::1"};
  int64_t port = 6379;  // 0: no TCP
  int64_t tcp_backlog = 511;
  std::string unixsocket;      // empty: none
  int64_t unixsocketperm = 0;  // 0: as the umask says
  bool protected_mode = true;
  int64_t timeout = 0;          // seconds a client may idle; 0: for ever
  int64_t tcp_keepalive = 300;  // seconds; 0: off

  // TLS.
  int64_t tls_port = 0;  // 0: no TLS
  std::string tls_cert_file;
  std::string tls_key_file;
  std::string tls_key_file_pass;
  std::string tls_ca_cert_file;
  TlsClientAuth tls_auth_clients = TlsClientAuth::kYes;

  // HTTP.
  int64_t http_port = 0;  // 0: no HTTP
  std::vector<std::string> http_bind{"127.0.0.1", "-::1"};
  bool http_tls = false;
  std::vector<std::string> http_hosts;  // host names that requests may use for this server
  int64_t http_max_body = 256 * kKib;   // bytes of the body of one request

  // Process.
  bool daemonize = false;
  Supervision supervised = Supervision::kNo;
  std::string pidfile;
  LogLevel loglevel = LogLevel::kNotice;
  std::string logfile;  // empty: stdout
  int64_t databases = 16;
  int64_t hz = 10;

  // Access.
  std::string requirepass;
  std::string aclfile;
  // The `user` lines read at the start, without the word `user`. The users in force are in
  // AclUsers.
  std::vector<std::string> users;
  // Each is a command and its new name, as in the file; an empty name removes the command.
  std::vector<std::string> renamed_commands;
  int64_t acllog_max_len = 128;
  LocalAccess enable_debug_command = LocalAccess::kNo;

  // Limits of clients.
  int64_t maxclients = 10000;
  int64_t maxmemory_clients = 0;  // bytes; if negative, -n is n percent of maxmemory
  int64_t client_query_buffer_limit = kGib;
  std::array<OutputBufferLimit, kClientClasses> client_output_buffer_limit{
      OutputBufferLimit{kGib, 256 * kMib, 60},
      OutputBufferLimit{256 * kMib, 64 * kMib, 60},
      OutputBufferLimit{32 * kMib, 8 * kMib, 60},
  };

  // Memory.
  int64_t maxmemory = 0;  // bytes; 0: no limit
  EvictionPolicy maxmemory_policy = EvictionPolicy::kNoEviction;
  int64_t lfu_log_factor = 10;
  int64_t lfu_decay_time = 1;  // minutes

  // Persistence.
  std::string dir = ".";
  bool appendonly = true;
  FsyncPolicy appendfsync = FsyncPolicy::kEverysec;
  std::string appendfilename = "appendonly.aof";
  std::string appenddirname = "appendonlydir";
  bool aof_load_truncated = true;
  int64_t auto_aof_rewrite_percentage = 100;  // 0: never
  int64_t auto_aof_rewrite_min_size = 64 * kMib;
  std::optional<std::vector<SaveRule>> save;  // not given: see SaveRulesOf
  bool stop_writes_on_bgsave_error = true;
  std::string dbfilename = "dump.rdb";  // only to find a file of Redis

  // Observation.
  int64_t slowlog_log_slower_than = 10000;  // microseconds; -1: off
  int64_t slowlog_max_len = 128;
  int64_t tracking_table_max_keys = 1'000'000;  // 0: no limit
  int64_t latency_monitor_threshold = 0;        // milliseconds; 0: off
  uint32_t notify_keyspace_events = 0;          // event_classes.h

  // Scripts.
  bool scripting = true;
  int64_t busy_reply_threshold = 5000;  // milliseconds

  // By name, the values given to directives without effect; see AcceptedField.
  std::map<std::string, std::string, std::less<>> accepted;
};

// The rules that say when a snapshot is due: those of `save` if it was given. Otherwise none if the
// log is on, because the log has all data; and the default of Redis if the log is off, so that not
// all data is lost.
std::vector<SaveRule> SaveRulesOf(const Config& config);

}  // namespace tally::server
