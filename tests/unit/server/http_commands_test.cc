// Which commands POST /api runs, and that each of them has an answer.
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "server/http_peer.h"

namespace tally::server::http_commands_test {
namespace {

using Json = nlohmann::json;

ResponseText Post(HttpPeer& peer, const Json& body) {
  return peer.Ask("POST /api", "Host: localhost\r\n", body.dump());
}

// The words of a command without arguments, such as ["CLIENT", "KILL"].
Json WordsOf(std::string_view full_name) {
  Json words = Json::array();
  while (!full_name.empty()) {
    const std::string_view word = full_name.substr(0, full_name.find('|'));
    words.push_back(std::string(word));
    full_name.remove_prefix(std::min(word.size() + 1, full_name.size()));
  }
  return words;
}

}  // namespace

TEST_CASE("api: every command is answered with JSON", "[http]") {
  CommandHarness harness;
  for (const CommandEntry& entry : harness.commands.entries()) {
    INFO(entry.full_name);
    HttpPeer peer(harness);
    const Json words = WordsOf(entry.full_name);
    const ResponseText one = Post(peer, words);
    CHECK(one.status >= 200);
    REQUIRE(Json::accept(one.body));
    if (one.status != 200) CHECK(Json::parse(one.body)["error"].is_string());
    HttpPeer other(harness);
    const ResponseText batch = Post(other, Json::array({words, Json::array({"PING"})}));
    CHECK(batch.status == 200);
    REQUIRE(Json::accept(batch.body));
    CHECK(Json::parse(batch.body)[1] == "PONG");
  }
}

TEST_CASE("api: what a browser sends to the port of RESP is an unknown command here", "[http]") {
  CommandHarness harness;
  HttpPeer peer(harness);
  for (const char* word : {"POST", "post", "HOST:", "NOSUCH"}) {
    INFO(word);
    const ResponseText response = Post(peer, Json::array({word, "/"}));
    CHECK(response.status == 400);
    CHECK(Json::parse(response.body)["error"] ==
          StrCat("ERR unknown command '", word, "', with args beginning with: '/' "));
    CHECK(response.Header("Connection").empty());
  }
  CHECK(Post(peer, Json::array({"PING"})).status == 200);
  // Over RESP it still ends the connection.
  Client* client = harness.Connect();
  CHECK(harness.Wire(*client, {"POST", "/"}).empty());
  CHECK(client->finished());
}

TEST_CASE("api: a command that closes its own connection is answered first", "[http]") {
  CommandHarness harness;
  const auto kill = [](HttpPeer& peer) {
    return Json::array({"CLIENT", "KILL", "ID", peer.session.client().id, "SKIPME", "no"});
  };
  HttpPeer one(harness);
  CHECK(Post(one, kill(one)).body == "1\n");
  CHECK(one.session.finished());
  // What follows in a batch is not run, even where the batch takes more than one turn.
  HttpPeer many(harness);
  const std::string body =
      Json::array({kill(many), Json::array({"INCR", "n"}), Json::array({"INCR", "n"})}).dump();
  const std::string request = StrCat(
      "POST /api HTTP/1.1\r\nHost: localhost\r\nContent-Length: ", body.size(), "\r\n\r\n", body);
  many.session.Take(request);
  many.session.Run({.micros = 0});
  many.Read();
  const Json replies = Json::parse(many.Take().body);
  CHECK(replies.size() == 3);
  CHECK(replies[0] == 1);
  CHECK(replies[2]["error"] == "ERR not run: a command before it has closed the connection");
  CHECK(harness.Run({"EXISTS", "n"}) == ":0");
}

TEST_CASE("api: QUOTA.RETURN gives back what an order bought", "[http]") {
  CommandHarness harness;
  HttpPeer peer(harness);
  const auto reply = [&](const Json& words) { return Json::parse(Post(peer, words).body); };
  CHECK(reply({"QUOTA.SETLIMIT", "shop", 4711, 0, 5, "30d", 4711, 1, 3, "30d"}) == 2);
  CHECK(reply({"QUOTA.BUY", "shop", "ann", "o1", "ITEMS", 4711, 1, 3})["applied"] == 1);
  CHECK(reply({"QUOTA.BUY", "shop", "ann", "o2", "ITEMS", 4711, 1, 1})["applied"] == 0);
  CHECK(reply({"QUOTA.RETURN", "shop", "ann", "o1", "ITEMS", 4711, 2}) == Json::array({2}));
  CHECK(reply({"QUOTA.LEFT", "shop", "ann", 4711}) ==
        Json::parse(R"([[{"action":"0","left":4},{"action":"1","left":2}]])"));
  // Once is enough: what is left of the order is one piece.
  CHECK(reply({"QUOTA.RETURN", "shop", "ann", "o1", "ITEMS", 4711, 2}) == Json::array({1}));
  CHECK(reply({"QUOTA.RETURN", "shop", "ann", "none", "ITEMS", 4711, 1}) == Json::array({0}));
  CHECK(Post(peer, {"QUOTA.RETURN", "shop", "ann", "o1", "ITEMS", 4711}).status == 400);
}

TEST_CASE("api: the descriptions of all commands fit into one reply", "[http]") {
  CommandHarness harness;
  HttpPeer peer(harness);
  for (const Json& words : {Json::array({"COMMAND", "DOCS"}), Json::array({"COMMAND"})}) {
    CHECK(Post(peer, words).status == 200);
  }
}

}  // namespace tally::server::http_commands_test
