// Replicas as a server without sockets sees them: what PSYNC answers, what is sent, what is kept.
#include "server/replication/replica_links.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/bytes/str_cat.h"
#include "server/replication/stream_frame.h"
#include "tests/unit/server/command_harness.h"

namespace tally::server::replica_links_test {
namespace {

// The connection of a replica that takes nothing until it is told to.
class FakeTransport final : public Transport {
 public:
  bool FlushOutput(size_t) override { return false; }
  void Close() override {}
};

class TextFile final : public SyncFile {
 public:
  explicit TextFile(std::string text) : text_(std::move(text)) {}
  absl::Status ReadAt(uint64_t offset, std::span<char> out) const override {
    if (offset + out.size() > text_.size()) return absl::DataLossError("the file is short");
    std::copy_n(text_.data() + offset, out.size(), out.data());
    return absl::OkStatus();
  }

 private:
  std::string text_;
};

// A replica whose output the test reads.
struct Peer {
  explicit Peer(CommandHarness& harness) : h(harness), client(h.Connect()) {
    client->transport = &transport;
    client->address = "10.0.0.7:50000";
  }
  ~Peer() { h.replicas.Forget(*client); }

  std::string Take() {
    std::string text = client->output.Joined();
    client->output.Clear();
    return text;
  }
  std::string Ask(std::string_view id, int64_t next) {
    REQUIRE(h.replicas.Configure(*client, "capa", "tallyd").empty());
    REQUIRE(h.replicas.Configure(*client, "listening-port", "7001").empty());
    h.replicas.Synchronize(*client, {.id = id, .next = next});
    return Take();
  }
  // What the frames say that were sent since the last call.
  std::string Effects() {
    std::string effects;
    buffer += Take();
    StreamFrame frame;
    size_t consumed = 0;
    while (reader->Next(buffer, frame, consumed) == FrameReader::Status::kFrame) {
      asked += frame.effects.empty() ? 1 : 0;
      if (frame.database == kMessages) {
        ++messages;
        message_bytes += frame.effects.size();
      }
      effects += frame.effects;
      buffer.erase(0, consumed);
    }
    CHECK(reader->error() == "");
    return effects;
  }

