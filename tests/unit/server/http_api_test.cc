// POST /api: commands over HTTP, and who may run them.
#include <absl/strings/escaping.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "random_seed.h"
#include "server/acl/acl_log.h"
#include "server/http_peer.h"
#include "server/web/api_request.h"

namespace tally::server::http_api_test {
namespace {

using Json = nlohmann::json;
using namespace std::string_view_literals;

std::string Basic(std::string_view user, std::string_view password) {
  std::string encoded;
  absl::Base64Escape(StrCat(user, ":", password), &encoded);
  return StrCat("Host: localhost\r\nAuthorization: Basic ", encoded, "\r\n");
}

std::string Bearer(std::string_view token) {
  return StrCat("Host: localhost\r\nAuthorization: Bearer ", token, "\r\n");
}

// Bodies that are refused, though many begin with a command.
constexpr std::string_view kNoCommands[] = {R"()",
                                            R"(5)",
                                            R"("PING")",
                                            R"({})",
                                            R"({"base64":"UElORw=="})",
                                            R"(null)",
                                            R"([])",
                                            R"([[]])",
                                            R"([["SET","a",1],[]])",
                                            R"([["SET","a",1],"PING"])",
                                            R"(["SET","a",["b"]])",
                                            R"([["SET","a",1],[["PING"]]])",
                                            R"(["SET","a",null])",
                                            R"(["SET","a",{}])",
                                            R"(["SET","a",{"base64":"%"}])",
                                            R"(["SET","a",{"base64":5}])",
                                            R"(["SET","a",{"base64":"","base64":""}])",
                                            R"(["SET","a",{"base":""}])",
                                            R"(["SET","a",{"base64":{"base64":""}}])",
                                            R"(["SET","a",{"base64":[]}])",
                                            R"(["SET","a",1)",
                                            R"(["SET","a",1]])",
                                            R"(["SET","a",1] x)",
                                            "[\"SET\",\"a\",\"\xff\"]",
                                            "[\"SET\",\"a\",\"\xed\xa0\x80\"]",
                                            R"(["SET","a","\ud800"])",
                                            R"(["SET","a",01])",
                                            R"(["SET","a",NaN])",
                                            R"(['SET','a'])",
                                            "[\"SET\",\"a\",1]\0"sv,
                                            "[\"SET\",\"a\",1]\0garbage[\"FLUSHALL\"]"sv,
                                            "\0[\"SET\",\"a\",1]"sv,
                                            "[\"SET\",\0\"a\",1]"sv,
                                            "[\"SET\",\"a\0\",1]"sv,
                                            "[\"SET\",\"a\",1]\xef\xbb\xbf",
                                            "\xef\xbb\xbf[\"SET\",\"a\",1]",
                                            "[\"SET\",\"a\",1]\x0c",
                                            R"(["SET","a",1]["FLUSHALL"])",
                                            R"(["SET","a",1],["FLUSHALL"])",
                                            R"(["SET","a",1,])",
                                            R"(["SET","a",,1])",
                                            R"([,"SET","a",1])",
                                            R"(["SET" "a" 1])",
                                            R"(["SET":"a"])",
                                            R"([["SET","a",1],])",
                                            R"([["SET","a",1]["SET","a",1]])",
                                            R"(["SET","a",1}])",
                                            R"(["SET","a",1.])",
                                            R"(["SET","a",.5])",
                                            R"(["SET","a",+1])",
                                            R"(["SET","a",-])",
                                            R"(["SET","a",1e])",
                                            R"(["SET","a",-Infinity])",
                                            R"(["SET","a",0x10])",
                                            R"(["SET","a",tru])",
                                            R"(["SET","a",TRUE])",
                                            R"(["SET","a","\x"])",
                                            R"(["SET","a","\u12"])",
                                            R"(["SET","a","\u-123"])",
                                            R"(["SET","a","\udc00"])",
                                            R"(["SET","a","\ud800\ud800"])",
                                            R"(["SET","a","\)",
                                            R"(["SET","a",{"base64":""]])",
                                            R"(["SET","a",{"base64" ""}])",
                                            R"(["SET","a",{"base64":"",}])",
                                            R"(["SET","a",1]// x)"};

class ApiPeer : public HttpPeer {
 public:
  using HttpPeer::HttpPeer;

