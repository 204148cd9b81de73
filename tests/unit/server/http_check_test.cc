// /check: decisions for proxies, whatever the keys are.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "server/http_peer.h"

namespace tally::server::http_check_test {
namespace {

using Json = nlohmann::json;
using namespace std::string_view_literals;

}  // namespace

TEST_CASE("check: a decision by status and fields", "[http]") {
  CommandHarness harness;
  HttpPeer peer(harness);
  harness.Run({"POLICY.SET", "log in", "SLIDING", "2", "60s"});
  const auto ask = [&](std::string_view target) { return peer.Ask(target); };
  const ResponseText first = ask("GET /check/log%20in?key=a%2Fb");
  CHECK(first.status == 200);
  CHECK(first.Header("RateLimit-Policy") == "\"log in\";q=2;w=60");
  CHECK(first.Header("RateLimit") == "\"log in\";r=1;t=60");
  CHECK(first.Header("Retry-After").empty());
  CHECK(Json::parse(first.body)["allowed"] == 1);
  CHECK(harness.Run({"EXISTS", "a/b"}) == ":1");
  CHECK(harness.state.clock.Advance(1500));
  CHECK(ask("POST /check/log%20in?key=a%2Fb").status == 200);
  const ResponseText denied = ask("GET /check/log%20in?key=a%2Fb");
  CHECK(denied.status == 429);
  CHECK(denied.Header("Retry-After") == "59");
  CHECK(denied.Header("RateLimit") == "\"log in\";r=0;t=60");
  CHECK(ask("GET /check/log%20in?key=a%2Fb&deny=403").status == 403);
  CHECK(ask("GET /check/log%20in?key=c&cost=2").status == 200);
  const ResponseText never = ask("GET /check/log%20in?key=d&cost=3");
  CHECK(never.status == 429);
  CHECK(never.Header("Retry-After").empty());
}

TEST_CASE("check: what is asked wrongly, and what cannot be decided", "[http]") {
  CommandHarness harness;
  harness.Run({"POLICY.SET", "p", "SLIDING", "2", "60s"});
  harness.Run({"RPUSH", "list", "x"});
  const auto status = [&](std::string_view target, std::string_view more = "") {
    HttpPeer peer(harness);
    return peer.Ask(target, StrCat("Host: localhost\r\n", more)).status;
  };
  CHECK(status("GET /check/none?key=a") == 404);
  CHECK(status("GET /check/?key=a") == 404);
  CHECK(status("GET /check/p") == 400);
  CHECK(status("GET /check/p?key=") == 400);
  CHECK(status("GET /check/p?key=a&key=b") == 400);
  CHECK(status("GET /check/p?key=a&cost=1&cost=1") == 400);
  CHECK(status("GET /check/p?key=a&deny=403&deny=403") == 400);
  CHECK(status("GET /check/p?key=a&cots=2") == 400);
  CHECK(status("GET /check/p?key=a&cost=-1") == 400);
  CHECK(status("GET /check/p?key=a&cost=x") == 400);
  CHECK(status("GET /check/p?key=a&deny=200") == 400);
  CHECK(status("GET /check/p?key=%") == 400);
  CHECK(status("GET /check/%?key=a") == 400);
  CHECK(status("GET /check/p?key=list") == 400);
  CHECK(status("GET /check/p?key=a#b") == 400);
  CHECK(status("GET /check/p?key=a&take=p&key=b") == 400);
  CHECK(status("GET /check?key=a") == 404);
  CHECK(status("GET /check") == 404);
  CHECK(status("GET /check?take=p") == 400);
  CHECK(status("GET /check?take=p&key=") == 400);
  CHECK(status("GET /check?take=p&key=a&key=b") == 400);
  CHECK(status("GET /check?take=p&key=a&take=p") == 400);
  CHECK(status("GET /check?take=p&key=a&take=none&key=b") == 404);
  CHECK(status("GET /check?take=&key=a") == 404);
  CHECK(status("GET /check?take=p&key=a&take=p&key=list") == 400);
  std::string many = "GET /check?take=p&key=a";
  for (int i = 0; i < 70; ++i) many += "&take=p&key=a";
  CHECK(status(many) == 400);
  CHECK(status("GET /check/p?key=a", "Origin: http://evil\r\n") == 403);
  harness.state.services.loading = true;
  CHECK(status("GET /check/p?key=a") == 503);
  harness.state.services.loading = false;
  harness.persistence.error = absl::UnavailableError("No space left on device");
  CHECK(status("GET /check/p?key=a") == 503);
  CHECK(harness.Run({"EXISTS", "a"}) == ":0");
}

TEST_CASE("check: a key in a field is the bytes that it is", "[http]") {
  CommandHarness harness;
  harness.Run({"POLICY.SET", "p", "FIXED", "1", "60s"});
  const std::string at_most(12'000, 'k');
  for (const std::string_view key :
       {"ann"sv, "a b"sv, "%zz"sv, "%41"sv, "abc&cost=0"sv, "abc&deny=429"sv, "abc&key=x"sv,
        "a#b"sv, "a+b"sv, "\"'\\"sv, "a,b"sv, "a: b"sv, "a\tb"sv, "\xff\xc3\xa9"sv, "AND"sv,
        "POLICY"sv, "COST"sv, "0"sv, std::string_view(at_most)}) {
    INFO(key);
    HttpPeer peer(harness);
    const std::string field = StrCat("Host: localhost\r\nx-LIMIT-key:  ", key, " \r\n");
    CHECK(peer.Ask("GET /check/p", field).status == 200);
    CHECK(harness.Run({"EXISTS", std::string(key)}) == ":1");
    CHECK(peer.Ask("GET /check?take=p", field).status == 429);
    CHECK(peer.Ask("POST /check/p?deny=403", field).status == 403);
    CHECK(harness.Run({"DEL", std::string(key)}) == ":1");
  }
  CHECK(harness.Run({"DBSIZE"}) == ":0");
}

TEST_CASE("check: a field that is no key of one policy is an error, and nothing is counted",
          "[http]") {
  CommandHarness harness;
  harness.Run({"POLICY.SET", "p", "FIXED", "1", "60s"});
  const auto status = [&](std::string_view target, std::string_view fields) {
    HttpPeer peer(harness);
    return peer.Ask(target, StrCat("Host: localhost\r\n", fields)).status;
  };
  CHECK(status("GET /check/p", "X-Limit-Key:\r\n") == 400);
  CHECK(status("GET /check/p", "X-Limit-Key: \t \r\n") == 400);
  CHECK(status("GET /check/p", "X-Limit-Key: a\r\nX-Limit-Key: a\r\n") == 400);
  CHECK(status("GET /check/p", "X-Limit-Key: a\r\nx-limit-key:\r\n") == 400);
  CHECK(status("GET /check/p?key=a", "X-Limit-Key: b\r\n") == 400);
  CHECK(status("GET /check/p?key=a", "X-Limit-Key:\r\n") == 400);
  CHECK(status("GET /check/p", "X-Limit-Key: a\r\nX-Limit-Key-2: b\r\n") == 400);
  CHECK(status("GET /check/p", "X-Limit-Key-1: a\r\n") == 400);
  CHECK(status("GET /check/p", "X-Limit-Key-0: a\r\n") == 400);
  CHECK(status("GET /check/p", "X-Limit-Key: a\r\nX-Limit-Key-99999999999999999999: b\r\n") == 400);
  CHECK(status("GET /check/p", "X-Limit-Key: a\r\nX-Limit-Key-: b\r\n") == 400);
  CHECK(status("GET /check/p", "X-Limit-Key: a\0b\r\n"sv) == 400);
  CHECK(status("GET /check/p",
               "X-Limit-Key: a\x01"
               "b\r\n") == 400);
  CHECK(status("GET /check/p", "X-Limit-Key: a\r\n b\r\n") == 400);
  CHECK(status("GET /check/p", "X-Limit-Key : a\r\n") == 400);
  CHECK(status("GET /check/p", "X_Limit_Key: a\r\n") == 400);
  CHECK(status("GET /check/p", StrCat("X-Limit-Key: ", std::string(17'000, 'k'), "\r\n")) == 431);
  CHECK(harness.Run({"DBSIZE"}) == ":0");
  // Other fields are none of ours.
  CHECK(status("GET /check/p", "X-Limit-Key: a\r\nX-Limit-Keys: b\r\nX_Limit_Key: c\r\n") == 200);
}

TEST_CASE("check: several policies and keys, all or nothing", "[http]") {
  CommandHarness harness;
  harness.Run({"POLICY.SET", "login", "FIXED", "2", "60s", "FIXED", "5", "1h"});
  harness.Run({"POLICY.SET", "address", "FIXED", "3", "1h"});
  const auto ask = [&](std::string_view target, std::string_view fields = "") {
    HttpPeer peer(harness);
    return peer.Ask(target, StrCat("Host: localhost\r\n", fields));
  };
  constexpr std::string_view kBoth = "GET /check?take=login&take=address";
  const ResponseText first = ask(kBoth, "X-Limit-Key: ann\r\nX-Limit-Key-2: 10.0.0.1\r\n");
  CHECK(first.status == 200);
  CHECK(first.Header("RateLimit") == "\"login\";r=1;t=60");
  CHECK(first.Header("RateLimit-Policy") == "\"login\";q=2;w=60");
  // Their order does not matter, nor where a key is.
  CHECK(ask("GET /check?take=login&key=ann&take=address", "X-Limit-Key-2: 10.0.0.1\r\n").status ==
        200);
  const ResponseText denied = ask("GET /check?take=address&key=10.0.0.1&take=login&key=ann");
  CHECK(denied.status == 429);
  CHECK(denied.Header("RateLimit") == "\"login\";r=0;t=60");
  CHECK(Json::parse(denied.body)["rule"] == 2);
  // What login denied took nothing of the address.
  CHECK(ask("GET /check?take=login&key=bob&take=address&key=10.0.0.1&cost=2").status == 429);
  CHECK(harness.Run({"EXISTS", "bob"}) == ":0");
  CHECK(ask("GET /check?take=login&key=bob&take=address&key=10.0.0.1").status == 200);
  const ResponseText full = ask("GET /check?take=login&key=bob&take=address&key=10.0.0.1&deny=403");
  CHECK(full.status == 403);
  CHECK(full.Header("RateLimit-Policy") == "\"address\";q=3;w=3600");
  CHECK(Json::parse(full.body)["rule"] == 3);
  // The command is judged by the rights to each key.
  harness.Run({"ACL", "SETUSER", "default", "resetkeys", "~ann"});
  CHECK(ask("GET /check?take=login&key=ann&take=address&key=10.0.0.9").status == 403);
  CHECK(ask("GET /check/address", "X-Limit-Key: 10.0.0.9\r\n").status == 403);
}

}  // namespace tally::server::http_check_test
