// The state of a connection: six states that change independently of one another, and the only
// transitions that each of them allows. Any other transition is a programming error and ends the
// process, because it could mean that a request is run twice or a reply is lost.
#pragma once

#include <cstdint>

#include "core/base/check.h"

namespace tally::server {

// Whether the socket has anything to read. The kernel reports an edge only once, so this state
// remembers it until a read has met the end of the available bytes.
class SocketInput {
 public:
  enum class State : uint8_t {
    kDrained,   // nothing to read before the next edge
    kReadable,  // not known to be drained
    kEnding,    // kReadable, then the end of the stream, which brings no edge
  };

  State state() const { return state_; }
  bool readable() const { return state_ != State::kDrained; }

  // Called when the socket becomes readable. `hung_up`: after the bytes that are there, the stream
  // ends.
  void Edge(bool hung_up) {
    if (hung_up) {
      state_ = State::kEnding;
    } else if (state_ == State::kDrained) {
      state_ = State::kReadable;
    }
  }
  // Called after a read of `bytes` bytes; `drained` if no more was there. A read that finds bytes
  // before the end of the stream does not drain the socket, because the end must be read too.
  void Read(uint64_t bytes, bool drained) {
    Check(readable(), "a socket is read after an edge");
    if (drained && !(state_ == State::kEnding && bytes > 0)) state_ = State::kDrained;
  }

 private:
  State state_ = State::kDrained;
};

// The requests that were received and have not all been run.
class RequestInput {
 public:
  enum class State : uint8_t {
    kIdle,     // no whole request
    kTaken,    // bytes were read; run or hold them before their place is read into again
    kRunning,  // commands are being run
    kBacklog,  // the rest is kept for a later turn
  };

  State state() const { return state_; }
  bool idle() const { return state_ == State::kIdle; }
  bool taken() const { return state_ == State::kTaken; }
  bool has_backlog() const { return state_ == State::kBacklog; }

  // New bytes were read. They follow the bytes that were kept.
  void Take() {
    Check(idle() || has_backlog(), "bytes are taken when those before them are run or kept");
    state_ = State::kTaken;
  }
  // The bytes that were taken are kept for a later turn.
  void Hold() {
    Check(taken(), "bytes that were taken are held");
    state_ = State::kBacklog;
  }
  void BeginRun() {
    Check(state_ != State::kRunning, "a client's requests run one after the other");
    state_ = State::kRunning;
  }
  void EndRun(bool backlog) {
    Check(state_ == State::kRunning, "a run ends that has begun");
    state_ = backlog ? State::kBacklog : State::kIdle;
  }

 private:
  State state_ = State::kIdle;
};

// The command whose turn it is among the requests.
class CommandProgress {
 public:
  enum class State : uint8_t {
    kNone,
    kPostponed,  // waits for the end of CLIENT PAUSE
    kRunning,    // the client is not read, run or sent to meanwhile
    kBlocked,    // waits for a key: its reply comes later, and nothing is read or run until then
  };

  bool postponed() const { return state_ == State::kPostponed; }
  bool running() const { return state_ == State::kRunning; }
  bool blocked() const { return state_ == State::kBlocked; }

  State state() const { return state_; }

  void Postpone() {
    Check(!running() && !blocked(), "a command that has begun is not postponed");
    state_ = State::kPostponed;
  }
  // The command waits no more: it is run, queued or refused.
  void Admit() {
    Check(!running() && !blocked(), "a client's commands run one after the other");
    state_ = State::kNone;
  }
  void Begin() {
    Check(state_ == State::kNone, "a command that may run begins");
    state_ = State::kRunning;
  }
  // The command that runs will wait.
  void Block() {
    Check(running(), "a command blocks while it runs");
    state_ = State::kBlocked;
  }
  // The wait is over: the command may begin again, or has got its reply.
  void Unblock() {
    Check(blocked(), "a wait ends that has begun");
    state_ = State::kNone;
  }
  // The handler of the command is through.
  void End() {
    Check(running() || blocked(), "a command ends that has begun");
    if (running()) state_ = State::kNone;
  }

 private:
  State state_ = State::kNone;
};

// Where the connection is in the loop's turns.
class TurnPlace {
 public:
  enum class State : uint8_t {
    kResting,  // has nothing to do, or must not do it yet
    kQueued,   // is in the loop's queue, once
    kRunning,  // has its turn
  };

  State state() const { return state_; }
  bool resting() const { return state_ == State::kResting; }

  void Enqueue() {
    Check(resting(), "a connection is queued once, and not in its own turn");
    state_ = State::kQueued;
  }
  void Begin() {
    Check(state_ == State::kQueued, "a connection's turn comes from the queue");
    state_ = State::kRunning;
  }
  void End() {
    Check(state_ == State::kRunning, "a turn ends that has begun");
    state_ = State::kResting;
  }

 private:
  State state_ = State::kResting;
};

// How far the output of earlier turns has been sent.
class OutputProgress {
 public:
  enum class State : uint8_t {
    kClear,    // all of it
    kLeft,     // some is left, and the peer may take more
    kBlocked,  // some is left, and the peer takes no more before the socket becomes writable
  };

  State state() const { return state_; }
  bool clear() const { return state_ == State::kClear; }
  bool blocked() const { return state_ == State::kBlocked; }

  // The socket takes no more.
  void Block() {
    Check(!blocked(), "nothing is sent to a peer that takes no more");
    state_ = State::kBlocked;
  }
  // Called when the socket becomes writable. Returns true if the output was waiting for that.
  bool Unblock() {
    if (!blocked()) return false;
    state_ = State::kLeft;
    return true;
  }
  // Called after a flush that could not send all output.
  void Leave() {
    if (clear()) state_ = State::kLeft;
  }
  // Called after a flush that sent all output, or found none because it was dropped.
  void Clear() { state_ = State::kClear; }

 private:
  State state_ = State::kClear;
};

// How the connection ends.
class ConnectionEnd {
 public:
  enum class State : uint8_t {
    kOpen,
    kFinishing,  // no request is read or run any more; closes when its output has been sent
    kClosed,     // the socket is closed; the connection is dropped when the turn ends
  };

  State state() const { return state_; }
  bool open() const { return state_ == State::kOpen; }
  bool closed() const { return state_ == State::kClosed; }

  // For QUIT, CLIENT KILL, a protocol error and the like. May be called again, in any state.
  void Finish() {
    if (open()) state_ = State::kFinishing;
  }
  void Close() {
    Check(!closed(), "a socket is closed once");
    state_ = State::kClosed;
  }

 private:
  State state_ = State::kOpen;
};

struct ConnectionState {
  SocketInput socket;
  RequestInput requests;
  CommandProgress command;
  TurnPlace place;
  OutputProgress output;
  ConnectionEnd end;
  // What the peer sends does not answer the output: it is read whatever is left of that.
  bool reads_beside_output = false;

  // Nothing is read or run while output is left, or a command waits. This is the backpressure on
  // the peer.
  bool MayBeServed() const {
    return end.open() && (output.clear() || reads_beside_output) && !command.blocked();
  }
  // Whether a read is allowed and would find something. Kept requests are run first.
  bool WantsInput() const { return MayBeServed() && requests.idle() && socket.readable(); }
  // Whether the connection must be put into the queue.
  bool WantsTurn() const {
    return place.resting() && MayBeServed() && (requests.has_backlog() || socket.readable());
  }
};

}  // namespace tally::server
