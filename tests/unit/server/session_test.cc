#include "server/dispatch/session.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "random_seed.h"
#include "server/command_harness.h"
#include "server/request_text.h"

namespace tally::server::session_test {
namespace {

// A session fed as a connection feeds it: each piece in a buffer of its own that is gone after Run.
class Peer {
 public:
  static constexpr size_t kRead = 1000;

  explicit Peer(CommandHarness& harness) : session_(harness.state.services, harness.dispatcher) {}

  void Send(std::string_view bytes) {
    {
      const std::vector<char> piece(bytes.begin(), bytes.end());
      session_.Take({piece.data(), piece.size()});
      session_.Run();
      Read();
    }
    while (session_.has_backlog() && !waiting()) {
      session_.Run();
      Read();
    }
  }
  // As Send, where the rest of a long argument is read to its place.
  void SendInPlace(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::span<char> room = session_.LongArgumentRoom(kRead);
      const size_t size = std::min(room.empty() ? kRead : room.size(), bytes.size());
      if (room.empty()) {
        Send(bytes.substr(0, size));
      } else {
        ++read_in_place;
        std::copy_n(bytes.begin(), size, room.begin());
        session_.TakeInRoom(size);
        Run();
      }
      while (session_.has_backlog()) Run();
      bytes.remove_prefix(size);
    }
  }
  void Run() {
    session_.Run();
    Read();
  }
  void Read() {
    received += session_.client().output.Joined();
    session_.client().output.Clear();
  }
  bool waiting() { return session_.client().state.command.postponed(); }
  Session& session() { return session_; }

  std::string received;
  size_t read_in_place = 0;

 private:
  Session session_;
};

// Sends `before`, whose last call is a right one of a command that fetches ahead, and then random
// ones of `calls`, in one write and each by itself: the replies must be the same.
void CheckFetchedAhead(const std::vector<std::vector<std::string>>& before,
                       const std::vector<std::vector<std::string>>& calls) {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (int round = 0; round < 200; ++round) {
    CommandHarness harness;
    Peer peer(harness);
    CommandHarness single_harness;
    Peer single(single_harness);
    for (const auto& words : before) {
      peer.Send(RequestText(words));
      single.Send(RequestText(words));
    }
    std::string stream;
    for (int i = 0; i < 40; ++i) {
      const std::string request =
          RequestText(random.OneIn(2) ? before.back() : calls[random.Below(calls.size())]);
      stream += request;
      single.Send(request);
    }
    peer.Send(stream);
    REQUIRE(peer.received == single.received);
  }
}

}  // namespace

TEST_CASE("a session answers the same wherever long arguments are read to") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  size_t read_in_place = 0;
  for (int round = 0; round < 30; ++round) {
    std::string stream;
    std::string expected;
    for (int i = 0; i < 12; ++i) {
      const size_t size = random.OneIn(2) ? random.Below(200'000) : random.Below(3000);
      const std::string text(size, static_cast<char>('a' + random.Below(26)));
      const std::string bulk = "$" + std::to_string(size) + "\r\n" + text + "\r\n";
      switch (random.Below(4)) {
        case 0:
          stream += RequestText({"ECHO", text});
          expected += bulk;
          break;
        case 1:
          stream += RequestText({"MSET", "a", text, "b", "1", "c", text});
          stream += RequestText({"GET", "a"}) + RequestText({"STRLEN", "c"});
          expected += "+OK\r\n" + bulk + ":" + std::to_string(size) + "\r\n";
          break;
        case 2:
          stream += RequestText({"SET", "a", text}) + RequestText({"APPEND", "a", text});
          stream += RequestText({"GETRANGE", "a", std::to_string(size), "-1"});
          expected += "+OK\r\n:" + std::to_string(2 * size) + "\r\n" + bulk;
          break;
        default:
          stream += RequestText({"PING", text});
          expected += bulk;
      }
    }
    CommandHarness harness;
    Peer peer(harness);
    peer.SendInPlace(stream);
    read_in_place += peer.read_in_place;
    if (peer.received != expected) FAIL("the replies are others");
  }
  CHECK(read_in_place > 100);
}

TEST_CASE("a session answers the same however its requests are cut") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (int round = 0; round < 60; ++round) {
    std::string stream;
    for (int i = 0; i < 80; ++i) {
      const std::string key = "k" + std::to_string(random.Below(5));
      switch (random.Below(5)) {
        case 0:
          stream += RequestText({"INCR", key});
          break;
        case 1:
          stream += RequestText({"APPEND", "long", std::string(random.Below(200), 'x')});
          break;
        case 2:
          stream += "GET " + key + "\r\n";
          break;
        case 3:
          stream += RequestText({"MGET", "k0", "k1", "k2", "k3"});
          break;
        default:
          stream +=
              random.OneIn(9) ? RequestText({"SELECT", key.substr(1)}) : RequestText({"GET", key});
      }
    }
    CommandHarness whole_harness;
    Peer whole(whole_harness);
    whole.Send(stream);

    CommandHarness harness;
    Peer peer(harness);
    for (std::string_view rest = stream; !rest.empty();) {
      const size_t size =
          std::min<size_t>(1 + random.Below(random.OneIn(3) ? 900 : 30), rest.size());
      peer.Send(rest.substr(0, size));
      rest.remove_prefix(size);
    }
    REQUIRE(peer.received == whole.received);
    REQUIRE(peer.session().buffered() == 0);
  }
}

