#include <catch2/catch.hpp>
#include <set>

#include "server/command_harness.h"
#include "server/figures/figure_sink.h"
#include "server/figures/info.h"

namespace tally::server::server_admin_commands_test {
namespace {

// The value of a row; "-" if there is none.
std::string Row(const std::string& text, const std::string& name) {
  const size_t at = text.find("\n" + name + ":");
  if (at == std::string::npos) return "-";
  const size_t begin = at + name.size() + 2;
  return text.substr(begin, text.find('\r', begin) - begin);
}

std::vector<std::string> Titles(const std::string& text) {
  std::vector<std::string> titles;
  for (size_t at = text.find("# "); at != std::string::npos; at = text.find("# ", at + 1)) {
    titles.push_back(text.substr(at + 2, text.find('\r', at) - at - 2));
  }
  return titles;
}

std::string InfoOf(CommandHarness& h, std::vector<std::string_view> words = {}) {
  return RenderInfo(h.state.services, words);
}

}  // namespace

TEST_CASE("info: sections by name, each once, in their order") {
  CommandHarness h;
  const std::vector<std::string> by_default = {
      "Server", "Clients", "Memory",     "Persistence", "Stats",   "Replication",
      "CPU",    "Modules", "Errorstats", "Cluster",     "Keyspace"};
  CHECK(Titles(InfoOf(h)) == by_default);
  CHECK(Titles(InfoOf(h, {"DEFAULT"})) == by_default);
  CHECK(Titles(InfoOf(h, {"all"})).size() == 15);
  CHECK(Titles(InfoOf(h, {"everything", "cpu"})).size() == 15);
  CHECK(Titles(InfoOf(h, {"keyspace", "Stats", "stats"})) ==
        std::vector<std::string>{"Stats", "Keyspace"});
  CHECK(InfoOf(h, {"foo"}).empty());
  CHECK(h.Run("INFO cluster") == "\"# Cluster\\r\\ncluster_enabled:0\\r\\n\"");
  h.self->reply.set_protocol(3);
  CHECK(h.Run("INFO cluster") == "txt:\"# Cluster\\r\\ncluster_enabled:0\\r\\n\"");
}

TEST_CASE("info: what tools read") {
  CommandHarness h;
  h.Run("SET a 1");
  h.Run("SET b 1 EX 100000");
  h.Run("GET a");
  h.Run("GET none");
  h.Run("INCR a b");
  h.Run("SETEX a 0 x");
  h.state.pubsub.Subscribe(*h.Connect(), "news");
  h.Advance(90'000'000);
  const std::string text = InfoOf(h, {"all"});
  CHECK(Row(text, "redis_version") == "7.0.15");
  CHECK(Row(text, "tallyd_version") == TALLYD_VERSION);
  CHECK(Row(text, "loading") == "-");  // the fake files tell of nothing but this:
  CHECK(Row(text, "aof_enabled") == "0");
  CHECK(Row(text, "uptime_in_seconds") == "90000");
  CHECK(Row(text, "uptime_in_days") == "1");
  CHECK(Row(text, "connected_clients") == "2");
  CHECK(Row(text, "role") == "master");
  CHECK(Row(text, "connected_slaves") == "0");
  CHECK(Row(text, "keyspace_hits") == "1");
  CHECK(Row(text, "keyspace_misses") == "1");
  CHECK(Row(text, "total_commands_processed") == "5");
  CHECK(Row(text, "total_error_replies") == "2");
  CHECK(Row(text, "errorstat_ERR") == "count=2");
  CHECK(Row(text, "pubsub_channels") == "1");
  CHECK(Row(text, "db0") == "keys=2,expires=1,avg_ttl=10000000");
  CHECK(Row(text, "db1") == "-");
  CHECK(Row(text, "maxmemory_policy") == "noeviction");
  CHECK(Row(text, "cmdstat_get").rfind("calls=2,usec=", 0) == 0);
  CHECK(Row(text, "cmdstat_incr").find("calls=0,usec=0,usec_per_call=0.00,rejected_calls=1") == 0);
  CHECK(Row(text, "cmdstat_setex").find("rejected_calls=0,failed_calls=1") != std::string::npos);
  CHECK(Row(text, "cmdstat_mget") == "-");
  CHECK(Row(text, "latency_percentiles_usec_get").rfind("p50=", 0) == 0);
  CHECK(Row(text, "used_memory") != "0");
  CHECK(Row(text, "used_memory_rss") != "0");
}

TEST_CASE("info: rows are names and values") {
  CommandHarness h;
  const std::string text = InfoOf(h, {"everything"});
  std::set<std::string> names;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find("\r\n", at);
    REQUIRE(end != std::string::npos);
    const std::string line = text.substr(at, end - at);
    at = end + 2;
    if (line.empty() || line[0] == '#') continue;
    INFO(line);
    REQUIRE(line.find(':') != std::string::npos);
    CHECK(names.insert(line.substr(0, line.find(':'))).second);
  }
  CHECK(names.size() > 100);
}

