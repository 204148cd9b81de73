#include "server/dispatch/admission.h"

#include <catch2/catch.hpp>

#include "server/command_harness.h"

namespace tally::server::admission_test {

TEST_CASE("admission: of all that stands against a command its client hears the first") {
  CommandHarness h;
  h.Run("SET key value");
  h.Run("ACL SETUSER bob on nopass ~* &* +@all -set");
  h.Run("CONFIG SET requirepass secret");
  Client& client = *h.Connect();
  h.persistence.error = absl::UnavailableError("disk");
  h.state.services.loading = true;
  h.config.maxmemory = 1;

  const auto refused_with = [&](std::string_view error) {
    const std::string reply = h.Run(client, "SET key value");
    INFO(reply);
    return reply.starts_with(error);
  };
  CHECK(refused_with("-NOAUTH"));
  REQUIRE(h.Run(client, "AUTH bob any") == "+OK");
  CHECK(refused_with("-NOPERM"));
  client.acl = nullptr;
  // While the files are in trouble nothing is evicted, so memory is not asked about.
  CHECK(refused_with("-MISCONF"));
  h.persistence.error = absl::OkStatus();
  CHECK(refused_with("-LOADING"));
  h.state.services.loading = false;
  client.channels.insert("news");
  CHECK(refused_with("-OOM"));
  h.config.maxmemory = 0;
  h.state.services.script_busy = true;
  CHECK(refused_with("-ERR Can't execute 'set'"));
  client.channels.clear();
  CHECK(refused_with("-BUSY"));
  h.state.services.script_busy = false;
  CHECK(h.Run(client, "SET key value") == "+OK");
}

TEST_CASE("admission: a pause holds back writes or all, until its end, and never its own end") {
  CommandHarness h;
  Client& other = *h.Connect();
  h.state.pause = {.until_ms = h.state.clock.elapsed_ms() + 100, .writes_only = true};
  CHECK(h.Run("GET k") == "nil");
  CHECK(h.Run("SET k v") == "postponed");
  h.state.pause.writes_only = false;
  CHECK(h.Run(other, "GET k") == "postponed");
  CHECK(h.Run(*h.Connect(), "CLIENT UNPAUSE") == "+OK");
  h.state.pause = {.until_ms = h.state.clock.elapsed_ms() + 100, .writes_only = false};
  h.Advance(99);
  CHECK(h.Run(other, "GET k") == "postponed");
  h.Advance(1);
  CHECK(h.Run(other, "GET k") == "nil");
}

TEST_CASE("admission: whoever sets the clock neither ends a pause nor makes it longer") {
  CommandHarness h;
  Client& other = *h.Connect();
  h.Run("CLIENT PAUSE 1000");
  h.state.clock.Set(h.now() + 3'600'000);
  CHECK(h.Run(other, "GET k") == "postponed");
  h.state.clock.Set(h.now() - 7'200'000);
  h.Advance(999);
  CHECK(h.Run(other, "GET k") == "postponed");
  h.Advance(1);
  CHECK(h.Run(other, "GET k") == "nil");
}

}  // namespace tally::server::admission_test
