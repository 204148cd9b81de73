#include "server/state/connection_state.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "random_seed.h"

namespace tally::server::connection_state_test {
namespace {

// Whether `run` is a programmer's error. It is run in a child process, which ends with it.
template <typename Run>
bool Aborts(Run run) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);
    ::close(STDERR_FILENO);
    run();
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

// One row of an axis: a transition, and what it makes of each state, in the order of the enum; -1
// where it is illegal.
template <typename Axis>
struct Row {
  std::string name;
  std::function<void(Axis&)> apply;
  std::array<int, 4> to;
};

// `ways` lead from a new axis to each of its states.
template <typename Axis>
void CheckTable(const std::vector<std::function<void(Axis&)>>& ways,
                const std::vector<Row<Axis>>& rows) {
  for (size_t from = 0; from < ways.size(); ++from) {
    for (const Row<Axis>& row : rows) {
      INFO(row.name << " in state " << from);
      Axis axis;
      ways[from](axis);
      REQUIRE(static_cast<size_t>(axis.state()) == from);
      if (row.to[from] < 0) {
        CHECK(Aborts([&] { row.apply(axis); }));
      } else {
        row.apply(axis);
        CHECK(static_cast<int>(axis.state()) == row.to[from]);
      }
    }
  }
}

}  // namespace

TEST_CASE("the socket's edges are remembered until a read has met the end of what is there") {
  using Axis = SocketInput;
  CheckTable<Axis>(
      {[](Axis&) {}, [](Axis& axis) { axis.Edge(false); }, [](Axis& axis) { axis.Edge(true); }},
      {{"edge", [](Axis& axis) { axis.Edge(false); }, {1, 1, 2}},
       {"edge with an end", [](Axis& axis) { axis.Edge(true); }, {2, 2, 2}},
       {"a full read", [](Axis& axis) { axis.Read(100, false); }, {-1, 1, 2}},
       {"a read that drains", [](Axis& axis) { axis.Read(10, true); }, {-1, 0, 2}},
       {"an interrupted read", [](Axis& axis) { axis.Read(0, false); }, {-1, 1, 2}},
       {"a read of nothing", [](Axis& axis) { axis.Read(0, true); }, {-1, 0, 0}}});
}

TEST_CASE("bytes that were taken are run or held before others are taken") {
  using Axis = RequestInput;
  CheckTable<Axis>(
      {[](Axis&) {}, [](Axis& axis) { axis.Take(); }, [](Axis& axis) { axis.BeginRun(); },
       [](Axis& axis) {
         axis.Take();
         axis.Hold();
       }},
      {{"take", [](Axis& axis) { axis.Take(); }, {1, -1, -1, 1}},
       {"hold", [](Axis& axis) { axis.Hold(); }, {-1, 3, -1, -1}},
       {"begin", [](Axis& axis) { axis.BeginRun(); }, {2, 2, -1, 2}},
       {"end", [](Axis& axis) { axis.EndRun(false); }, {-1, -1, 0, -1}},
       {"end with a rest", [](Axis& axis) { axis.EndRun(true); }, {-1, -1, 3, -1}}});
}

TEST_CASE("a connection is queued once, and its turn comes from the queue") {
  using Axis = TurnPlace;
  CheckTable<Axis>({[](Axis&) {}, [](Axis& axis) { axis.Enqueue(); },
                    [](Axis& axis) {
                      axis.Enqueue();
                      axis.Begin();
                    }},
                   {{"enqueue", [](Axis& axis) { axis.Enqueue(); }, {1, -1, -1}},
                    {"begin", [](Axis& axis) { axis.Begin(); }, {-1, 2, -1}},
                    {"end", [](Axis& axis) { axis.End(); }, {-1, -1, 0}}});
}

