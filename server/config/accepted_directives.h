// The directives that a redis.conf may hold but that have no effect here, each with the reason.
// They are those of Redis 7.0, and those of newer and older versions of Redis and of Valkey; the
// latter are hidden from the patterns of CONFIG GET. The values are kept for CONFIG GET, SET and
// REWRITE.
#pragma once

#include <absl/strings/match.h>

#include <string>

#include "server/config/directive.h"

namespace tally::server::accepted {

using Kind = AcceptedField::Kind;

inline constexpr std::string_view kOwnReplication = "replication has a form of its own";
inline constexpr std::string_view kNoCluster = "there is no cluster mode";
inline constexpr std::string_view kOwnSnapshot =
    "a snapshot has a format of its own, with checksums and without compression";
inline constexpr std::string_view kOwnLog =
    "the log has a format of its own, and is synced and rewritten in steps";
inline constexpr std::string_view kSlices = "large values are always freed in slices";
inline constexpr std::string_view kOneThread = "one thread serves all clients";
inline constexpr std::string_view kNoModules = "there are no modules";
inline constexpr std::string_view kSupervisor =
    "give it to the systemd unit: OOMScoreAdjust=, CPUAffinity=, or to taskset";
inline constexpr std::string_view kNoSyslog =
    "the log goes to logfile, or to standard output for journald";
inline constexpr std::string_view kOneLogFormat =
    "the log has one format, which names no user's data";
inline constexpr std::string_view kProcessName = "the process keeps its name";
inline constexpr std::string_view kMemoryByItself = "memory is managed without it";
inline constexpr std::string_view kClockWork =
    "background work has a budget of its own in each turn";
inline constexpr std::string_view kNoStreams = "there are no streams";
inline constexpr std::string_view kOneEncoding = "values have encodings of their own";
inline constexpr std::string_view kNoHistogram = "there is no histogram of latencies";
inline constexpr std::string_view kFixedConfig =
    "dir and dbfilename are never changed while the server runs";
inline constexpr std::string_view kNewUsers = "a new user begins without channels";
inline constexpr std::string_view kNoOutgoing =
    "the server opens no connections and marks no sockets";
inline constexpr std::string_view kOpensslDefaults =
    "TLS 1.2 and 1.3 are offered with OpenSSL's own choice of ciphers";
inline constexpr std::string_view kOneCaFile =
    "put the certificates into one file and name it in tls-ca-cert-file";
inline constexpr std::string_view kScripts = "the sandbox of scripts is fixed, and compares bytes";
inline constexpr std::string_view kOneShutdown = "SIGINT and SIGTERM are a SHUTDOWN";
inline constexpr std::string_view kOneProduct = "it is a switch of another server";

inline constexpr AcceptedField YesNo(std::string_view value) { return {Kind::kYesNo, value}; }
inline constexpr AcceptedField Number(std::string_view value) { return {Kind::kInt, value}; }
inline constexpr AcceptedField Bytes(std::string_view value) { return {Kind::kMemory, value}; }
inline constexpr AcceptedField Word(std::string_view value) { return {Kind::kText, value}; }
inline constexpr AcceptedField Several(std::string_view value) { return {Kind::kWords, value}; }

// A file that asks for this is not for this server: it would be one that is alone.
inline const char* NotCluster(std::string_view text) {
  return text == "no"
             ? nullptr
             : "this server cannot be a node of a cluster: remove the line, or load tally.so "
               "into the cluster";
}

inline constexpr Directive kDirectives[] = {
    {"replica-lazy-flush", "slave-lazy-flush", YesNo("no"), 0, kOwnReplication},
    {"replica-ignore-disk-write-errors", "", YesNo("no"), 0, kOwnReplication},
    {"replica-full-sync-buffer-limit", "", Bytes("268435456"), kHidden, kOwnReplication},
    {"repl-disable-tcp-nodelay", "", YesNo("no"), 0, kOwnReplication},
    {"repl-diskless-sync", "", YesNo("yes"), 0, kOwnReplication},
    {"repl-diskless-sync-delay", "", Number("5"), 0, kOwnReplication},
    {"repl-diskless-sync-max-replicas", "", Number("0"), 0, kOwnReplication},
    {"repl-diskless-load", "", Word("disabled"), 0, kOwnReplication},
    {"dual-channel-replication-enabled", "", YesNo("no"), kHidden, kOwnReplication},
    {"repl-mptcp", "", YesNo("no"), kHidden, kOwnReplication},
    {"propagation-error-behavior", "", Word("ignore"), 0, kOwnReplication},
    {"shutdown-timeout", "", Number("10"), 0, kOwnReplication},
    {"shutdown-on-sigint", "", Several("default"), 0, kOneShutdown},
    {"shutdown-on-sigterm", "", Several("default"), 0, kOneShutdown},
    {"rdb-del-sync-files", "", YesNo("no"), 0, kOwnReplication},
    {"sanitize-dump-payload", "", Word("no"), 0, kOwnReplication},

    {"cluster-enabled", "", AcceptedField{Kind::kYesNo, "no", NotCluster}, kImmutable, kNoCluster},
    {"cluster-config-file", "", Word("nodes.conf"), 0, kNoCluster},
    {"cluster-node-timeout", "", Number("15000"), 0, kNoCluster},
    {"cluster-port", "", Number("0"), 0, kNoCluster},
    {"cluster-announce-ip", "", Word(""), 0, kNoCluster},
    {"cluster-announce-hostname", "", Word(""), 0, kNoCluster},
    {"cluster-announce-human-nodename", "", Word(""), kHidden, kNoCluster},
    {"cluster-announce-client-ipv4", "", Word(""), kHidden, kNoCluster},
    {"cluster-announce-client-ipv6", "", Word(""), kHidden, kNoCluster},
    {"cluster-announce-port", "", Number("0"), 0, kNoCluster},
    {"cluster-announce-tls-port", "", Number("0"), 0, kNoCluster},
    {"cluster-announce-bus-port", "", Number("0"), 0, kNoCluster},
    {"cluster-preferred-endpoint-type", "", Word("ip"), 0, kNoCluster},
    {"cluster-replica-validity-factor", "cluster-slave-validity-factor", Number("10"), 0,
     kNoCluster},
    {"cluster-replica-no-failover", "cluster-slave-no-failover", YesNo("no"), 0, kNoCluster},
    {"cluster-migration-barrier", "", Number("1"), 0, kNoCluster},
    {"cluster-allow-replica-migration", "", YesNo("yes"), 0, kNoCluster},
    {"cluster-require-full-coverage", "", YesNo("yes"), 0, kNoCluster},
    {"cluster-allow-reads-when-down", "", YesNo("no"), 0, kNoCluster},
    {"cluster-allow-pubsubshard-when-down", "", YesNo("yes"), 0, kNoCluster},
    {"cluster-link-sendbuf-limit", "", Bytes("0"), 0, kNoCluster},
    {"cluster-ping-interval", "", Number("1000"), kHidden, kNoCluster},
    {"cluster-blacklist-ttl", "", Number("60"), kHidden, kNoCluster},
    {"cluster-databases", "", Number("1"), kHidden, kNoCluster},
    {"cluster-slot-stats-enabled", "", YesNo("no"), kHidden, kNoCluster},
    {"cluster-manual-failover-timeout", "", Number("5000"), kHidden, kNoCluster},
    {"cluster-compatibility-sample-ratio", "", Number("0"), kHidden, kNoCluster},
    {"cluster-slot-migration-handoff-max-lag-bytes", "", Bytes("1048576"), kHidden, kNoCluster},
    {"cluster-slot-migration-write-pause-timeout", "", Number("10000"), kHidden, kNoCluster},
    {"availability-zone", "", Word(""), kHidden, kNoCluster},
    {"tls-cluster", "", YesNo("no"), 0, kNoCluster},

    {"rdbchecksum", "", YesNo("yes"), 0, kOwnSnapshot},
    {"rdb-version-check", "", Word("strict"), kHidden, kOwnSnapshot},
    {"rdb-save-incremental-fsync", "", YesNo("yes"), 0, kOwnSnapshot},

    {"aof-use-rdb-preamble", "", YesNo("yes"), 0, kOwnLog},
    {"aof-timestamp-enabled", "", YesNo("no"), 0, kOwnLog},
    {"aof-rewrite-incremental-fsync", "", YesNo("yes"), 0, kOwnLog},
    {"aof-disable-auto-gc", "", YesNo("no"), 0, kOwnLog},
    {"aof-load-corrupt-tail-max-size", "", Bytes("0"), kHidden, kOwnLog},
    {"no-appendfsync-on-rewrite", "", YesNo("no"), 0, kOwnLog},

    {"lazyfree-lazy-eviction", "", YesNo("no"), 0, kSlices},
    {"lazyfree-lazy-expire", "", YesNo("no"), 0, kSlices},
    {"lazyfree-lazy-server-del", "", YesNo("no"), 0, kSlices},
    {"lazyfree-lazy-user-del", "", YesNo("no"), 0, kSlices},
    {"lazyfree-lazy-user-flush", "", YesNo("no"), 0, kSlices},

    {"io-threads", "", Number("1"), 0, kOneThread},
    {"io-threads-do-reads", "", YesNo("no"), 0, kOneThread},
    {"io-threads-always-active", "", YesNo("no"), kHidden, kOneThread},
    {"events-per-io-thread", "", Number("2"), kHidden, kOneThread},
    {"prefetch-batch-max-size", "", Number("16"), kHidden, kOneThread},
    {"min-io-threads-avoid-copy-reply", "", Number("7"), kHidden, kOneThread},
    {"lookahead", "", Number("16"), kHidden, kOneThread},

    {"loadmodule", "", Several(""), kImmutable | kHidden | kRepeated, kNoModules},
    {"enable-module-command", "", Word("no"), kImmutable, kNoModules},

    {"oom-score-adj", "", Word("no"), 0, kSupervisor},
    {"oom-score-adj-values", "", Several("0 200 800"), 0, kSupervisor},
    {"server_cpulist", "server-cpulist", Word(""), kImmutable, kSupervisor},
    {"bio_cpulist", "bio-cpulist", Word(""), kImmutable, kSupervisor},
    {"aof_rewrite_cpulist", "aof-rewrite-cpulist", Word(""), kImmutable, kSupervisor},
    {"bgsave_cpulist", "bgsave-cpulist", Word(""), kImmutable, kSupervisor},

    {"syslog-enabled", "", YesNo("no"), kImmutable, kNoSyslog},
    {"syslog-ident", "", Word("redis"), kImmutable, kNoSyslog},
    {"syslog-facility", "", Word("local0"), kImmutable, kNoSyslog},

    {"always-show-logo", "", YesNo("no"), kImmutable, kOneLogFormat},
    {"log-format", "", Word("legacy"), kHidden, kOneLogFormat},
    {"log-timestamp-format", "", Word("legacy"), kHidden, kOneLogFormat},
    {"hide-user-data-from-log", "", YesNo("no"), kHidden, kOneLogFormat},
    {"crash-log-enabled", "", YesNo("yes"), 0, kOneLogFormat},
    {"crash-memcheck-enabled", "", YesNo("yes"), 0, kOneLogFormat},
    {"ignore-warnings", "", Word(""), 0, kOneLogFormat},

    {"set-proc-title", "", YesNo("yes"), kImmutable, kProcessName},
    {"proc-title-template", "", Word("{title} {listen-addr} {server-mode}"), 0, kProcessName},

    {"disable-thp", "", YesNo("yes"), kImmutable, kMemoryByItself},
    {"jemalloc-bg-thread", "", YesNo("yes"), 0, kMemoryByItself},
    {"activerehashing", "", YesNo("yes"), 0, kMemoryByItself},
    {"activedefrag", "", YesNo("no"), 0, kMemoryByItself},
    {"active-defrag-ignore-bytes", "", Bytes("104857600"), 0, kMemoryByItself},
    {"active-defrag-threshold-lower", "", Number("10"), 0, kMemoryByItself},
    {"active-defrag-threshold-upper", "", Number("100"), 0, kMemoryByItself},
    {"active-defrag-cycle-min", "", Number("1"), 0, kMemoryByItself},
    {"active-defrag-cycle-max", "", Number("25"), 0, kMemoryByItself},
    {"active-defrag-max-scan-fields", "", Number("1000"), 0, kMemoryByItself},
    {"maxmemory-samples", "", Number("5"), 0, kMemoryByItself},
    {"maxmemory-eviction-tenacity", "", Number("10"), 0, kMemoryByItself},
    {"key-memory-histograms", "", YesNo("no"), kHidden, kMemoryByItself},

    {"active-expire-effort", "", Number("1"), 0, kClockWork},
    {"dynamic-hz", "", YesNo("yes"), 0, kClockWork},
    {"max-new-connections-per-cycle", "", Number("10"), kHidden, kClockWork},
    {"max-new-tls-connections-per-cycle", "", Number("1"), kHidden, kClockWork},

    {"stream-node-max-bytes", "", Bytes("4096"), 0, kNoStreams},
    {"stream-node-max-entries", "", Number("100"), 0, kNoStreams},
    {"stream-idmp-duration", "", Number("100"), kHidden, kNoStreams},
    {"stream-idmp-maxsize", "", Number("100"), kHidden, kNoStreams},

    {"list-compress-depth", "", Number("0"), 0, kOneEncoding},
    {"set-max-listpack-entries", "", Number("128"), kHidden, kOneEncoding},
    {"set-max-listpack-value", "", Bytes("64"), kHidden, kOneEncoding},
    {"hash-max-zipmap-entries", "", Number("512"), kHidden, kOneEncoding},
    {"hash-max-zipmap-value", "", Bytes("64"), kHidden, kOneEncoding},
    {"list-max-ziplist-entries", "", Number("512"), kHidden, kOneEncoding},
    {"list-max-ziplist-value", "", Bytes("64"), kHidden, kOneEncoding},
    {"hash-seed", "", Word(""), kHidden, kOneEncoding},

    {"latency-tracking", "", YesNo("yes"), 0, kNoHistogram},
    {"latency-tracking-info-percentiles", "", Several("50 99 99.9"), 0, kNoHistogram},

    {"enable-protected-configs", "", Word("no"), kImmutable, kFixedConfig},

    {"acl-pubsub-default", "", Word("resetchannels"), 0, kNewUsers},

    {"bind-source-addr", "", Word(""), 0, kNoOutgoing},
    {"socket-mark-id", "", Number("0"), kImmutable, kNoOutgoing},
    {"tls-client-cert-file", "", Word(""), 0, kNoOutgoing},
    {"tls-client-key-file", "", Word(""), 0, kNoOutgoing},
    {"tls-client-key-file-pass", "", Word(""), kSensitive, kNoOutgoing},
    {"mptcp", "", YesNo("no"), kHidden, kNoOutgoing},
    {"unixsocketgroup", "", Word(""), kImmutable | kHidden, kNoOutgoing},

    {"tls-protocols", "", Word(""), 0, kOpensslDefaults},
    {"tls-ciphers", "", Word(""), 0, kOpensslDefaults},
    {"tls-ciphersuites", "", Word(""), 0, kOpensslDefaults},
    {"tls-prefer-server-ciphers", "", YesNo("no"), 0, kOpensslDefaults},
    {"tls-dh-params-file", "", Word(""), 0, kOpensslDefaults},
    {"tls-session-caching", "", YesNo("yes"), 0, kOpensslDefaults},
    {"tls-session-cache-size", "", Number("20480"), 0, kOpensslDefaults},
    {"tls-session-cache-timeout", "", Number("300"), 0, kOpensslDefaults},

    {"tls-ca-cert-dir", "", Word(""), 0, kOneCaFile},
    {"tls-auth-clients-user", "", Word("off"), kHidden, kOneCaFile},

    {"lua-enable-insecure-api", "", YesNo("no"), kHidden, kScripts},
    {"lua-enable-deprecated-api", "", YesNo("no"), kHidden, kScripts},
    {"locale-collate", "", Word(""), kHidden, kScripts},

    {"extended-redis-compatibility", "", YesNo("no"), kHidden, kOneProduct},
    {"import-mode", "", YesNo("no"), kHidden, kOneProduct},
    {"gopher-enabled", "", YesNo("no"), kHidden, kOneProduct},
};

}  // namespace tally::server::accepted