  ResponseText Post(std::string_view body, std::string_view headers = "Host: localhost\r\n") {
    return Ask("POST /api", headers, body);
  }
  // What an accepted body is answered with.
  std::string Api(std::string_view body) {
    const ResponseText response = Post(body);
    CHECK(response.status == 200);
    CHECK(Json::accept(response.body));
    return response.body.substr(0, response.body.find('\n'));
  }
  int Status(std::string_view body) { return Post(body).status; }
};

}  // namespace

TEST_CASE("api: a command, and a batch of commands", "[http]") {
  CommandHarness harness;
  ApiPeer peer(harness);
  CHECK(peer.Api(R"(["SET", "a", 5])") == "\"OK\"");
  CHECK(peer.Api(R"(["incrby","a",-2])") == "3");
  CHECK(peer.Api(R"([["GET","a"],["GET","b"],["LPUSH","a","x"],["EXISTS","a","b"]])") ==
        R"(["3",null,{"error":"WRONGTYPE Operation against a key holding the wrong kind of value",)"
        R"("code":"WRONGTYPE"},1])");
  CHECK(peer.Api(R"(["HSET","h","f",1.50,"g",true,"i",1e3,"j",false])") == "4");
  CHECK(peer.Api(R"(["HGETALL","h"])") == R"({"f":"1.50","g":"1","i":"1e3","j":"0"})");
  CHECK(peer.Api(R"(["ECHO",18446744073709551615])") == "\"18446744073709551615\"");
  CHECK(harness.Run({"GET", "a"}) == "\"3\"");
}

TEST_CASE("api: native replies have the names of their fields", "[http]") {
  CommandHarness harness;
  ApiPeer peer(harness);
  CHECK(peer.Api(R"(["LIMIT.TAKE","k","FIXED",2,"10m"])") ==
        R"({"allowed":1,"limit":2,"remaining":1,"retry_after_ms":0,"reset_after_ms":600000,)"
        R"("rule":0})");
  const Json shown = Json::parse(peer.Api(R"(["LIMIT.SHOW","k"])"));
  CHECK(shown[0]["algorithm"] == "FIXED");
  CHECK(shown[0]["used"] == 1);
  CHECK(peer.Api(R"(["ACTIVE.TOUCH","a","ann","bob"])") == "2");
  CHECK(Json::parse(peer.Api(R"(["ACTIVE.SEEN","a","bob"])"))["number"] == 2);
  CHECK(peer.Api(R"(["ACTIVE.SEEN","a","cid"])") == "null");
  CHECK(Json::parse(peer.Api(R"(["ACTIVE.DAY","a","DAYS",2])"))[1]["active"] == 2);
  CHECK(Json::parse(peer.Api(R"(["ACTIVE.SCAN","a",0])"))["ids"].size() == 2);
  peer.Api(R"(["QUOTA.SETLIMIT","b",7,0,10,"30d",7,1,5,"30d"])");
  CHECK(peer.Api(R"(["QUOTA.BUY","b","ann","o1","ITEMS",7,1,2])") ==
        R"({"applied":1,"item":0,"left":[[{"action":"0","left":8},{"action":"1","left":3}]]})");
  CHECK(peer.Api(R"(["QUOTA.LEFTBYUSER","b","ann","bob"])") ==
        R"([[{"sku":"7","left":[{"action":"0","left":8},{"action":"1","left":3}]}],[]])");
  CHECK(Json::parse(peer.Api(R"(["QUOTA.HISTORY","b","ann"])"))[0]["order"] == "o1");
  CHECK(Json::parse(peer.Api(R"(["QUOTA.LIMITS","b",7])"))[0][1]["window_ms"] == 2592000000);
  CHECK(Json::parse(peer.Api(R"(["QUOTA.STATS","b"])"))["purchases"] == 1);
  const Json use = Json::parse(peer.Api(R"(["QUOTA.SHOW","b","ann",7,8])"));
  CHECK(use[0][1]["action"] == "1");
  CHECK(use[0][1]["used"] == 2);
  CHECK(use[0][1]["left"] == 3);
  CHECK(use[0][1]["next_ms"] > use[0][1]["window_ms"]);
  CHECK(use[1].empty());
}