TEST_CASE("info: bytes for people") {
  CHECK(HumanBytes(0) == "0B");
  CHECK(HumanBytes(1023) == "1023B");
  CHECK(HumanBytes(1024) == "1.00K");
  CHECK(HumanBytes(2498000) == "2.38M");
  CHECK(HumanBytes(25274793984) == "23.54G");
  CHECK(HumanBytes(size_t{3} << 40) == "3.00T");
}

TEST_CASE("saving") {
  CommandHarness h;
  CHECK(h.Run("LASTSAVE") == ":1600000000");
  CHECK(h.Run("SAVE") == "+OK");
  CHECK(h.persistence.saves == 1);
  h.persistence.save_status = absl::UnavailableError("disk full");
  CHECK(h.Run("SAVE") == "-ERR disk full");
  CHECK(h.Run("BGSAVE x") == "-ERR syntax error");
  CHECK(h.Run("BGSAVE") == "+Background saving started");
  CHECK(h.Run("BGSAVE SCHEDULE") == "-ERR Background save already in progress");
  CHECK(h.Run("BGREWRITEAOF") == "-ERR Background append only file rewriting already in progress");
  h.persistence.in_rewrite = false;
  CHECK(h.Run("BGREWRITEAOF") == "+Background append only file rewriting started");
  CHECK(h.persistence.in_rewrite);
}

TEST_CASE("shutdown: no reply when it works, an error when it does not") {
  CommandHarness h;
  for (const char* line : {"SHUTDOWN foo", "SHUTDOWN SAVE NOSAVE", "SHUTDOWN NOW ABORT"}) {
    CHECK(h.Run(line) == "-ERR syntax error");
  }
  CHECK(h.Run("SHUTDOWN ABORT") == "-ERR No shutdown in progress.");
  CHECK(h.process.shutdowns == 0);
  CHECK(h.Run("SHUTDOWN NOSAVE").empty());
  CHECK(h.process.shutdowns == 1);
  CHECK_FALSE(h.process.saving);
  CHECK(h.persistence.saves + h.persistence.saves_at_end == 0);
  CHECK(h.Run("SHUTDOWN").empty());
  CHECK(h.process.saving);
  CHECK(h.persistence.saves == 0);
  CHECK(h.persistence.saves_at_end == 1);
  h.process.shutdowns = 1;
  CHECK_FALSE(h.process.forced);
  CHECK(h.Run("SHUTDOWN SAVE NOW FORCE").empty());
  CHECK(h.persistence.saves == 1);
  CHECK(h.process.forced);
  h.persistence.save_status = absl::UnavailableError("disk full");
  CHECK(h.Run("SHUTDOWN SAVE") == "-ERR Errors trying to SHUTDOWN. Check logs.");
  CHECK(h.process.shutdowns == 2);
  CHECK(h.Run("SHUTDOWN SAVE FORCE").empty());
  CHECK(h.process.shutdowns == 3);
  h.process.shutdown_status = absl::UnavailableError("no");
  CHECK(h.Run("SHUTDOWN") == "-ERR Errors trying to SHUTDOWN. Check logs.");
}

TEST_CASE("monitor: shows what others run, but no passwords") {
  CommandHarness h;
  Client& watcher = *h.Connect();
  CHECK(h.Run(watcher, "MONITOR") == "+OK");
  CHECK(h.Run(watcher, "MONITOR").empty());
  h.Run({"SET", "a", "x\ny"});
  h.Run("AUTH default secret");
  h.Run("HELLO 2 AUTH default secret");
  h.Run("CONFIG SET requirepass secret");
  CHECK(h.Received(watcher) == "+1700000000.000000 [0 127.0.0.1:50001] \"SET\" \"a\" \"x\\ny\"");
}

