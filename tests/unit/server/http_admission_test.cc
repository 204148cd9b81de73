// Which HTTP requests are refused before their bodies come, and when event streams end.
#include <catch2/catch.hpp>
#include <string>

#include "server/acl/acl_log.h"
#include "server/http/http_limits.h"
#include "server/http_peer.h"

namespace tally::server::http_admission_test {
namespace {

constexpr std::string_view kHost = "Host: localhost\r\n";
constexpr std::string_view kHealth = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";

struct Case {
  std::string_view line;
  std::string_view headers;
  int status;
};

constexpr Case kRefused[] = {
    {"POST /api", "Host: evil.example\r\n", 421},
    {"POST /nothing", kHost, 404},
    {"POST /healthz", kHost, 405},
    {"PUT /api", kHost, 405},
    {"POST /api", "Host: localhost\r\nOrigin: http://evil.example\r\n", 403},
    {"GET /check/p?key=k", "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n", 403},
    {"POST /api", kHost, 401},
    {"POST /check/p?key=k", "Host: localhost\r\nAuthorization: Bearer wrong\r\n", 401},
    {"GET /events", "Host: localhost\r\nAuthorization: Bearer ann:pw\r\n", 403},
    {"HEAD /metrics", "Host: localhost\r\nAuthorization: Bearer ann:pw\r\n", 403},
};

CommandHarness& WithUsers(CommandHarness& harness) {
  harness.config.requirepass = "secret";
  harness.Run("ACL SETUSER ann on >pw ~* +get");
  return harness;
}

std::string Head(const Case& one, std::string_view announcement) {
  return StrCat(one.line, " HTTP/1.1\r\n", one.headers, announcement, "\r\n");
}

}  // namespace

TEST_CASE("http: what a head is refused for is said before its body comes", "[http]") {
  for (const std::string_view announcement :
       {"Content-Length: 250000\r\n", "Transfer-Encoding: chunked\r\n",
        "Expect: 100-continue\r\nContent-Length: 250000\r\n"}) {
    for (const Case& one : kRefused) {
      INFO(one.line << announcement);
      CommandHarness harness;
      HttpPeer peer(WithUsers(harness));
      harness.state.clock.SetSteady(1000);
      peer.Send(Head(one, announcement));
      const ResponseText response = peer.Take(!one.line.starts_with("HEAD"));
      CHECK(response.status == one.status);
      CHECK(response.Header("Connection") == "close");
      CHECK(response.Header("WWW-Authenticate").empty() == (one.status != 401));
      CHECK(response.Header("Allow").empty() == (one.status != 405));
      CHECK(peer.received.empty());
      // What comes of the body is not kept, and the client may read the response for a while.
      CHECK(peer.session.finished());
      peer.session.Take(std::string(100'000, 'x'));
      peer.session.Run();
      CHECK(peer.session.buffered() < 1000);
      CHECK_FALSE(peer.session.CheckDeadlines());
      harness.state.clock.SetSteady(1001 + kLingerMs);
      CHECK(peer.session.CheckDeadlines());
    }
  }
}

TEST_CASE("http: a refused request whose body came with its head keeps the connection", "[http]") {
  for (const Case& one : kRefused) {
    INFO(one.line);
    CommandHarness harness;
    HttpPeer peer(WithUsers(harness));
    for (const std::string_view body :
         {"Content-Length: 3\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
          "\r\n"}) {
      peer.Send(StrCat(one.line, " HTTP/1.1\r\n", one.headers, body, kHealth));
      CHECK(peer.Take(!one.line.starts_with("HEAD")).status == one.status);
      CHECK(peer.Take().body == "ok\n");
    }
    CHECK_FALSE(peer.session.finished());
  }
}

TEST_CASE("http: who is logged in sends a body in as many pieces as he likes", "[http]") {
  CommandHarness harness;
  HttpPeer peer(WithUsers(harness));
  const std::string request =
      StrCat("POST /api HTTP/1.1\r\n", kHost,
             "Authorization: Bearer secret\r\nContent-Length: 8\r\n\r\n", "[\"PING\"]");
  peer.Send(request + request, 1);
  CHECK(peer.Take().body == "\"PONG\"\n");
  CHECK(peer.Take().body == "\"PONG\"\n");
  // The rights are those at the end of the body.
  peer.Send(request.substr(0, request.size() - 1));
  harness.config.requirepass = "changed";
  peer.Send("]");
  CHECK(peer.Take().status == 401);
  // Each refusal is one line of ACL LOG.
  CHECK(harness.state.acl_log.entries().size() == 1);
}

TEST_CASE("http: where no user is asked for a body has at most 16 KiB", "[http]") {
  CommandHarness harness;
  const auto ask = [&](size_t bytes, size_t most) {
    HttpPeer peer(harness);
    peer.Send(StrCat("GET /healthz HTTP/1.1\r\n", kHost, "Content-Length: ", bytes, "\r\n\r\n",
                     std::string(bytes, 'x')),
              most);
    return peer.Take().status;
  };
  for (const size_t most : {size_t{1000}, SIZE_MAX}) {
    CHECK(ask(kMaxOpenBody, most) == 200);
    CHECK(ask(kMaxOpenBody + 1, most) == 413);
  }
  HttpPeer peer(harness);
  peer.Send(StrCat("GET / HTTP/1.1\r\n", kHost, "Transfer-Encoding: chunked\r\n\r\n4001\r\n"));
  CHECK(peer.Take().status == 413);
  // One that is whole ends nothing.
  HttpPeer whole(harness);
  whole.Send(StrCat("GET /healthz HTTP/1.1\r\n", kHost, "Content-Length: 20000\r\n\r\n",
                    std::string(20000, 'x'), kHealth));
  CHECK(whole.Take().status == 413);
  CHECK(whole.Take().status == 200);
  HttpPeer awaited(harness);
  awaited.Send(StrCat("GET /healthz HTTP/1.1\r\n", kHost,
                      "Expect: 100-continue\r\nContent-Length: 20000\r\n\r\n"));
  CHECK(awaited.Take().status == 413);
  // The limit is that of one request.
  HttpPeer next(harness);
  next.Send(StrCat("GET /healthz HTTP/1.1\r\n", kHost, "Content-Length: 3\r\n\r\nab"));
  next.Send("c");
  CHECK(next.Take().status == 200);
  next.Send(StrCat("POST /api HTTP/1.1\r\n", kHost, "Content-Length: 30011\r\n\r\n[\"ECHO\",\"",
                   std::string(30000, 'x')));
  next.Send("\"]");
  CHECK(next.Take().status == 200);
}

TEST_CASE("http: events end when their reader loses his rights", "[http]") {
  const auto ends_after = [](std::string_view change, std::string_view token = "ann:pw") {
    CommandHarness harness;
    harness.Run("ACL SETUSER ann on >pw +info");
    harness.Run("ACL SETUSER bob on >pw +info");
    HttpPeer peer(harness);
    peer.Send(StrCat("GET /events HTTP/1.1\r\n", kHost,
                     token.empty() ? "" : StrCat("Authorization: Bearer ", token, "\r\n"), "\r\n"));
    REQUIRE(peer.Take().status == 200);
    REQUIRE_FALSE(peer.session.CheckDeadlines());
    CHECK(harness.Run(change) != "");
    return peer.session.CheckDeadlines() || peer.session.client().finished();
  };
  CHECK_FALSE(ends_after("PING"));
  CHECK_FALSE(ends_after("ACL SETUSER bob reset"));
  CHECK_FALSE(ends_after("ACL SETUSER ann +get"));
  CHECK(ends_after("ACL SETUSER ann -info"));
  CHECK(ends_after("ACL SETUSER ann off"));
  CHECK(ends_after("ACL SETUSER ann resetpass >other"));
  CHECK(ends_after("ACL DELUSER ann"));
  CHECK_FALSE(ends_after("CONFIG SET requirepass secret"));
  CHECK(ends_after("CONFIG SET requirepass secret", ""));
  CHECK(ends_after("ACL SETUSER default -info", ""));
  CHECK_FALSE(ends_after("ACL DELUSER ann", ""));
}

}  // namespace tally::server::http_admission_test