TEST_CASE("nothing is sent to a peer that takes no more before its socket is writable") {
  using Axis = OutputProgress;
  CheckTable<Axis>(
      {[](Axis&) {}, [](Axis& axis) { axis.Leave(); }, [](Axis& axis) { axis.Block(); }},
      {{"block", [](Axis& axis) { axis.Block(); }, {2, 2, -1}},
       {"unblock", [](Axis& axis) { axis.Unblock(); }, {0, 1, 1}},
       {"leave", [](Axis& axis) { axis.Leave(); }, {1, 1, 2}},
       {"clear", [](Axis& axis) { axis.Clear(); }, {0, 0, 0}}});
  OutputProgress output;
  CHECK_FALSE(output.Unblock());
  output.Block();
  CHECK(output.Unblock());
  CHECK_FALSE(output.Unblock());
}

TEST_CASE("a connection does not open again, and closes once") {
  using Axis = ConnectionEnd;
  CheckTable<Axis>(
      {[](Axis&) {}, [](Axis& axis) { axis.Finish(); }, [](Axis& axis) { axis.Close(); }},
      {{"finish", [](Axis& axis) { axis.Finish(); }, {1, 1, 2}},
       {"close", [](Axis& axis) { axis.Close(); }, {2, 2, -1}}});
}

namespace {

// A connection in a loop, driven by dice. Beside the state that is tested it keeps plain flags, of
// which the rules are written out here once more.
class Driven {
 public:
  explicit Driven(test::SeededRandom& random) : random_(random) {}

  void Step() {
    switch (random_.Below(8)) {
      case 0:
      case 1:
        Receive();
        break;
      case 2:
        BecomeWritable();
        break;
      case 3:
      case 4:
        TakeTurn();
        break;
      case 5:
        Flush();
        break;
      case 6:
        output_ += random_.Below(3);  // messages of other clients
        break;
      default:
        if (random_.OneIn(20)) End();
    }
    CheckRules();
  }
  // The peer takes all that is sent to it, and sends nothing more. Then nothing may be left undone.
  void FinishAll() {
    for (int i = 0; i < 500; ++i) {
      BecomeWritable();
      Flush();
      TakeTurn();
      CheckRules();
    }
    if (stream_ended_ || finished_) REQUIRE(closed_);
    if (closed_) return;
    REQUIRE(run_ == received_);
    REQUIRE(output_ == 0);
    REQUIRE(state_.place.resting());
  }
  uint64_t run() const { return run_; }

 private:
  static constexpr uint64_t kRoom = 3;  // of a read

  bool WantsTurn() const {
    return !queued_ && !running_ && !unsent_ && !finished_ && !closed_ && (backlog_ || readable_);
  }
  void CheckRules() const {
    const bool wants_input =
        readable_ && !taken_ && !backlog_ && !unsent_ && !finished_ && !closed_ && !running_;
    REQUIRE(state_.WantsInput() == wants_input);
    REQUIRE(state_.WantsTurn() == WantsTurn());
    REQUIRE(state_.socket.readable() == readable_);
    REQUIRE(state_.output.blocked() == blocked_);
    REQUIRE(state_.output.clear() == !unsent_);
    REQUIRE(state_.requests.has_backlog() == backlog_);
    REQUIRE(state_.end.open() == !(finished_ || closed_));
  }
  void Continue() {
    REQUIRE(state_.WantsTurn() == WantsTurn());
    if (!WantsTurn()) return;
    state_.place.Enqueue();
    queued_ = true;
  }
  void Receive() {
    if (closed_ || stream_ended_) return;
    const uint64_t bytes = random_.Below(5);
    stream_ended_ = random_.OneIn(80);
    if (bytes == 0 && !stream_ended_) return;
    received_ += bytes;
    unread_ += bytes;
    readable_ = true;
    state_.socket.Edge(stream_ended_);
    Continue();
  }
  void BecomeWritable() {
    if (closed_) return;
    CHECK(state_.output.Unblock() == blocked_);
    blocked_ = false;
    Continue();
  }
  void Read() {
    const uint64_t bytes = std::min(unread_, kRoom);
    if (bytes == 0 && stream_ended_) return Close();
    unread_ -= bytes;
    const bool drained = bytes < kRoom;
    readable_ = !drained || (stream_ended_ && bytes > 0);
    state_.socket.Read(bytes, drained);
    if (bytes == 0) return;
    state_.requests.Take();
    taken_ = true;
    waiting_ += bytes;
  }
  void TakeTurn() {
    if (!queued_) return;
    if (state_.WantsInput()) Read();
    if (random_.OneIn(4)) {  // The turn's budget is used up.
      if (taken_) {
        state_.requests.Hold();
        backlog_ = true;
      }
      taken_ = false;
      return;
    }
    queued_ = false;
    running_ = true;
    state_.place.Begin();
    if (state_.MayBeServed()) Run();
    taken_ = running_ = false;
    state_.place.End();
    Continue();
  }
  void Run() {
    state_.requests.BeginRun();
    backlog_ = false;
    if (random_.OneIn(3)) Receive();  // Others are served inside one of its commands.
    CheckRules();
    const uint64_t commands = std::min(waiting_, 1 + random_.Below(4));
    waiting_ -= commands;
    run_ += commands;
    output_ += commands;
    backlog_ = waiting_ > 0;
    state_.requests.EndRun(backlog_);
  }
  void Flush() {
    if (closed_) return;
    while (!state_.output.blocked() && output_ > 0) {
      if (random_.OneIn(4)) {
        state_.output.Block();
        blocked_ = true;
      } else {
        --output_;
      }
    }
    unsent_ = output_ > 0;
    if (unsent_) return state_.output.Leave();
    blocked_ = false;
    state_.output.Clear();
    finished_ ? Close() : Continue();
  }
  void End() {
    if (random_.OneIn(3)) return Close();
    finished_ = true;
    state_.end.Finish();
  }
  void Close() {
    if (closed_) return;
    closed_ = true;
    state_.end.Close();
  }