  CommandHarness& h;
  Client* client;
  FakeTransport transport;
  std::string buffer;
  std::optional<FrameReader> reader;
  int asked = 0;
  int messages = 0;
  size_t message_bytes = 0;
};

// Gives the replicas a base of these bytes at the present end of the stream.
void GiveBase(CommandHarness& h, const std::string& text) {
  h.persistence.base = [&h, text, offset = h.replicas.offset()] {
    return SyncBase{std::make_unique<TextFile>(text), text.size(), h.state.stream_id.id(), offset};
  };
  h.persistence.in_rewrite = false;
}

TEST_CASE("a new replica gets the base, and then what was written since", "[replica_links]") {
  CommandHarness h;
  h.Run("SET before 1");
  Peer peer(h);
  CHECK(peer.Ask("?", -1).empty());
  CHECK(h.replicas.state().replicas.at(0).stage == ReplicaState::Stage::kWaiting);
  h.replicas.EndTurn();
  CHECK(h.persistence.in_rewrite);
  h.Run("SELECT 0");
  h.state.effects.DeliverAll();
  const uint64_t begin = h.replicas.offset();
  GiveBase(h, "the base");
  h.Run("SET after 2");
  h.state.effects.Deliver();
  h.replicas.EndTurn();
  const std::string sent = peer.Take();
  const std::string head =
      StrCat("+FULLRESYNC ", h.state.stream_id.id(), " ", begin, "\r\n$8\r\nthe base");
  REQUIRE(sent.substr(0, head.size()) == head);
  peer.buffer = sent.substr(head.size());
  peer.reader.emplace(begin);
  h.replicas.EndTurn();
  CHECK(peer.Effects().find("after") != std::string::npos);
  CHECK(peer.reader->offset() == h.replicas.offset());
  CHECK(h.replicas.state().replicas.at(0).stage == ReplicaState::Stage::kOnline);
  CHECK(h.replicas.state().replicas.at(0).port == 7001);
  CHECK(h.replicas.state().replicas.at(0).ip == "10.0.0.7");
}

// A peer that goes on at the end of the stream.
void Follow(Peer& peer) {
  CommandHarness& h = peer.h;
  h.replicas.StartBacklog();
  h.state.effects.DeliverAll();
  const auto next = static_cast<int64_t>(h.replicas.offset()) + 1;
  const std::string id = h.state.stream_id.id();
  REQUIRE(peer.Ask(id, next) == StrCat("+CONTINUE ", id, "\r\n"));
  peer.reader.emplace(h.replicas.offset());
}

TEST_CASE("acknowledgements are counted, and those of the future end the link", "[replica_links]") {
  CommandHarness h;
  Peer one(h);
  Peer other(h);
  Follow(one);
  Follow(other);
  h.Run("SET a 1");
  h.state.effects.Deliver();
  h.replicas.EndTurn();
  const uint64_t offset = h.replicas.offset();
  CHECK(h.replicas.Acknowledged(offset) == 0);
  h.replicas.Acknowledge(*one.client, offset);
  CHECK(h.replicas.TakeAcknowledged());
  CHECK_FALSE(h.replicas.TakeAcknowledged());
  CHECK(h.replicas.Acknowledged(offset) == 1);
  // An old one takes nothing back.
  h.replicas.Acknowledge(*one.client, offset - 5);
  CHECK(h.replicas.Acknowledged(offset) == 1);
  h.replicas.Acknowledge(*other.client, offset + 1);
  CHECK(other.client->finished());
  CHECK(h.replicas.Acknowledged(offset) == 1);
  CHECK(h.replicas.state().replicas.size() == 1);
}

TEST_CASE("who is asked to acknowledge gets a frame without effects after all that counts",
          "[replica_links]") {
  CommandHarness h;
  Peer peer(h);
  Follow(peer);
  h.Run("SET a 1");
  h.replicas.AskForAcknowledgements();
  h.replicas.EndTurn();
  // The effects are not delivered yet.
  CHECK(peer.Effects().empty());
  CHECK(peer.asked == 0);
  h.state.effects.Deliver();
  h.replicas.EndTurn();
  CHECK_FALSE(peer.Effects().empty());
  h.replicas.EndTurn();
  peer.Effects();
  CHECK(peer.asked == 1);
}

// Runs what the client writes or publishes, and ends the turn.
void RunTurn(CommandHarness& h, const CommandHarness::Words& words) {
  h.Run(words);
  h.state.effects.Deliver();
  h.replicas.EndTurn();
}

TEST_CASE("messages go to replicas between what was written before and after", "[replica_links]") {
  CommandHarness h;
  Peer peer(h);
  RunTurn(h, {"PUBLISH", "news", "nobody"});
  Follow(peer);
  h.Run("SET before 1");
  h.Run("publish news hello");
  h.Run("SPUBLISH shard there");
  h.state.effects.Deliver();
  h.Run("SET after 1");
  h.state.effects.Deliver();
  h.replicas.EndTurn();
  const std::string sent = peer.Effects();
  CHECK(peer.messages == 2);
  CHECK(sent.find("nobody") == std::string::npos);
  const size_t hello = sent.find("hello");
  CHECK(sent.find("before") < hello);
  CHECK(hello < sent.find("there"));
  CHECK(sent.find("there") != std::string::npos);
  // It joins with what was delivered before it, but is not lost.
  CHECK(sent.find("after") != std::string::npos);
  CHECK(peer.reader->offset() == h.replicas.offset());
}

TEST_CASE("of messages that a replica does not take the oldest are lost", "[replica_links]") {
  CommandHarness h;
  Peer peer(h);
  Follow(peer);
  const std::string mebibyte(1 << 20, 'm');
  for (int i = 0; i < 100; ++i) {
    RunTurn(h, {"PUBLISH", "news", mebibyte});
    CHECK(peer.client->output.size() < 200'000);
    CHECK(h.replicas.slow_bytes() <= (32 << 20));
  }
  CHECK(h.replicas.slow_bytes() > (30 << 20));
  RunTurn(h, {"SET", "a", "1"});
  RunTurn(h, {"PUBLISH", "news", "the last"});
  std::string sent;
  for (int turn = 0; turn < 1000; ++turn) {
    sent += peer.Effects();
    h.replicas.EndTurn();
  }
  CHECK(peer.messages >= 31);
  CHECK(peer.messages <= 35);
  CHECK(peer.message_bytes < (34 << 20));
  CHECK(sent.ends_with("the last\r\n"));
  CHECK(h.replicas.slow_bytes() == 0);
  CHECK(peer.reader->offset() == h.replicas.offset());
}

TEST_CASE("a message that is longer than all that may wait arrives", "[replica_links]") {
  CommandHarness h;
  Peer peer(h);
  Follow(peer);
  RunTurn(h, {"PUBLISH", "news", std::string(40 << 20, 'm')});
  for (int turn = 0; turn < 1000; ++turn) {
    peer.Effects();
    h.replicas.EndTurn();
  }
  CHECK(peer.messages == 1);
  CHECK(peer.message_bytes > (40 << 20));
}

// A peer that asks for an RDB only.
void AskForRdb(Peer& peer, bool by_sync = true) {
  REQUIRE(peer.h.replicas.Configure(*peer.client, "rdb-only", "1").empty());
  peer.h.replicas.Synchronize(*peer.client, {.id = "?", .next = -1, .by_sync = by_sync});
  REQUIRE(peer.Take().empty());
  peer.h.replicas.EndTurn();
}

TEST_CASE("an RDB goes to all who have asked for it before it was begun", "[replica_links]") {
  CommandHarness h;
  Peer first(h);
  Peer second(h);
  Peer late(h);
  AskForRdb(first);
  AskForRdb(second, false);
  auto& requests = h.persistence.rdb_requests;
  REQUIRE(requests.size() == 1);
  requests[0].begun();
  AskForRdb(late);
  CHECK(requests.size() == 1);
  GiveBase(h, "the RDB");
  requests[0].done(absl::OkStatus());
  h.replicas.EndTurn();
  CHECK(first.Take() == "$7\r\nthe RDB");
  const std::string sent = second.Take();
  CHECK(sent.starts_with("+FULLRESYNC "));
  CHECK(sent.ends_with("\r\n$7\r\nthe RDB"));
  CHECK(late.Take().empty());
  CHECK_FALSE(first.client->finished());
  h.replicas.EndTurn();
  CHECK(first.client->finished());
  CHECK(second.client->finished());
  CHECK_FALSE(late.client->finished());
  REQUIRE(requests.size() == 2);
  requests[1].begun();
  requests[1].done(absl::OkStatus());
  h.replicas.EndTurn();
  CHECK(late.Take() == "$7\r\nthe RDB");
}

TEST_CASE("an RDB is not ended before it is taken, and then nothing of the stream follows",
          "[replica_links]") {
  CommandHarness h;
  Peer peer(h);
  AskForRdb(peer);
  const std::string rdb(1'000'000, 'r');
  GiveBase(h, rdb);
  h.persistence.rdb_requests.at(0).begun();
  h.persistence.rdb_requests.at(0).done(absl::OkStatus());
  h.Run("SET after 1");
  h.state.effects.Deliver();
  std::string sent;
  for (int turn = 0; turn < 100 && !peer.client->finished(); ++turn) {
    h.replicas.EndTurn();
    h.replicas.EndTurn();
    CHECK_FALSE(peer.client->finished());
    CHECK(peer.client->output.size() < 200'000);
    sent += peer.Take();
    if (sent.size() > rdb.size()) h.replicas.EndTurn();
  }
  CHECK(peer.client->finished());
  CHECK(sent == "$1000000\r\n" + rdb);
  CHECK(h.replicas.slow_bytes() == 0);
}

TEST_CASE("an RDB that cannot be written is an error for all who wait", "[replica_links]") {
  CommandHarness h;
  Peer one(h);
  Peer other(h);
  AskForRdb(one);
  AskForRdb(other);
  h.persistence.rdb_requests.at(0).done(absl::ResourceExhaustedError("the disk\nis full"));
  for (Peer* peer : {&one, &other}) {
    CHECK(peer->Take() == "-ERR the RDB cannot be written: the disk\\x0ais full\r\n");
    CHECK(peer->client->finished());
  }
  h.replicas.EndTurn();
  CHECK(h.persistence.rdb_requests.size() == 1);
}

TEST_CASE("one that waits for an RDB is told each second that it is worked on", "[replica_links]") {
  CommandHarness h;
  h.state.clock.SetSteady(1'000'000);
  Peer peer(h);
  AskForRdb(peer);
  h.state.clock.SetSteady(1'000'900);
  h.replicas.Tick();
  CHECK(peer.Take().empty());
  h.state.clock.SetSteady(1'001'000);
  h.replicas.Tick();
  CHECK(peer.Take() == "\n");
  CHECK(h.replicas.Configure(*peer.client, "rdb-only", "2") == "ERR value is out of range");
}

TEST_CASE("a replica that takes nothing holds little, and is dropped above the limit",
          "[replica_links]") {
  CommandHarness h;
  h.config.client_output_buffer_limit[static_cast<size_t>(ClientClass::kReplica)] = {4 << 20, 0, 0};
  Peer peer(h);
  Follow(peer);
  for (int i = 0; i < 3; ++i) {
    h.Run({"SET", "a", std::string(1 << 20, 'x')});
    h.state.effects.Deliver();
    h.replicas.EndTurn();
    CHECK(peer.client->output.size() < 200'000);
  }
  CHECK_FALSE(peer.client->finished());
  for (int i = 0; i < 2; ++i) {
    h.Run({"SET", "a", std::string(1 << 20, 'x')});
    h.state.effects.Deliver();
    h.replicas.EndTurn();
  }
  CHECK(peer.client->finished());
  h.replicas.EndTurn();
  CHECK(h.replicas.state().backlog_bytes <= (2 << 20));
}

TEST_CASE("a replica that is silent for repl-timeout is dropped", "[replica_links]") {
  CommandHarness h;
  h.state.clock.SetSteady(1'000'000);
  Peer peer(h);
  Follow(peer);
  h.state.clock.SetSteady(1'000'000 + 60'000);
  h.replicas.Tick();
  CHECK_FALSE(peer.client->finished());
  h.state.clock.SetSteady(1'000'000 + 60'001);
  h.replicas.Tick();
  CHECK(peer.client->finished());
}

TEST_CASE("the backlog is dropped after repl-backlog-ttl without a replica", "[replica_links]") {
  CommandHarness h;
  h.state.clock.SetSteady(1'000'000);
  {
    Peer peer(h);
    Follow(peer);
  }
  h.replicas.Tick();
  CHECK(h.replicas.state().has_backlog);
  h.state.clock.SetSteady(1'000'000 + 3'599'000);
  h.replicas.Tick();
  CHECK(h.replicas.state().has_backlog);
  h.state.clock.SetSteady(1'000'000 + 3'601'000);
  h.replicas.Tick();
  CHECK_FALSE(h.replicas.state().has_backlog);
}

}  // namespace
}  // namespace tally::server::replica_links_test
