#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/time/duration.h"
#include "server/config/accepted_directives.h"
#include "server/config/custom_fields.h"
#include "server/config/directive.h"

namespace tally::server {
namespace {

constexpr int64_t kInt32Max = std::numeric_limits<int32_t>::max();
constexpr int64_t kInt64Max = std::numeric_limits<int64_t>::max();
constexpr int64_t kUint32Max = std::numeric_limits<uint32_t>::max();

constexpr size_t kMaxPasswordLength = 512;
constexpr size_t kMaxSocketPath = 107;  // the kernel's sockaddr_un, without the zero

constexpr EnumOption kLogLevels[] = {
    {"debug", static_cast<int>(LogLevel::kDebug)},
    {"verbose", static_cast<int>(LogLevel::kVerbose)},
    {"notice", static_cast<int>(LogLevel::kNotice)},
    {"warning", static_cast<int>(LogLevel::kWarning)},
};
constexpr EnumOption kFsyncPolicies[] = {
    {"everysec", static_cast<int>(FsyncPolicy::kEverysec)},
    {"always", static_cast<int>(FsyncPolicy::kAlways)},
    {"no", static_cast<int>(FsyncPolicy::kNo)},
};
constexpr EnumOption kRdbFormats[] = {
    {"tallyd", static_cast<int>(RdbFormat::kTallyd)},
    {"redis", static_cast<int>(RdbFormat::kRedis)},
};
constexpr EnumOption kEvictionPolicies[] = {
    {"volatile-lru", static_cast<int>(EvictionPolicy::kVolatileLru)},
    {"volatile-lfu", static_cast<int>(EvictionPolicy::kVolatileLfu)},
    {"volatile-random", static_cast<int>(EvictionPolicy::kVolatileRandom)},
    {"volatile-ttl", static_cast<int>(EvictionPolicy::kVolatileTtl)},
    {"allkeys-lru", static_cast<int>(EvictionPolicy::kAllkeysLru)},
    {"allkeys-lfu", static_cast<int>(EvictionPolicy::kAllkeysLfu)},
    {"allkeys-random", static_cast<int>(EvictionPolicy::kAllkeysRandom)},
    {"noeviction", static_cast<int>(EvictionPolicy::kNoEviction)},
};
constexpr EnumOption kLocalAccess[] = {
    {"no", static_cast<int>(LocalAccess::kNo)},
    {"yes", static_cast<int>(LocalAccess::kYes)},
    {"local", static_cast<int>(LocalAccess::kLocal)},
};
constexpr EnumOption kTlsClientAuth[] = {
    {"no", static_cast<int>(TlsClientAuth::kNo)},
    {"yes", static_cast<int>(TlsClientAuth::kYes)},
    {"optional", static_cast<int>(TlsClientAuth::kOptional)},
};
constexpr EnumOption kUnknownCommands[] = {
    {"stop", static_cast<int>(UnknownCommand::kStop)},
    {"skip", static_cast<int>(UnknownCommand::kSkip)},
};
constexpr EnumOption kSupervision[] = {
    {"no", static_cast<int>(Supervision::kNo)},
    {"systemd", static_cast<int>(Supervision::kSystemd)},
    {"upstart", static_cast<int>(Supervision::kUpstart)},
    {"auto", static_cast<int>(Supervision::kAuto)},
};

template <auto kMember>
constexpr EnumField Enum(std::span<const EnumOption> options) {
  using Value = std::remove_cvref_t<decltype(std::declval<Config&>().*kMember)>;
  return {options, [](const Config& config) { return static_cast<int>(config.*kMember); },
          [](Config& config, int value) { config.*kMember = static_cast<Value>(value); }};
}

constexpr StringField FreeText(std::string Config::* member) { return {member, nullptr}; }

const char* CheckPassword(std::string_view text) {
  return text.size() > kMaxPasswordLength ? "password is longer than 512 bytes" : nullptr;
}

// A field and its value are one record in a segment of a hash's table. A segment holds several
// records and stays below 4 GiB.
constexpr int64_t kMaxBulkBytes = 512 * kMib;

// A command and its effect fit in one batch of the log, which has less than 10^10 bytes.
constexpr int64_t kMaxQueryBytes = 8 * kGib;

// The whole body of a request is held in memory.
constexpr int64_t kMaxHttpBody = 64 * kMib;

const char* CheckSocketPath(std::string_view text) {
  return text.size() > kMaxSocketPath ? "the path of a socket has at most 107 bytes" : nullptr;
}

const char* CheckFileName(std::string_view text) {
  const bool bare =
      !text.empty() && text.find('/') == std::string_view::npos && text != "." && text != "..";
  if (!bare) return "argument can't be a path, just a name";
  // With what the server adds to it ("temp-", a number, a suffix) a name has 255 bytes at most.
  constexpr size_t kMaxBytes = 200;
  return text.size() <= kMaxBytes ? nullptr : "argument must be at most 200 bytes long";
}

const char* CheckDirectory(std::string_view text) {
  return text.empty() ? "argument can't be empty" : nullptr;
}

// Grouped as conf/tallyd.conf is.
constexpr Directive kWithEffect[] = {
    {"bind", "", ListField{&Config::bind}},
    {"port", "", IntField{&Config::port, 0, 65535}},
    {"tcp-backlog", "", IntField{&Config::tcp_backlog, 1, kInt32Max}, kImmutable},
    {"unixsocket", "", StringField{&Config::unixsocket, CheckSocketPath}, kImmutable},
    {"unixsocketperm", "", OctalField{&Config::unixsocketperm}, kImmutable},
    {"protected-mode", "", BoolField{&Config::protected_mode}},
    {"timeout", "", IntField{&Config::timeout, 0, kInt32Max}},
    {"tcp-keepalive", "", IntField{&Config::tcp_keepalive, 0, kInt32Max}},

    {"tls-port", "", IntField{&Config::tls_port, 0, 65535}},
    {"tls-cert-file", "", FreeText(&Config::tls_cert_file)},
    {"tls-key-file", "", FreeText(&Config::tls_key_file)},
    {"tls-key-file-pass", "", FreeText(&Config::tls_key_file_pass), kSensitive},
    {"tls-ca-cert-file", "", FreeText(&Config::tls_ca_cert_file)},
    {"tls-auth-clients", "", Enum<&Config::tls_auth_clients>(kTlsClientAuth)},

    {"http-port", "", IntField{&Config::http_port, 0, 65535}},
    {"http-bind", "", ListField{&Config::http_bind}},
    {"http-tls", "", BoolField{&Config::http_tls}, kImmutable},
    {"http-hosts", "", ListField{&Config::http_hosts}},
    {"http-max-body", "", MemoryField{&Config::http_max_body, kKib, kMaxHttpBody}},

    {"daemonize", "", BoolField{&Config::daemonize}, kImmutable},
    {"supervised", "", Enum<&Config::supervised>(kSupervision), kImmutable},
    {"pidfile", "", FreeText(&Config::pidfile), kImmutable},
    {"loglevel", "", Enum<&Config::loglevel>(kLogLevels)},
    {"logfile", "", FreeText(&Config::logfile), kImmutable},
    {"databases", "", IntField{&Config::databases, 1, 65536}, kImmutable},
    {"hz", "", IntField{&Config::hz, 1, 500}},

    {"requirepass", "", StringField{&Config::requirepass, CheckPassword}, kSensitive},
    {"aclfile", "", FreeText(&Config::aclfile), kImmutable},
    {"user", "", ListField{&Config::users}, kImmutable | kSensitive | kHidden | kRepeated},
    {"rename-command", "", ListField{&Config::renamed_commands}, kImmutable | kHidden | kRepeated},
    {"acllog-max-len", "", IntField{&Config::acllog_max_len, 0, kInt64Max}},
    {"enable-debug-command", "", Enum<&Config::enable_debug_command>(kLocalAccess), kImmutable},

    {"maxclients", "", IntField{&Config::maxclients, 1, kUint32Max}},
    {"maxmemory-clients", "", CustomField{FormatMaxmemoryClients, AssignMaxmemoryClients, false}},
    {"proto-max-bulk-len", "", MemoryField{&Config::proto_max_bulk_len, kMib, kMaxBulkBytes}},
    {"client-query-buffer-limit", "",
     MemoryField{&Config::client_query_buffer_limit, kMib, kMaxQueryBytes}},
    {"client-output-buffer-limit", "",
     CustomField{FormatOutputBufferLimit, AssignOutputBufferLimit, true}},

    {"maxmemory", "", MemoryField{&Config::maxmemory, 0}},
    {"maxmemory-policy", "", Enum<&Config::maxmemory_policy>(kEvictionPolicies)},
    {"lfu-log-factor", "", IntField{&Config::lfu_log_factor, 0, kInt32Max}},
    {"lfu-decay-time", "", IntField{&Config::lfu_decay_time, 0, kInt32Max}},

    {"dir", "", StringField{&Config::dir, CheckDirectory}, kImmutable},
    {"appendonly", "", BoolField{&Config::appendonly}},
    {"appendfsync", "", Enum<&Config::appendfsync>(kFsyncPolicies)},
    {"appendfilename", "", StringField{&Config::appendfilename, CheckFileName}, kImmutable},
    {"appenddirname", "", StringField{&Config::appenddirname, CheckFileName}, kImmutable},
    {"aof-load-truncated", "", BoolField{&Config::aof_load_truncated}},
    {"auto-aof-rewrite-percentage", "",
     IntField{&Config::auto_aof_rewrite_percentage, 0, kInt32Max}},
    {"auto-aof-rewrite-min-size", "", MemoryField{&Config::auto_aof_rewrite_min_size, 0}},
    {"save", "", CustomField{FormatSave, AssignSave, true}, kRepeated},
    {"stop-writes-on-bgsave-error", "", BoolField{&Config::stop_writes_on_bgsave_error}},
    {"rdb-format", "", Enum<&Config::rdb_format>(kRdbFormats)},
    {"dbfilename", "", StringField{&Config::dbfilename, CheckFileName}, kImmutable},
    {"rdbcompression", "", BoolField{&Config::rdbcompression}},

    {"replicaof", "slaveof", CustomField{FormatReplicaOf, AssignReplicaOf, true},
     kImmutable | kOptional},
    {"masteruser", "", FreeText(&Config::masteruser)},
    {"masterauth", "", StringField{&Config::masterauth, CheckPassword}, kSensitive},
    {"tls-replication", "", BoolField{&Config::tls_replication}},
    {"replica-serve-stale-data", "slave-serve-stale-data",
     BoolField{&Config::replica_serve_stale_data}},
    {"replica-read-only", "slave-read-only", BoolField{&Config::replica_read_only}},
    {"replica-ignore-maxmemory", "slave-ignore-maxmemory",
     BoolField{&Config::replica_ignore_maxmemory}},
    {"replica-unknown-command", "", Enum<&Config::replica_unknown_command>(kUnknownCommands)},
    {"replica-priority", "slave-priority", IntField{&Config::replica_priority, 0, kInt32Max}},
    {"replica-announced", "", BoolField{&Config::replica_announced}},
    {"replica-announce-ip", "slave-announce-ip", FreeText(&Config::replica_announce_ip)},
    {"replica-announce-port", "slave-announce-port",
     IntField{&Config::replica_announce_port, 0, 65535}},
    {"repl-backlog-size", "", MemoryField{&Config::repl_backlog_size, 1}},
    {"repl-backlog-ttl", "", IntField{&Config::repl_backlog_ttl, 0, kInt32Max}},
    {"repl-ping-replica-period", "repl-ping-slave-period",
     IntField{&Config::repl_ping_replica_period, 1, kInt32Max}},
    {"repl-timeout", "", IntField{&Config::repl_timeout, 1, kInt32Max}},
    {"min-replicas-to-write", "min-slaves-to-write",
     IntField{&Config::min_replicas_to_write, 0, kInt32Max}},
    {"min-replicas-max-lag", "min-slaves-max-lag",
     IntField{&Config::min_replicas_max_lag, 0, kInt32Max}},

    {"slowlog-log-slower-than", "", IntField{&Config::slowlog_log_slower_than, -1, kInt64Max}},
    {"slowlog-max-len", "", IntField{&Config::slowlog_max_len, 0, kInt64Max}},
    {"latency-monitor-threshold", "", IntField{&Config::latency_monitor_threshold, 0, kInt64Max}},
    {"tracking-table-max-keys", "", IntField{&Config::tracking_table_max_keys, 0, kInt64Max}},
    {"notify-keyspace-events", "", CustomField{FormatKeyspaceEvents, AssignKeyspaceEvents, false}},

    {"hash-max-listpack-entries", "hash-max-ziplist-entries",
     IntField{&Config::hash_max_listpack_entries, 0, kInt64Max}},
    {"hash-max-listpack-value", "hash-max-ziplist-value",
     MemoryField{&Config::hash_max_listpack_value, 0}},
    {"set-max-intset-entries", "", IntField{&Config::set_max_intset_entries, 0, kInt64Max}},
    {"zset-max-listpack-entries", "zset-max-ziplist-entries",
     IntField{&Config::zset_max_listpack_entries, 0, kInt64Max}},
    {"zset-max-listpack-value", "zset-max-ziplist-value",
     MemoryField{&Config::zset_max_listpack_value, 0}},
    {"list-max-listpack-size", "list-max-ziplist-size",
     IntField{&Config::list_max_listpack_size, -5, kInt32Max}},
    {"hll-sparse-max-bytes", "", MemoryField{&Config::hll_sparse_max_bytes, 0}},

    {"scripting", "", BoolField{&Config::scripting}, kImmutable},
    {"busy-reply-threshold", "lua-time-limit",
     IntField{&Config::busy_reply_threshold, 0, kInt64Max}},
    {"max-lateness", "", DurationField{&Config::max_lateness_ms, 0, kMaxDurationMs}},
    {"limit-max-holds", "", IntField{&Config::limit_max_holds, 0, kInt64Max}},
    {"quota-retention", "", DurationField{&Config::quota_retention_ms, 1, kMaxDurationMs}},
};

constexpr auto kAllDirectives = [] {
  std::array<Directive, std::size(kWithEffect) + std::size(accepted::kDirectives)> all{};
  const auto end = std::copy(std::begin(kWithEffect), std::end(kWithEffect), all.begin());
  std::copy(std::begin(accepted::kDirectives), std::end(accepted::kDirectives), end);
  return all;
}();

}  // namespace

std::span<const Directive> Directives() { return kAllDirectives; }

}  // namespace tally::server
