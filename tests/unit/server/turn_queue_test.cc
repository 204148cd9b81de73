#include "server/loop/turn_queue.h"

#include <catch2/catch.hpp>

#include "server/loop_harness.h"

namespace tally::server::turn_queue_test {
namespace {

constexpr size_t kMoreThanHalf = TurnBudget::kBytes * 6 / 10;

}  // namespace

TEST_CASE("turn queue: who comes first runs first, and nobody runs without a request") {
  LoopHarness loop;
  FakePeer& a = loop.Fake("a");
  FakePeer& b = loop.Fake("b");
  loop.Fake("c");
  b.Send("1");
  a.Send("2");
  CHECK(loop.queue.HasWork());
  CHECK(loop.Turn() == "b<1 a<2 b a ");
  CHECK_FALSE(loop.queue.HasWork());
  CHECK(loop.Turn().empty());
}

TEST_CASE("turn queue: who finds the budget used up is kept, and goes first in the next turn") {
  LoopHarness loop;
  FakePeer& a = loop.Fake("a");
  FakePeer& b = loop.Fake("b");
  FakePeer& c = loop.Fake("c");
  FakePeer& d = loop.Fake("d");
  for (FakePeer* peer : {&a, &b, &c}) {
    peer->conversation->reply_bytes = kMoreThanHalf;
    peer->Send("1");
  }
  CHECK(loop.Turn() == "a<1 b<1 c<1 a b c=held ");
  d.Send("2");
  CHECK(loop.queue.HasWork());
  CHECK(loop.Turn() == "d<2 c d ");
}

TEST_CASE(
    "turn queue: who took much, and who hangs up, comes after all others, but is not left out") {
  LoopHarness loop;
  FakePeer& heavy = loop.Fake("heavy");
  FakePeer& ends = loop.Fake("ends");
  FakePeer& light = loop.Fake("light");
  heavy.conversation->is_heavy = true;
  heavy.Send("1");
  ends.far.Send("2");
  ends.far.EndSending();
  ends.Readable(true);
  light.conversation->reply_bytes = 2 * TurnBudget::kBytes;
  light.Send("3");
  CHECK(loop.Turn() == "light<3 light heavy<1 heavy ");
  CHECK(loop.Turn().find("ends<2 ends ") != std::string::npos);
}

TEST_CASE("turn queue: a turn ends with its time, and goes on where it ended") {
  LoopHarness loop;
  for (const char* const name : {"a", "b", "c", "d"}) {
    FakePeer& peer = loop.Fake(name);
    peer.conversation->is_heavy = true;
    peer.conversation->micros = TurnBudget::kMicros * 3 / 4;
    peer.Send("1");
  }
  CHECK(loop.Turn() == "a<1 a b<1 b c<1 c ");
  CHECK(loop.Turn().starts_with("d<1 d "));
}

TEST_CASE("turn queue: the turn is divided among those who run in it, within bounds") {
  struct Row {
    int clients;
    int64_t micros;
    size_t output_bytes;
  };
  for (const Row row :
       {Row{1, 1000, 65536}, Row{4, 500, 65536}, Row{20, 100, 52428}, Row{100, 50, 16384}}) {
    LoopHarness loop;
    FakePeer* last = nullptr;
    for (int i = 0; i < row.clients; ++i) {
      last = &loop.Fake("x");
      last->Send("1");
    }
    loop.Turn();
    INFO(row.clients);
    CHECK(last->conversation->share.micros == row.micros);
    CHECK(last->conversation->share.output_bytes == row.output_bytes);
  }
}

TEST_CASE("turn queue: what a client has left runs in later turns, once in each") {
  LoopHarness loop;
  FakePeer& a = loop.Fake("a");
  FakePeer& b = loop.Fake("b");
  a.conversation->backlog = 3;
  a.Send("1");
  CHECK(loop.Turn() == "a<1 a ");
  b.Send("2");
  CHECK(loop.Turn() == "b<2 a b ");
  CHECK(loop.Turn() == "a ");
}

TEST_CASE(
    "turn queue: a postponed command waits for the end of the pause, and keeps nobody waiting") {
  LoopHarness loop;
  FakePeer& a = loop.Fake("a");
  FakePeer& b = loop.Fake("b");
  loop.h.state.pause.until_ms = loop.h.state.clock.elapsed_ms() + 1000;
  a.client().state.command.Postpone();
  a.Send("1");
  CHECK_FALSE(loop.queue.HasWork());
  b.Send("2");
  CHECK(loop.queue.HasWork());
  CHECK(loop.Turn() == "b<2 b ");
  loop.Turn();
  loop.h.Advance(999);
  CHECK_FALSE(loop.queue.HasWork());
  loop.h.Advance(1);
  CHECK(loop.queue.HasWork());
  CHECK(loop.Turn() == "a<1 a ");
}

TEST_CASE("turn queue: others are served inside a long command, each once") {
  LoopHarness loop;
  FakePeer& a = loop.Fake("a");
  FakePeer& b = loop.Fake("b");
  FakePeer& c = loop.Fake("c");
  a.conversation->during = [&] {
    c.Send("3");
    loop.queue.ServeInside();
    loop.diary += "a-ends ";
  };
  a.Send("1");
  b.Send("2");
  CHECK(loop.Turn() == "a<1 b<2 a b c<3 c a-ends ");
}

}  // namespace tally::server::turn_queue_test