TEST_CASE("api: bytes that are no text go and come as base64", "[http]") {
  CommandHarness harness;
  ApiPeer peer(harness);
  CHECK(peer.Api(R"(["SET",{"base64":"/wA="},{"base64":""}])") == "\"OK\"");
  CHECK(harness.Run({"STRLEN", std::string("\xff\0", 2)}) == ":0");
  CHECK(peer.Api(R"(["KEYS","*"])") == R"([{"base64":"/wA="}])");
  CHECK(peer.Api("[\"ECHO\",\"\\u00e9 \\u0000 \xc3\xa9\"]") == "\"\xc3\xa9 \\u0000 \xc3\xa9\"");
  test::SeededRandom random;
  for (int round = 0; round < 200; ++round) {
    std::string bytes;
    for (size_t i = random.Below(20); i > 0; --i) bytes += static_cast<char>(random.Next());
    std::string encoded;
    absl::Base64Escape(bytes, &encoded);
    const Json reply = Json::parse(peer.Api(StrCat(R"(["ECHO",{"base64":")", encoded, "\"}]")));
    std::string back;
    if (reply.is_string()) back = reply.get<std::string>();
    if (reply.is_object()) absl::Base64Unescape(reply["base64"].get<std::string>(), &back);
    CHECK(back == bytes);
  }
}