  test::SeededRandom& random_;
  ConnectionState state_;
  uint64_t received_ = 0;
  uint64_t unread_ = 0;   // in the socket
  uint64_t waiting_ = 0;  // requests, of a byte each, that were read
  uint64_t run_ = 0;
  uint64_t output_ = 0;
  bool stream_ended_ = false;
  bool readable_ = false;
  bool taken_ = false;
  bool backlog_ = false;
  bool queued_ = false;
  bool running_ = false;
  bool blocked_ = false;
  bool unsent_ = false;
  bool finished_ = false;
  bool closed_ = false;
};

}  // namespace

TEST_CASE("a connection asks for a turn whenever it has something to do, and only then") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  uint64_t run = 0;
  for (int round = 0; round < 500; ++round) {
    Driven connection(random);
    const uint64_t steps = random.Below(400);
    for (uint64_t i = 0; i < steps; ++i) connection.Step();
    connection.FinishAll();
    run += connection.run();
  }
  CHECK(run > 1000);
}

TEST_CASE("a command is postponed until it may run, and runs until it ends") {
  ConnectionState state;
  state.command.Postpone();
  state.command.Postpone();
  CHECK(state.command.postponed());
  state.command.Admit();
  CHECK_FALSE(state.command.postponed());
  state.command.Begin();
  CHECK(state.command.running());
  state.command.End();
  CHECK_FALSE(state.command.running());
}

TEST_CASE("a command that waits is neither read nor run behind, until its wait is over") {
  ConnectionState state;
  state.socket.Edge(false);
  state.requests.Take();
  state.requests.Hold();
  CHECK(state.WantsTurn());
  state.command.Begin();
  state.command.Block();
  CHECK(state.command.blocked());
  CHECK_FALSE(state.command.running());
  state.command.End();
  CHECK(state.command.blocked());
  CHECK_FALSE(state.MayBeServed());
  CHECK_FALSE(state.WantsTurn());
  CHECK_FALSE(state.WantsInput());
  state.command.Unblock();
  CHECK(state.WantsTurn());
  CHECK(Aborts([&] { state.command.Unblock(); }));
  CHECK(Aborts([&] { state.command.Block(); }));
  state.command.Begin();
  state.command.Block();
  CHECK(Aborts([&] { state.command.Begin(); }));
  CHECK(Aborts([&] { state.command.Admit(); }));
  CHECK(Aborts([&] { state.command.Postpone(); }));
}

}  // namespace tally::server::connection_state_test