TEST_CASE("monitor: not in a transaction, and a monitor does nothing with keys") {
  CommandHarness h;
  h.Run("MULTI");
  CHECK(h.Run("MONITOR") == "+QUEUED");
  CHECK(h.Run("GET k") == "+QUEUED");
  CHECK(h.Run("EXEC") == "[-ERR MONITOR isn't allowed for DENY BLOCKING client nil]");
  CHECK_FALSE(h.self->monitor);
  CHECK(h.Run("MONITOR") == "+OK");
  for (const char* line :
       {"GET k", "SET k 1", "EVAL x 0", "EVAL_RO x 0", "PUBLISH c x", "DBSIZE", "KEYS *",
        "FLUSHALL", "HITS.ADD k 5m", "LIMIT.PEEK k ALLOW", "POLICY.LIST", "OBJECT ENCODING k"}) {
    INFO(line);
    CHECK(h.Run(line) == "-ERR Replica can't interact with the keyspace");
  }
  for (const char* line : {"PING", "SELECT 1", "WATCH k", "CONFIG GET port", "ACL WHOAMI"}) {
    INFO(line);
    CHECK_FALSE(h.Run(line).starts_with("-"));
  }
  h.Run("MULTI");
  CHECK(h.Run("GET k").starts_with("-ERR Replica"));
  CHECK(h.Run("EXEC").starts_with("-EXECABORT"));
  CHECK(h.Run("RESET") == "+RESET");
  CHECK(h.Run("GET k") == "nil");
}

TEST_CASE("replication and cluster: a server that is alone") {
  CommandHarness h;
  CHECK(h.Run("ROLE") == "[\"master\" :0 []]");
  CHECK(h.Run("REPLICAOF NO ONE") == "+OK");
  CHECK(h.Run("SLAVEOF no one") == "+OK");
  CHECK(h.Run("REPLICAOF localhost x") == "-ERR Invalid master port");
  CHECK(h.Run("REPLICAOF localhost 65536") == "-ERR Invalid master port");
  CHECK(h.Run("CLUSTER INFO") == "-ERR This instance has cluster support disabled");
}

TEST_CASE("config: get and set") {
  CommandHarness h;
  CHECK(h.Run("CONFIG GET hz") == "[\"hz\" \"10\"]");
  CHECK(h.Run("CONFIG GET none") == "[]");
  CHECK(h.Run("CONFIG GET") == "-ERR wrong number of arguments for 'config|get' command");
  CHECK(h.Run("CONFIG SET a") == "-ERR wrong number of arguments for 'config|set' command");
  CHECK(h.Run("CONFIG SET a b c") == "-ERR syntax error");
  CHECK(h.Run("CONFIG SET foo 1") ==
        "-ERR Unknown option or number of arguments for CONFIG SET - 'foo'");
  CHECK(h.Run("CONFIG SET maxmemory x") ==
        "-ERR CONFIG SET failed (possibly related to argument 'maxmemory') - argument must be a "
        "memory value");
  CHECK(h.process.applied.empty());
  CHECK(h.Run("CONFIG SET maxmemory 1mb hz 20") == "+OK");
  CHECK(h.process.applied == std::vector<std::string>{"maxmemory", "hz"});
  h.self->reply.set_protocol(3);
  CHECK(h.Run("CONFIG GET maxmemory hz") == "{\"maxmemory\" \"1048576\" \"hz\" \"20\"}");
}

TEST_CASE("config: what cannot be put into effect is taken back") {
  CommandHarness h;
  h.process.apply_status = absl::UnavailableError("no room");
  CHECK(h.Run("CONFIG SET hz 20 maxclients 5") ==
        "-ERR CONFIG SET failed (possibly related to argument 'hz') - no room");
  CHECK(h.config.hz == 10);
  CHECK(h.config.maxclients == 10000);
}

TEST_CASE("config: rewrite needs a file, resetstat starts the counters again") {
  CommandHarness h;
  CHECK(h.Run("CONFIG REWRITE") == "-ERR The server is running without a config file");
  h.state.services.config_path = "/nonexistent/tallyd.conf";
  CHECK(h.Run("CONFIG REWRITE").rfind("-ERR Rewriting config file: ", 0) == 0);
  h.Run("SET a 1");
  h.state.stats.changes_since_save = 7;
  CHECK(h.Run("CONFIG RESETSTAT") == "+OK");
  CHECK(h.state.stats.commands_processed == 1);  // that one
  CHECK(h.state.stats.errors.empty());
  CHECK(h.state.stats.changes_since_save == 7);
}

}  // namespace tally::server::server_admin_commands_test