TEST_CASE("api: bodies that are no commands are 400, and nothing of them is run", "[http]") {
  CommandHarness harness;
  ApiPeer peer(harness);
  const std::string too_many = [] {
    std::string body = "[\"DEL\"";
    for (size_t i = 0; i < ApiRequest::kMaxElements; ++i) body += ",1";
    return body + "]";
  }();
  for (const std::string_view body : kNoCommands) {
    INFO(body);
    const ResponseText response = peer.Post(body);
    CHECK(response.status == 400);
    const Json error = Json::parse(response.body);
    CHECK(error["error"].is_string());
    CHECK(error["code"] == "ERR");
  }
  CHECK(peer.Status(too_many) == 400);
  CHECK(peer.Status(std::string(250'000, '[')) == 400);
  CHECK(harness.Run({"DBSIZE"}) == ":0");
}

TEST_CASE("api: a number is its text, whatever its size", "[http]") {
  CommandHarness harness;
  ApiPeer peer(harness);
  for (const std::string& number :
       {std::string("-0"), std::string("1e400"), std::string("-1E+400"), std::string("1e-999"),
        std::string("0.1000"), std::string("0e0"), std::string("18446744073709551616"),
        std::string("-9223372036854775809"), std::string(5000, '9')}) {
    INFO(number);
    CHECK(peer.Api(StrCat("[\"ECHO\", ", number, " ]")) == StrCat("\"", number, "\""));
  }
  CHECK(peer.Status(R"(["INCRBY","n",1e400])") == 400);
  CHECK(harness.Run({"EXISTS", "n"}) == ":0");
}

// Bodies that are nearly right: a valid one with a few bytes changed.
TEST_CASE("api: a body is JSON where a JSON library says so, and its words are the same",
          "[http]") {
  test::SeededRandom random;
  constexpr std::string_view kBytes = "[]{},:\"\\u0123eE+-.dD8abtfn \n\0\x01\x7f\xc3\xa9"sv;
  const std::string_view begins[] = {R"([["SET","a\u00e9\ud83d\ude00",-1.5e+3],["GET",true]])",
                                     R"(["SET","\\\"\/\b\f\n\r\t",{"base64":"/wA="},0,null])",
                                     R"( [ "A" , 12 , "b" ] )"};
  // Whether the library takes it for one command of plain words. It reads no further than a NUL.
  const auto is_command = [](const std::string& body) {
    const Json json = Json::parse(body, nullptr, false);
    return json.is_array() && !json.empty() && body.find('\0') == std::string::npos &&
           std::all_of(json.begin(), json.end(), [](const Json& word) {
             return word.is_string() || word.is_number() || word.is_boolean();
           });
  };
  // The library refuses a number that is no double; here it is its text, as the case above says.
  const auto has_huge_number = [](const std::string& body) {
    try {
      [[maybe_unused]] const Json json = Json::parse(body);
    } catch (const Json::out_of_range&) {
      return true;
    } catch (const Json::parse_error&) {
    }
    return false;
  };
  int accepted = 0;
  for (int round = 0; round < 30'000; ++round) {
    std::string body(begins[random.Below(std::size(begins))]);
    for (uint64_t edits = random.Below(4); edits > 0 && !body.empty(); --edits) {
      const size_t at = random.Below(body.size());
      const char byte = kBytes[random.Below(kBytes.size())];
      if (random.OneIn(3)) {
        body.erase(at, 1);
      } else if (random.OneIn(2)) {
        body.insert(at, 1, byte);
      } else {
        body[at] = byte;
      }
    }
    INFO(body);
    ApiRequest request;
    if (!request.Parse(body).empty()) {
      REQUIRE_FALSE(is_command(body));
      continue;
    }
    ++accepted;
    REQUIRE(body.find('\0') == std::string::npos);
    if (has_huge_number(body)) continue;
    REQUIRE(Json::accept(body));
    const Json json = Json::parse(body);
    std::vector<std::string_view> args;
    for (size_t i = 0; i < request.commands(); ++i) {
      const Json& command = request.is_batch() ? json[i] : json;
      const Args words = request.Command(i, args);
      REQUIRE(words.size() == command.size());
      for (size_t word = 0; word < words.size(); ++word) {
        if (command[word].is_string()) REQUIRE(words[word] == command[word].get<std::string>());
      }
    }
  }
  CHECK(accepted > 1000);
}

TEST_CASE("api: the status says what kind of error a single command had", "[http]") {
  CommandHarness harness;
  ApiPeer peer(harness);
  CHECK(peer.Status(R"(["GET"])") == 400);
  CHECK(peer.Status(R"(["NOSUCH"])") == 400);
  CHECK(peer.Status(R"([["NOSUCH"]])") == 200);
  harness.state.services.loading = true;
  CHECK(peer.Status(R"(["GET","a"])") == 503);
  harness.state.services.loading = false;
  harness.persistence.error = absl::UnavailableError("No space left on device");
  CHECK(peer.Status(R"(["SET","a",1])") == 503);
  CHECK(peer.Status(R"(["GET","a"])") == 200);
  harness.persistence.error = absl::OkStatus();
  harness.config.maxmemory = 1;
  CHECK(peer.Status(R"(["SET","a",1])") == 503);
}

TEST_CASE("api: commands that change the connection are refused", "[http]") {
  CommandHarness harness;
  ApiPeer peer(harness);
  for (const std::string_view command :
       {R"(["MULTI"])", R"(["EXEC"])", R"(["WATCH","a"])", R"(["SUBSCRIBE","c"])",
        R"(["PSUBSCRIBE","*"])", R"(["UNSUBSCRIBE"])", R"(["MONITOR"])", R"(["AUTH","x"])",
        R"(["HELLO",2])", R"(["QUIT"])", R"(["RESET"])", R"(["CLIENT","REPLY","OFF"])",
        R"(["CLIENT","SETNAME","n"])", R"(["CLIENT","SETINFO","LIB-NAME","l"])",
        R"(["CLIENT","NO-EVICT","ON"])", R"(["CLIENT","NO-TOUCH","ON"])"}) {
    INFO(command);
    const ResponseText response = peer.Post(command);
    CHECK(response.status == 400);
    CHECK(response.body.find("only for connections of RESP") != std::string::npos);
  }
  CHECK(peer.Api(R"(["PING"])") == "\"PONG\"");
  CHECK(peer.Api(R"(["PUBLISH","c","m"])") == "0");
  CHECK(peer.Api(R"([["SELECT",1],["SET","a",1],["DBSIZE"]])") == R"(["OK","OK",1])");
  // The next body begins in the first database again.
  CHECK(peer.Api(R"(["DBSIZE"])") == "0");
}

TEST_CASE("api: users by Basic and Bearer", "[http]") {
  CommandHarness harness;
  harness.Run({"ACL", "SETUSER", "ann", "on", ">a:b", "~a*", "+get", "+set"});
  ApiPeer peer(harness);
  const auto status = [&](std::string_view headers, std::string_view body = R"(["GET","a"])") {
    return peer.Post(body, headers).status;
  };
  CHECK(status("Host: localhost\r\n") == 200);
  harness.Run({"CONFIG", "SET", "requirepass", "secret"});
  CHECK(status("Host: localhost\r\n") == 401);
  CHECK(peer.Post("[]").Header("WWW-Authenticate") == "Basic realm=\"tallyd\", charset=\"UTF-8\"");
  CHECK(status(Basic("default", "secret")) == 200);
  CHECK(status(Basic("default", "secre")) == 401);
  CHECK(status(Bearer("secret")) == 200);
  CHECK(status(Bearer("default:secret")) == 200);
  CHECK(status(Bearer("ann:a:b")) == 200);
  CHECK(status(Basic("ann", "a:b")) == 200);
  CHECK(status(Basic("ann", "a")) == 401);
  CHECK(status(Basic("ann", "a:b"), R"(["GET","b"])") == 403);
  CHECK(status(Basic("ann", "a:b"), R"(["DEL","a"])") == 403);
  CHECK(peer.Ask("GET /events", Basic("ann", "a:b")).status == 403);
  for (const std::string_view odd :
       {"Basic", "Basic ", "Basic %", "Basic YQ==", "Digest x", "x", "Bearer", "Bearer "}) {
    CHECK(status(StrCat("Host: localhost\r\nAuthorization: ", odd, "\r\n")) == 401);
  }
  // Each request stands for itself, and nothing outlives a change of the users.
  CHECK(status(Basic("ann", "a:b")) == 200);
  CHECK(status("Host: localhost\r\n") == 401);
  CHECK(status(Basic("ann", "a:b")) == 200);
  harness.Run({"ACL", "SETUSER", "ann", "resetpass", ">new"});
  CHECK(status(Basic("ann", "a:b")) == 401);
  CHECK(status(Basic("ann", "new")) == 200);
  harness.Run({"ACL", "SETUSER", "ann", "off"});
  CHECK(status(Basic("ann", "new")) == 401);
  CHECK(peer.Ask("GET /healthz").status == 200);
}

TEST_CASE("api: what was refused is in ACL LOG", "[http]") {
  CommandHarness harness;
  harness.Run({"ACL", "SETUSER", "ann", "on", ">pw", "~a*", "+get"});
  ApiPeer peer(harness);
  peer.Post(R"(["GET","a"])", Basic("ann", "wrong"));
  peer.Post(R"(["GET","b"])", Basic("ann", "pw"));
  const std::string log = harness.Run({"ACL", "LOG"});
  CHECK(log.find("\"auth\"") != std::string::npos);
  CHECK(log.find("\"http\"") != std::string::npos);
  CHECK(log.find("\"key\"") != std::string::npos);
}

TEST_CASE("api: a batch goes on in later turns, and where clients were paused", "[http]") {
  CommandHarness harness;
  ApiPeer peer(harness);
  std::string body = "[[\"SELECT\",1]";
  for (int i = 0; i < 50; ++i) body += R"(,["INCR","n"])";
  body += "]";
  const std::string request =
      StrCat("POST /api HTTP/1.1\r\nHost: localhost\r\nContent-Length: ", body.size(), "\r\n\r\n",
             body, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  peer.session.Take(request);
  peer.session.Run({.micros = 0});
  int turns = 1;
  for (; peer.has_backlog(); ++turns) peer.session.Run({.micros = 0});
  CHECK(turns > 25);
  peer.Read();
  const ResponseText response = peer.Take();
  CHECK(Json::parse(response.body).size() == 51);
  CHECK(Json::parse(response.body)[50] == 50);
  CHECK(peer.Take().body == "ok\n");

  harness.Run({"CLIENT", "PAUSE", "1000", "WRITE"});
  const std::string again = R"([["GET","n"],["INCR","m"],["GET","m"]])";
  peer.Send(StrCat("POST /api HTTP/1.1\r\nHost: localhost\r\nContent-Length: ", again.size(),
                   "\r\n\r\n", again));
  CHECK(peer.received.empty());
  CHECK(peer.session.client().state.command.postponed());
  CHECK(harness.state.clock.Advance(1001));
  peer.Continue();
  CHECK(peer.Take().body == "[null,1,\"1\"]\n");
}

TEST_CASE("api: replies have a limit of their own", "[http]") {
  CommandHarness harness;
  ApiPeer peer(harness);
  harness.Run({"SET", "large", std::string(1'000'000, '\x01')});
  CHECK(peer.Api(R"(["STRLEN","large"])") == "1000000");
  CHECK(peer.Api(R"(["GET","large"])").size() == 6'000'002);
  const Json replies = Json::parse(peer.Api(R"([["GET","large"],["GET","large"],["INCR","n"]])"));
  CHECK(replies[0].is_string());
  CHECK(replies[1]["error"].get<std::string>().starts_with("ERR not run: "));
  CHECK(replies[2].contains("error"));
  CHECK(harness.Run({"EXISTS", "n"}) == ":0");
  harness.Run({"SET", "large", std::string(size_t{1} << 20, 'x')});
  CHECK(peer.Status(R"(["GET","large"])") == 400);
  CHECK(peer.Api(R"(["PING"])") == "\"PONG\"");
}

}  // namespace tally::server::http_api_test
