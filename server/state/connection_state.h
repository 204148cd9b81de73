// What a connection is doing, as five states that change independently of one another, and the only
// transitions that each of them allows. A transition that is not allowed is a programmer's error
// and ends the process: it would mean a request that is run twice, or a reply that is lost.
#pragma once

#include <cstdint>

#include "core/base/check.h"

namespace tally::server {

// What the socket has for the server. The kernel reports an edge once, so they are remembered until
// a read has met the end of what is there.
class SocketInput {
 public:
  enum class State : uint8_t {
    kDrained,   // nothing to read before the next edge
    kReadable,  // not known to be drained
    kEnding,    // the same, and after it comes the end of the stream, for which there is no edge
  };

  State state() const { return state_; }
  bool readable() const { return state_ != State::kDrained; }

  // The socket became readable; `hung_up` if its stream ends after what is there.
  void Edge(bool hung_up) {
    if (hung_up) {
      state_ = State::kEnding;
    } else if (state_ == State::kDrained) {
      state_ = State::kReadable;
    }
  }
  // A read found this many bytes; `drained` if no more was there. Bytes before the end of a stream
  // say nothing about the end, which has to be read as well.
  void Read(uint64_t bytes, bool drained) {
    Check(readable(), "a socket is read after an edge");
    if (drained && !(state_ == State::kEnding && bytes > 0)) state_ = State::kDrained;
  }

 private:
  State state_ = State::kDrained;
};

// The requests that were received and are not done with.
class RequestInput {
 public:
  enum class State : uint8_t {
    kIdle,     // none that is whole
    kTaken,    // bytes were read, and are to be run or held before others are read to their place
    kRunning,  // commands are being run
    kBacklog,  // the rest is kept for a later turn
  };

  State state() const { return state_; }
  bool idle() const { return state_ == State::kIdle; }
  bool taken() const { return state_ == State::kTaken; }
  bool has_backlog() const { return state_ == State::kBacklog; }

  // New bytes, which follow those that were kept.
  void Take() {
    Check(idle() || has_backlog(), "bytes are taken when those before them are run or kept");
    state_ = State::kTaken;
  }
  // What was taken is kept for a later turn.
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

// Where the connection is in the loop's turns.
class TurnPlace {
 public:
  enum class State : uint8_t {
    kResting,  // has nothing to do, or must not do it yet
    kQueued,   // is in the loop's queue, once
    kRunning,  // it is its turn
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
  // The socket became writable: true if that was waited for.
  bool Unblock() {
    if (!blocked()) return false;
    state_ = State::kLeft;
    return true;
  }
  // The end of a flush that could not send all.
  void Leave() {
    if (clear()) state_ = State::kLeft;
  }
  // Of one that did, or that found the output dropped.
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

  // For QUIT, CLIENT KILL, a protocol error and the like, each of which may follow another.
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
  TurnPlace place;
  OutputProgress output;
  ConnectionEnd end;

  // Nothing is read or run while output is left, so that the peer has to wait.
  bool MayBeServed() const { return end.open() && output.clear(); }
  // Whether a read would find something, and is allowed. What is kept is run first.
  bool WantsInput() const { return MayBeServed() && requests.idle() && socket.readable(); }
  // Whether it is to be put in the queue.
  bool WantsTurn() const {
    return place.resting() && MayBeServed() && (requests.has_backlog() || socket.readable());
  }
};

}  // namespace tally::server