// Writes with long values, of which some are taken out of the request, and what follows them in the
// same bytes.
std::string WriteLong(test::SeededRandom& random, size_t most) {
  const std::string key = "k" + std::to_string(random.Below(3));
  const std::string other = "k" + std::to_string(random.Below(3));
  const std::string value(random.Below(most), static_cast<char>('a' + random.Below(26)));
  switch (random.Below(10)) {
    case 0:
      return RequestText({"SET", key, value});
    case 1:
      return RequestText({"SET", key, value, "GET"});
    case 2:
      return RequestText({"SETEX", key, "100", value});
    case 3:
      return RequestText({"GETSET", key, value});
    case 4:
      return RequestText({"MSET", key, value, other, "short"});
    case 5:
      return RequestText({"MSET", other, "short", key, value});
    case 6:
      return RequestText({"APPEND", key, value});
    case 7:
      return RequestText({"SETRANGE", key, "70000", value});
    case 8:
      return RequestText({"DEL", key});
    default:
      return RequestText({"MULTI"}) + RequestText({"SET", key, value}) + RequestText({"EXEC"});
  }
}

TEST_CASE("long arguments are stored alike however they come, and whatever follows them") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (int round = 0; round < 20; ++round) {
    CommandHarness one_by_one;
    CommandHarness harness;
    Peer peer(harness);
    std::string expected;
    std::string stream;
    for (int i = 0; i < 60; ++i) {
      std::string request = WriteLong(random, random.OneIn(2) ? 200'000 : 20'000);
      if (random.OneIn(3)) request += RequestText({"MGET", "k0", "k1", "k2"});
      Peer alone(one_by_one);
      alone.Send(request);
      expected += alone.received;
      stream += request;
      // Cut as a socket would, or where a request ends.
      if (random.OneIn(3)) continue;
      for (std::string_view rest = stream; !rest.empty();) {
        const size_t size = std::min(1 + random.Below(30'000), rest.size());
        peer.Send(rest.substr(0, size));
        rest.remove_prefix(size);
      }
      stream.clear();
    }
    peer.Send(stream);
    if (peer.received != expected) FAIL("the replies are others");
    CHECK(harness.Effects() == one_by_one.Effects());
    REQUIRE(peer.session().buffered() == 0);
  }
}

// To copy what has come so far would stop everybody.
TEST_CASE("a long argument does not move any more when 4 MiB of it have come") {
  constexpr size_t kMiB = size_t{1} << 20;
  CommandHarness harness;
  Peer peer(harness);
  Session& session = peer.session();
  peer.Send("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$300000000\r\n" + std::string(Peer::kRead, 'x'));
  size_t received = Peer::kRead;
  const char* next = nullptr;
  while (received < 70 * kMiB) {
    const std::span<char> room = session.LongArgumentRoom(Peer::kRead);
    REQUIRE_FALSE(room.empty());
    if (received > 5 * kMiB) REQUIRE(room.data() == next);
    std::fill(room.begin(), room.end(), 'x');
    session.TakeInRoom(room.size());
    session.Run();
    received += room.size();
    next = room.data() + room.size();
  }
}

TEST_CASE("calls whose reads are fetched ahead answer as they do one by one") {
  const std::vector<std::string> right = {"QUOTA.LEFT", "book", "1", "7", "8"};
  std::vector<std::string> many = {"quota.left", "book", "2"};
  for (int sku = 0; sku < 500; ++sku) many.push_back(std::to_string(sku));
  CheckFetchedAhead({{"SET", "text", "x"},
                     {"QUOTA.SETLIMIT", "book", "7", "0", "5", "30d", "007", "-0", "4", "30d"},
                     {"QUOTA.BUY", "book", "1", "100", "ITEMS", "7", "0", "2"},
                     right},
                    {many,
                     many,
                     {"QUOTA.LEFT", "book", "x", "7", "007"},
                     {"QUOTA.LEFT", "book", "1", "at"},
                     {"QUOTA.LEFT", "book", "1", "007", "at", "5"},
                     {"QUOTA.LEFT", "book", std::string(129, 'x'), "7"},
                     {"QUOTA.LEFT", "book", "1", std::string(129, 'x')},
                     {"QUOTA.LEFT", "book", "1", "7", "AT"},
                     {"QUOTA.LEFT", "book"},
                     {"QUOTA.LEFT"},
                     {"QUOTA.LEFT", "nobody", "1", "7"},
                     {"QUOTA.LEFT", "text", "1", "7"},
                     {"DEL", "book"},
                     right,
                     {"QUOTA.SETLIMIT", "book", "7", "0", "9", "30d"},
                     right,
                     {"SET", "book", "x"},
                     right});
}

TEST_CASE("ids that are fetched ahead are answered as they are one by one") {
  const auto reserve = [](std::string id) -> std::vector<std::string> {
    return {"LIMIT.RESERVE", std::move(id), "1m", "key", "FIXED", "9", "1h"};
  };
  std::vector<std::vector<std::string>> before = {{"SET", "text", "x"},
                                                  {"LIMIT.TAKE", "small", "FIXED", "9", "1h"}};
  // So many that the state is not in the key's record.
  for (int i = 0; i < 20; ++i)
    before.push_back({"LIMIT.RESERVE", std::to_string(i), "1m", "key", "FIXED", "30", "1h"});
  before.push_back({"LIMIT.COMMIT", "3", "key", "COST", "1"});
  CheckFetchedAhead(before, {reserve("a"),
                             reserve("b"),
                             reserve("3"),
                             reserve(""),
                             reserve(std::string(257, 'x')),
                             {"LIMIT.RESERVE", "c", "1m", "small", "FIXED", "9", "1h"},
                             {"LIMIT.RESERVE", "d", "1m", "text", "FIXED", "9", "1h"},
                             {"LIMIT.RESERVE", "d", "1m"},
                             {"LIMIT.RESERVE"},
                             {"LIMIT.COMMIT", "4", "key"},
                             {"LIMIT.COMMIT", "c", "small"},
                             {"LIMIT.COMMIT", "5", "text"},
                             {"LIMIT.COMMIT", "5", "nothing"},
                             {"LIMIT.COMMIT", "6"},
                             {"LIMIT.COMMIT"},
                             {"LIMIT.CANCEL", "7", "key"},
                             {"LIMIT.EXTEND", "8", "2m", "key"},
                             {"DEL", "key"},
                             {"SET", "key", "x"},
                             {"DEL", "small"}});
}

TEST_CASE("one client's long pipeline is run in shares") {
  CommandHarness harness;
  Peer peer(harness);
  std::string stream;
  for (int i = 0; i < 5000; ++i) stream += RequestText({"INCR", "n"});
  peer.session().Take(stream);
  peer.session().Run();
  CHECK(peer.session().has_backlog());
  CHECK(harness.Run("GET n") < "\"3000\"");
  int turns = 1;
  for (; peer.session().has_backlog(); ++turns) peer.Run();
  CHECK(turns == 3);
  CHECK(harness.Run({"GET", "n"}) == ReplyText::Of("$4\r\n5000\r\n"));
}

TEST_CASE("a share ends with its time, whatever the commands are") {
  CommandHarness harness;
  for (int i = 0; i < 5000; ++i) harness.Run({"SET", StrCat("key", i), "1"});
  Peer peer(harness);
  std::string stream;
  for (int i = 0; i < 50; ++i) stream += RequestText({"KEYS", "none"}) + RequestText({"INCR", "n"});
  peer.session().Take(stream);
  // Each share runs one command at least.
  int turns = 0;
  do {
    peer.session().Run({.micros = 1});
    ++turns;
  } while (peer.session().has_backlog());
  CHECK(turns > 40);
  CHECK(turns <= 100);
  CHECK(harness.Run("GET n") == ReplyText::Of("$2\r\n50\r\n"));
}

TEST_CASE("a client that does not read its replies is not run on") {
  CommandHarness harness;
  harness.Run({"SET", "big", std::string(300'000, 'x')});
  Peer peer(harness);
  std::string stream;
  for (int i = 0; i < 12; ++i) stream += RequestText({"GET", "big"});
  peer.session().Take(stream);
  peer.session().Run();
  CHECK(peer.session().has_backlog());
  CHECK(peer.session().client().output.size() < 600'000);
  while (peer.session().has_backlog()) peer.Run();
  peer.Read();
  CHECK(peer.received.size() == 12 * 300'011);
}

TEST_CASE("what a pause postpones runs once, after it, and in its order") {
  CommandHarness harness;
  Peer peer(harness);
  harness.Run("CLIENT PAUSE 1000 WRITE");
  peer.Send(RequestText({"GET", "n"}) + RequestText({"INCR", "n"}) + RequestText({"INCR", "n"}));
  CHECK(peer.received == "$-1\r\n");
  REQUIRE(peer.waiting());
  peer.Run();
  CHECK(peer.received == "$-1\r\n");
  harness.Advance(1001);
  peer.Run();
  CHECK(peer.received == "$-1\r\n:1\r\n:2\r\n");
  CHECK_FALSE(peer.session().has_backlog());
}

TEST_CASE("nothing is run after QUIT or a protocol error") {
  CommandHarness harness;
  Peer peer(harness);
  peer.Send(RequestText({"QUIT"}) + RequestText({"SET", "a", "1"}));
  CHECK(peer.received == "+OK\r\n");
  CHECK(peer.session().finished());
  Peer other(harness);
  other.Send(RequestText({"SET", "b", "1"}) + "*x\r\n" + RequestText({"SET", "c", "1"}));
  CHECK(other.received == "+OK\r\n-ERR Protocol error: invalid multibulk length\r\n");
  CHECK(harness.Run("EXISTS a b c") == ReplyText::Of(":1\r\n"));
}

TEST_CASE("the small limits end with the password, within one pipeline") {
  Config config;
  config.requirepass = "secret";
  CommandHarness harness(config);
  Peer peer(harness);
  const std::string large(20'000, 'x');
  peer.Send(RequestText({"AUTH", "secret"}) + RequestText({"SET", "a", large}) +
            RequestText({"STRLEN", "a"}));
  CHECK(peer.received == "+OK\r\n+OK\r\n:20000\r\n");
  Peer stranger(harness);
  stranger.Send(RequestText({"GET", "a"}) + RequestText({"SET", "a", large}));
  CHECK(stranger.received ==
        "-NOAUTH Authentication required.\r\n"
        "-ERR Protocol error: unauthenticated bulk length\r\n");
}

TEST_CASE("what was held back runs later, however it was cut, and in its order") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  CommandHarness harness;
  std::string stream;
  std::string expected;
  for (int i = 1; i <= 200; ++i) {
    stream += RequestText({"INCR", "n"});
    expected += ":" + std::to_string(i) + "\r\n";
  }
  stream += "*1\r\n+bad\r\n";
  expected += "-ERR Protocol error: expected '$', got '+'\r\n";
  Peer peer(harness);
  for (size_t at = 0; at < stream.size();) {
    const std::string piece = stream.substr(at, 1 + random.Below(300));
    at += piece.size();
    peer.session().Take(piece);
    while (random.OneIn(2)) peer.session().Hold();
    do peer.Run();
    while (peer.session().has_backlog());
  }
  CHECK(peer.received == expected);
  CHECK(peer.session().finished());
}

TEST_CASE("a write without a reply is no reason to forget the client at the turn's end") {
  CommandHarness harness;
  Peer peer(harness);
  peer.Send(RequestText({"CLIENT", "REPLY", "OFF"}));
  CHECK_FALSE(peer.session().client().needs_flush());
  peer.Send(RequestText({"SET", "key", "1"}));
  CHECK(peer.session().client().output.empty());
  CHECK(peer.session().client().needs_flush());
}

TEST_CASE("a client that takes much of a turn, or is not done, is heavy") {
  CommandHarness harness;
  harness.Run({"SET", "big", std::string(100'000, 'x')});
  Peer peer(harness);
  peer.Send(RequestText({"GET", "big"}));
  CHECK(peer.session().heavy());
  const std::string ping = RequestText({"PING"});
  peer.session().Take(ping);
  peer.session().Run({.output_bytes = 0});
  CHECK(peer.session().has_backlog());
  CHECK(peer.session().heavy());
}

TEST_CASE("output beyond the hard limit is dropped while EXEC still runs") {
  CommandHarness harness;
  harness.config.client_output_buffer_limit[0].hard = 1 << 20;
  harness.Run({"SET", "big", std::string(300'000, 'x')});
  Peer peer(harness);
  peer.Send(RequestText({"MULTI"}));
  for (int i = 0; i < 100; ++i) peer.Send(RequestText({"GET", "big"}));
  peer.Send(RequestText({"INCR", "ran"}));
  const std::string exec = RequestText({"EXEC"});
  peer.session().Take(exec);
  peer.session().Run();
  const Client& client = peer.session().client();
  CHECK(client.output.overflowed());
  CHECK(client.needs_flush());
  CHECK(client.output.heap_bytes() < 300'000);
  CHECK(harness.Run("GET ran") == ReplyText::Of("$1\r\n1\r\n"));

  SECTION("and so are messages to it") {
    Peer listener(harness);
    listener.Send(RequestText({"SUBSCRIBE", "news"}));
    harness.config.client_output_buffer_limit[2].hard = 1 << 20;
    harness.state.clients.LimitOutput(listener.session().client());
    for (int i = 0; i < 100; ++i) harness.Run({"PUBLISH", "news", std::string(100'000, 'x')});
    CHECK(listener.session().client().output.overflowed());
    CHECK(listener.session().client().output.empty());
  }
}

}  // namespace tally::server::session_test
