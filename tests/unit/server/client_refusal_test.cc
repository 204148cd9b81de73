#include "server/net/client_refusal.h"

#include <catch2/catch.hpp>
#include <climits>

#include "server/log/trouble_log.h"
#include "server/table_harness.h"

namespace tally::server::client_refusal_test {
namespace {

constexpr NewConnection kResp{0, true, Protocol::kResp};
constexpr NewConnection kHttp{0, true, Protocol::kHttp};
constexpr NewConnection kRemote{0, false, Protocol::kResp};
constexpr NewConnection kRemoteHttp{0, false, Protocol::kHttp};

const std::string kFull = "-ERR max number of clients reached\r\n";

std::string Asked(TableHarness& t, const NewConnection& connection) {
  return RefusalOf(connection, t.server, t.connections);
}

}  // namespace

TEST_CASE("client refusal: when all places are taken, until a client goes") {
  Config config;
  config.maxclients = 2;
  TableHarness t(config);
  const FarEnd ends[2];
  CHECK(Asked(t, kResp).empty());
  Connection& first = t.Open(ends[0]);
  CHECK(Asked(t, kResp).empty());
  t.Open(ends[1]);
  CHECK_FALSE(t.server.troubles.places.active());
  CHECK(Asked(t, kResp) == kFull);
  CHECK(t.server.troubles.places.active());
  CHECK(Asked(t, kHttp).starts_with("HTTP/1.1 503 "));
  first.Close();
  t.connections.EraseClosed();
  CHECK(Asked(t, kResp).empty());
}

TEST_CASE("client refusal: HTTP has half of the places, of an odd number the larger half") {
  for (const size_t most : {1, 4, 5}) {
    Config config;
    config.maxclients = static_cast<int64_t>(most);
    TableHarness t(config);
    INFO(most);
    for (t.site.sessions = 0; t.site.sessions < (most + 1) / 2; ++t.site.sessions) {
      CHECK(Asked(t, kHttp).empty());
    }
    CHECK(Asked(t, kHttp).starts_with("HTTP/1.1 503 "));
    CHECK(Asked(t, kResp).empty());
    t.site.sessions = 0;
  }
}

TEST_CASE("client refusal: protected mode takes other machines only if there is a password") {
  Config config;
  config.protected_mode = true;
  TableHarness t(config);
  CHECK(Asked(t, kResp).empty());
  CHECK(Asked(t, kRemote).starts_with("-DENIED "));
  CHECK(Asked(t, kRemoteHttp).starts_with("HTTP/1.1 403 "));
  t.loop.h.config.protected_mode = false;
  CHECK(Asked(t, kRemote).empty());
  t.loop.h.config.protected_mode = true;
  t.loop.h.Run("ACL SETUSER default resetpass >secret");
  CHECK(Asked(t, kRemote).empty());
  t.loop.h.Run("ACL SETUSER default nopass");
  CHECK(Asked(t, kRemote).starts_with("-DENIED "));
}

TEST_CASE("client refusal: the last descriptors are for no client") {
  TableHarness t;
  CHECK_FALSE(t.server.troubles.descriptors.active());
  CHECK(Asked(t, {INT_MAX, true, Protocol::kResp}) == kFull);
  CHECK(t.server.troubles.descriptors.active());
}

}  // namespace tally::server::client_refusal_test
