#include "server/http/http_session.h"

#include <catch2/catch.hpp>
#include <string>

#include "server/http/http_limits.h"
#include "server/http/same_site.h"
#include "server/http_peer.h"

namespace tally::server::http_session_test {
namespace {

constexpr std::string_view kHealth = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";

// What a whole stream of bytes is answered with, and whether the connection ends then.
struct Outcome {
  std::vector<int> statuses;
  bool finished;
  bool operator==(const Outcome&) const = default;
};

Outcome OutcomeOf(std::string_view bytes, size_t most = SIZE_MAX) {
  CommandHarness harness;
  HttpPeer peer(harness);
  peer.Send(bytes, most);
  Outcome outcome{{}, peer.session.finished()};
  for (auto response = peer.Take(); response.status != 0; response = peer.Take()) {
    outcome.statuses.push_back(response.status);
  }
  CHECK(peer.received.empty());
  return outcome;
}

Outcome Refused(int status) { return {{status}, true}; }

}  // namespace

TEST_CASE("http: requests are answered wherever they are cut", "[http]") {
  const std::string three = StrCat(kHealth, "GET /nothing HTTP/1.1\r\nHost: [::1]:80\r\n\r\n",
                                   "POST /api HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: "
                                   "chunked\r\n\r\n3\r\n[\"P\r\n5\r\nING\"]\r\n0\r\n\r\n",
                                   kHealth);
  for (size_t most = 1; most < three.size(); most += 1 + most / 5) {
    CHECK(OutcomeOf(three, most) == Outcome{{200, 404, 200, 200}, false});
  }
}

TEST_CASE("http: a connection is kept as the client asks", "[http]") {
  CHECK_FALSE(OutcomeOf(kHealth).finished);
  CHECK(OutcomeOf("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n") ==
        Refused(200));
  CHECK(OutcomeOf("GET /healthz HTTP/1.0\r\n\r\n") == Refused(200));
  CHECK_FALSE(OutcomeOf("GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").finished);
  // Nothing after the last request is read.
  CHECK(OutcomeOf(StrCat("GET /healthz HTTP/1.0\r\n\r\n", kHealth)) == Refused(200));
}

TEST_CASE("http: HEAD is GET without the body", "[http]") {
  CommandHarness harness;
  HttpPeer peer(harness);
  const ResponseText head = peer.Ask("HEAD /healthz");
  CHECK(head.status == 200);
  CHECK(head.Header("Content-Length") == "3");
  CHECK(peer.received.empty());
  CHECK(peer.Ask("GET /healthz").body == "ok\n");
}

TEST_CASE("http: every response has the headers that browsers need", "[http]") {
  CommandHarness harness;
  HttpPeer peer(harness);
  for (const std::string_view path : {"/healthz", "/nothing"}) {
    const ResponseText response = peer.Ask(StrCat("GET ", path));
    CHECK(response.Header("Content-Security-Policy") ==
          "default-src 'self'; frame-ancestors 'none'");
    CHECK(response.Header("X-Content-Type-Options") == "nosniff");
    CHECK(response.Header("Referrer-Policy") == "no-referrer");
    CHECK(response.Header("Access-Control-Allow-Origin").empty());
    CHECK(response.Header("Date") == "Tue, 14 Nov 2023 22:13:20 GMT");
  }
}

TEST_CASE("http: bytes that two readers may understand differently are refused", "[http]") {
  const auto with = [](std::string_view lines) {
    return StrCat("POST /healthz HTTP/1.1\r\nHost: localhost\r\n", lines);
  };
  CHECK(OutcomeOf(with("Content-Length: 1\r\nContent-Length: 1\r\n\r\nx")) == Refused(400));
  CHECK(OutcomeOf(with("Content-Length: 1, 1\r\n\r\nx")) == Refused(400));
  CHECK(OutcomeOf(with("Content-Length: +1\r\n\r\nx")) == Refused(400));
  CHECK(OutcomeOf(with("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")) ==
        Refused(400));
  CHECK(OutcomeOf(with("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n")) ==
        Refused(400));
  CHECK(OutcomeOf(with("Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n")) == Refused(501));
  CHECK(OutcomeOf(with("Transfer-Encoding: identity\r\n\r\n")).finished);
  CHECK(OutcomeOf(with("Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n")) == Refused(400));
  CHECK(OutcomeOf(with("Transfer-Encoding: chunked\r\n\r\n-1\r\n")) == Refused(400));
  CHECK(OutcomeOf(with("Transfer-Encoding: chunked\r\n\r\n1z\r\nx\r\n0\r\n\r\n")) == Refused(400));
  CHECK(OutcomeOf(with("Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n")) ==
        Refused(400));
  CHECK(OutcomeOf("GET /healthz HTTP/1.1\r\n\r\n") == Refused(400));
  CHECK(OutcomeOf("GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n") == Refused(400));
  CHECK(OutcomeOf("GET /healthz HTTP/2.0\r\nHost: localhost\r\n\r\n") == Refused(505));
  CHECK(OutcomeOf("CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n").finished);
  CHECK(OutcomeOf("*1\r\n$4\r\nPING\r\n") == Refused(400));
  CHECK(OutcomeOf("PING\r\n") == Refused(400));
  CHECK(OutcomeOf("\x16\x03\x01\x02\x00\x01") == Refused(400));
}

TEST_CASE("http: what one request may hold is bounded", "[http]") {
  const std::string line = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n";
  const auto with_header = [&](size_t bytes) {
    return StrCat(line, "X: ", std::string(bytes, 'x'), "\r\n\r\n");
  };
  // The path, and the names and values of two headers.
  const size_t others = 8 + 13 + 1;
  CHECK(OutcomeOf(with_header(kMaxHttpHead - others)) == Outcome{{200}, false});
  CHECK(OutcomeOf(with_header(kMaxHttpHead - others + 1)) == Refused(431));
  CHECK(OutcomeOf(StrCat("GET /", std::string(kMaxHttpHead, 'a'))) == Refused(431));
  CHECK(OutcomeOf(StrCat(line, std::string(100'000, ' '))) == Refused(431));
  CHECK(OutcomeOf(StrCat(line, "X:", std::string(100'000, ' '))) == Refused(431));
  std::string many = line;
  for (size_t i = 1; i < kMaxHttpHeaders; ++i) many += "A: b\r\n";
  CHECK(OutcomeOf(many + "\r\n") == Outcome{{200}, false});
  CHECK(OutcomeOf(many + "A: b\r\n\r\n") == Refused(431));
}

TEST_CASE("http: a body may have http-max-body bytes, of a length or in chunks", "[http]") {
  CommandHarness harness;
  harness.config.http_max_body = 5;
  const auto ask = [&](std::string_view rest) {
    HttpPeer peer(harness);
    peer.Send(StrCat("POST /api HTTP/1.1\r\nHost: localhost\r\n", rest), 7);
    return peer.Take().status;
  };
  CHECK(ask("Content-Length: 5\r\n\r\n[\"A\"]") == 400);
  CHECK(ask("Content-Length: 6\r\n\r\n") == 413);
  CHECK(ask("Content-Length: 1844674407370955161\r\n\r\n") == 413);
  CHECK(ask("Content-Length: 184467440737095516150\r\n\r\n") == 400);
  CHECK(ask("Transfer-Encoding: chunked\r\n\r\n3\r\n[\"A\r\n2\r\n\"]\r\n0\r\n\r\n") == 400);
  CHECK(ask("Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n") == 413);
}

TEST_CASE("http: 100-continue is said once, and only when the body is awaited", "[http]") {
  CommandHarness harness;
  HttpPeer peer(harness);
  const std::string head =
      "POST /api HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 8\r\n";
  peer.Send(head);
  CHECK(peer.received.empty());
  peer.Send("\r\n");
  CHECK(peer.received == "HTTP/1.1 100 Continue\r\n\r\n");
  peer.received.clear();
  peer.Send("[\"PI");
  CHECK(peer.received.empty());
  peer.Send("NG\"]");
  CHECK(peer.Take().body == "\"PONG\"\n");
  peer.Send(StrCat(head, "\r\n[\"PING\"]"));
  CHECK(peer.Take().body == "\"PONG\"\n");
  CHECK(peer.received.empty());
}

TEST_CASE("http: only addresses, localhost and http-hosts are answered", "[http]") {
  CommandHarness harness;
  harness.config.http_hosts = {"Tally.example"};
  const auto ask = [&](std::string_view host) {
    HttpPeer peer(harness);
    return peer.Ask("GET /healthz", StrCat("Host: ", host, "\r\n")).status;
  };
  for (const std::string_view ours :
       {"localhost", "LOCALHOST:8379", "127.0.0.1:1", "10.1.2.3", "[::1]:8379", "[fe80::1]",
        "tally.example", "TALLY.EXAMPLE:80"}) {
    CHECK(ask(ours) == 200);
  }
  for (const std::string_view other : {"evil.example", "localhost.evil.example", "1.evil:80", "",
                                       "tally.example.org", "127.0.0.1.nip.io", "x@localhost"}) {
    CHECK(ask(other) == 421);
  }
  HttpPeer peer(harness);
  // The target says more than Host.
  CHECK(peer.Ask("GET http://evil.example/healthz").status == 421);
  CHECK(peer.Ask("GET http://[::1]:80/healthz", "Host: evil.example\r\n").status == 200);
}

TEST_CASE("http: a request that does not come to its end is ended, a silent client is closed",
          "[http]") {
  CommandHarness harness;
  harness.state.clock.SetSteady(1000);
  HttpPeer slow(harness);
  HttpPeer silent(harness);
  slow.Send("GET /healthz HTT");
  harness.state.clock.SetSteady(1000 + kMaxRequestMs);
  CHECK_FALSE(slow.session.CheckDeadlines());
  CHECK_FALSE(slow.session.finished());
  slow.Send("P");  // a byte now and then gives no more time
  harness.state.clock.SetSteady(1001 + kMaxRequestMs);
  CHECK_FALSE(slow.session.CheckDeadlines());
  slow.Read();
  CHECK(slow.Take().status == 408);
  CHECK(slow.session.finished());

  silent.Send(kHealth);
  CHECK(harness.state.clock.Advance(kLeastIdleMs));
  CHECK_FALSE(silent.session.CheckDeadlines());
  CHECK(harness.state.clock.Advance(1));
  CHECK(silent.session.CheckDeadlines());
  harness.config.timeout = kLeastIdleMs / 1000 + 1;
  CHECK_FALSE(silent.session.CheckDeadlines());
}

TEST_CASE("http: a client that takes nothing of its response is closed", "[http]") {
  CommandHarness harness;
  harness.state.clock.SetSteady(1000);
  HttpPeer peer(harness);
  peer.session.Take(kHealth);
  peer.session.Run();
  ByteBlocks& output = peer.session.client().output;
  CHECK_FALSE(peer.session.CheckDeadlines());
  harness.state.clock.SetSteady(1000 + kLeastIdleMs);
  CHECK_FALSE(peer.session.CheckDeadlines());
  output.Consume(1);
  harness.state.clock.SetSteady(1001 + kLeastIdleMs);
  CHECK_FALSE(peer.session.CheckDeadlines());
  harness.state.clock.SetSteady(1002 + 2 * kLeastIdleMs);
  CHECK(peer.session.CheckDeadlines());
  peer.Read();
  CHECK_FALSE(peer.session.CheckDeadlines());
  // One that takes events, and gets more of them, is no exception.
  HttpPeer listener(harness);
  listener.session.Take("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  listener.session.Run();
  CHECK_FALSE(listener.session.CheckDeadlines());
  listener.site.events.Publish("figures", "{}");
  harness.state.clock.SetSteady(1003 + 3 * kLeastIdleMs);
  CHECK(listener.session.CheckDeadlines());
}

TEST_CASE("http: after a refusal what comes is discarded, and soon the connection is closed",
          "[http]") {
  CommandHarness harness;
  harness.state.clock.SetSteady(1000);
  HttpPeer peer(harness);
  peer.Send("nonsense\r\n");
  CHECK(peer.Take().status == 400);
  CHECK(peer.session.finished());
  CHECK_FALSE(peer.session.client().finished());
  for (int i = 0; i < 3; ++i) {
    peer.session.Take(kHealth);
    i == 1 ? peer.session.Hold() : peer.session.Run();
    peer.session.Run();
    CHECK_FALSE(peer.has_backlog());
  }
  peer.Read();
  CHECK(peer.received.empty());
  CHECK_FALSE(peer.session.CheckDeadlines());
  harness.state.clock.SetSteady(1001 + kLingerMs);
  CHECK(peer.session.CheckDeadlines());
}

TEST_CASE("http: readiness says when writes would be refused", "[http]") {
  CommandHarness harness;
  HttpPeer peer(harness);
  CHECK(peer.Ask("GET /readyz").status == 200);
  harness.state.services.loading = true;
  CHECK(peer.Ask("GET /readyz").status == 503);
  CHECK(peer.Ask("GET /healthz").status == 200);
  harness.state.services.loading = false;
  harness.state.services.script_busy = true;
  const ResponseText busy = peer.Ask("GET /readyz");
  CHECK(busy.status == 503);
  CHECK(busy.body.find("\"code\":\"BUSY\"") != std::string::npos);
  CHECK(peer.Ask("GET /healthz").status == 200);
  harness.state.services.script_busy = false;
  CHECK(peer.Ask("GET /readyz").status == 200);
  harness.persistence.error = absl::UnavailableError("No space left on device");
  CHECK(peer.Ask("GET /readyz").status == 503);
}

TEST_CASE("http: every error has a code, whatever finds it", "[http]") {
  CommandHarness harness;
  const std::string host = "Host: localhost\r\n";
  struct Case {
    std::string line;
    std::string headers;
    std::string body;
    int status;
    std::string code;
  };
  const Case cases[] = {
      {"GET /nothing", host, "", 404, "ERR"},
      {"PUT /api", host, "", 405, "ERR"},
      {"GET /check/%", host, "", 400, "ERR"},
      {"GET /check/p?key=%", host, "", 400, "ERR"},
      {"GET /check/p", host, "", 400, "ERR"},
      {"GET /check/p?key=a", host, "", 404, "ERR"},
      {"GET /page/none", host, "", 404, "ERR"},
      {"POST /api", host, "x", 400, "ERR"},
      {"POST /api", host, "[]", 400, "ERR"},
      {"POST /api", host, std::string(300'000, 'x'), 413, "ERR"},
      {"GET /healthz", "Host: evil.example\r\n", "", 421, "ERR"},
      {"GET /healthz", "", "", 400, "ERR"},
      {"GET /healthz", host + "Expect: x\r\n", "", 417, "ERR"},
      {"GET /healthz", host + "X: " + std::string(17'000, 'x') + "\r\n", "", 431, "ERR"},
      {"POST /api", host + "Origin: http://evil.example\r\n", "x", 403, "NOPERM"},
      {"POST /api", host + "Authorization: Bearer a:b\r\n", "x", 401, "NOAUTH"},
  };
  for (const Case& one : cases) {
    INFO(one.line << one.status);
    HttpPeer peer(harness);
    const ResponseText response = peer.Ask(one.line, one.headers, one.body);
    CHECK(response.status == one.status);
    CHECK(response.body.ends_with(StrCat("\"code\":\"", one.code, "\"}\n")));
    CHECK(response.body.starts_with(StrCat("{\"error\":\"", one.code, " ")));
  }
}

TEST_CASE("http: events reach those who take them", "[http]") {
  CommandHarness harness;
  HttpPeer peer(harness);
  HttpPeer other(harness);
  peer.site.events.Publish("figures", "{}");
  CHECK(peer.received.empty());
  peer.Send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const ResponseText response = peer.Take();
  CHECK(response.status == 200);
  CHECK(response.Header("Content-Type") == "text/event-stream");
  CHECK(response.Header("Content-Length").empty());
  peer.received.clear();
  peer.site.events.Publish("figures", "{\"a\":1}");
  peer.Read();
  CHECK(peer.received == "event: figures\ndata: {\"a\":1}\n\n");
  peer.received.clear();
  // What it says meanwhile counts for nothing.
  peer.Send(kHealth);
  CHECK(peer.received.empty());
  CHECK_FALSE(peer.session.finished());
  // A HEAD of it is over at once.
  CHECK(other.Ask("HEAD /events").status == 200);
  CHECK(other.site.events.empty());
  // Who does not read misses some, and is not fed for ever.
  const std::string large(100'000, 'x');
  for (int i = 0; i < 100; ++i) peer.site.events.Publish("figures", large);
  CHECK(peer.session.client().output.size() < 500'000);
}

TEST_CASE("http: pages of other sites cannot change anything", "[http]") {
  CommandHarness harness;
  HttpPeer peer(harness);
  const auto ask = [&](std::string_view lines) {
    HttpRequest request;
    std::vector<HttpHeader> headers;
    request.authority = "localhost:8379";
    for (std::string_view rest = lines; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(line.size() + 1);
      headers.push_back({line.substr(0, line.find(' ')), line.substr(line.find(' ') + 1)});
    }
    request.headers = headers;
    return IsFromAnotherSite(request);
  };
  CHECK_FALSE(ask(""));
  CHECK_FALSE(ask("Origin http://localhost:8379\n"));
  CHECK_FALSE(ask("origin https://LOCALHOST:8379\n"));
  CHECK_FALSE(ask("Sec-Fetch-Site same-origin\n"));
  CHECK_FALSE(ask("Sec-Fetch-Site none\n"));
  CHECK(ask("Origin http://localhost:8380\n"));
  CHECK(ask("Origin http://localhost\n"));
  CHECK(ask("Origin http://evil.example\n"));
  CHECK(ask("Origin null\n"));
  CHECK(ask("Sec-Fetch-Site cross-site\n"));
  CHECK(ask("Sec-Fetch-Site same-site\n"));
}

}  // namespace tally::server::http_session_test
