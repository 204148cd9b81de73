// The effects of commands as one stream of RESP commands, which give the same state whenever they
// are replayed. Its sinks (the append-only file is one) receive each byte once, in order. Deliver()
// gives them only whole transactions and scripts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/words/word.h"
#include "server/resp/resp_command.h"

namespace tally::server {

class EffectSink {
 public:
  // `effects` are whole commands; `offset` is where they begin in the stream.
  virtual void Receive(uint64_t offset, std::string_view effects) = 0;
  // The same for bytes that the stream does not need afterwards: the sink may swap the string for
  // another one, so that a large value is not copied.
  virtual void ReceiveAndTake(uint64_t offset, std::string& effects) { Receive(offset, effects); }

 protected:
  ~EffectSink() = default;
};

// Receives each effect as words, as soon as it is appended: for a host that passes the effects on
// itself.
class EffectWordSink {
 public:
  virtual void ReceiveWords(std::span<const std::string_view> words) = 0;

 protected:
  ~EffectWordSink() = default;
};

class EffectStream {
 public:
  EffectStream() = default;
  // A stream that keeps nothing: it passes all effects to `sink`, which must outlive the stream.
  explicit EffectStream(EffectWordSink& sink) : word_sink_(&sink) {}

  // The sink receives what is appended from now on, beginning with a SELECT. Before that,
  // DeliverAll is called for the other sinks. The sink must outlive the stream or be detached.
  void Attach(EffectSink& sink);
  // Calls DeliverAll, then removes the sink if it is attached.
  void Detach(EffectSink& sink);
  // False if there is no sink. Then nothing is kept, and the offset does not change.
  bool enabled() const { return !sinks_.empty() || word_sink_ != nullptr; }
  // The number of bytes appended so far.
  uint64_t offset() const { return delivered_ + pending_.size(); }
  // Goes on as if so many bytes had been appended before: a stream of an earlier process or of
  // another server is continued. What was appended is delivered first.
  void set_offset(uint64_t offset);
  // While a sink receives: the database in force where the effects begin. They may begin with a
  // SELECT all the same.
  size_t database_before() const { return before_; }
  // While a sink receives: whether that is not where the effects before ended, and no SELECT says
  // so. What another server has sent may go on so after a start, or after other data came.
  bool database_jumps() const { return jumps_; }
  // Puts a SELECT before the next effect, for a reader that begins there.
  void ForgetDatabase() { database_ = kNone; }

  void Append(size_t database, Words args);
  void Append(size_t database, std::initializer_list<std::string_view> args) {
    Append(database, Words(args.begin(), args.size()));
  }
  // Appends effects of another server's stream as they are, so that the offsets of both streams
  // stay the same. The database `before` is in force where they begin, `after` where they end; a
  // SELECT is among them if these differ.
  void AppendReceived(std::string_view effects, size_t before, size_t after);
  // Gives the sinks what was appended since the last call, except the effects of a block that has
  // not ended. Called once per turn. O(bytes).
  void Deliver() { DeliverUntil(pending_.size() - block_bytes_); }
  // The same, but includes the effects so far of a block that has not ended; AbandonBlock cannot
  // remove them any more.
  void DeliverAll();

  // The effects that are appended while a Block lives belong together: those of a transaction or of
  // a script. If a block is inside another one, its effects belong to the outer block.
  class Block {
   public:
    explicit Block(EffectStream& stream) : stream_(stream), is_outermost_(!stream.in_block_) {
      stream.in_block_ = true;
    }
    ~Block() {
      if (is_outermost_) stream_.EndBlock();
    }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

   private:
    EffectStream& stream_;
    const bool is_outermost_;
  };
  // Removes the effects of the unfinished block, and drops those that are still appended in it: for
  // a server that ends in the middle of a block.
  void AbandonBlock();
  // Whether a block has begun and not ended.
  bool in_block() const { return in_block_; }
  // This many bytes at the stream's end belong to a block that has not ended.
  size_t unfinished_bytes() const { return block_bytes_; }
  // Whether the unfinished block has so many bytes that no more writes may be added to it. A block
  // is in one batch of the log, and the log has ten digits for the length of a batch.
  bool block_is_full() const { return block_bytes_ > most_block_bytes_; }
  // For tests, which cannot fill a block of that size.
  void set_most_block_bytes(size_t bytes) { most_block_bytes_ = bytes; }

 private:
  void EndBlock();
  void DeliverUntil(size_t end);
  // The first `end` bytes of pending_ are gone.
  void ForgetSelects(size_t end);

  static constexpr size_t kNone = SIZE_MAX;
  // From `position` of pending_ on, `database` is in force.
  struct Select {
    size_t position;
    size_t database;
  };
  std::vector<EffectSink*> sinks_;
  EffectWordSink* word_sink_ = nullptr;
  std::string pending_;          // appended, and not delivered
  uint64_t delivered_ = 0;       // bytes before pending_
  std::vector<Select> selects_;  // in pending_
  size_t before_ = 0;            // the database in force where pending_ begins
  bool jumps_ = false;
  size_t database_ = kNone;
  size_t block_bytes_ = 0;
  size_t most_block_bytes_ = size_t{4} << 30;
  bool in_block_ = false;
  bool abandoned_ = false;
};

}  // namespace tally::server
