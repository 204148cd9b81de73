// The effects of commands as one stream of RESP commands that give the same state at any later
// time. Its sinks (the append-only file is one) receive each byte once, in order, and only whole
// transactions and scripts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tally::server {

// Appends a command as a RESP array of bulk strings.
void AppendRespCommand(std::string& out, std::span<const std::string_view> args);

class EffectSink {
 public:
  // `effects` are whole commands; `offset` is where they begin in the stream.
  virtual void Receive(uint64_t offset, std::string_view effects) = 0;
  // The same with bytes that nobody needs afterwards: the sink may take the string and leave
  // another in its place, so that a large value is not copied.
  virtual void ReceiveAndTake(uint64_t offset, std::string& effects) { Receive(offset, effects); }

 protected:
  ~EffectSink() = default;
};

// Gets each effect as soon as it is appended, as words: for a host that passes them on itself.
class EffectWordSink {
 public:
  virtual void ReceiveWords(std::span<const std::string_view> words) = 0;

 protected:
  ~EffectWordSink() = default;
};

class EffectStream {
 public:
  using Words = std::span<const std::string_view>;

  EffectStream() = default;
  // A stream that keeps nothing. Requires that the sink outlives it.
  explicit EffectStream(EffectWordSink& sink) : word_sink_(&sink) {}

  // The sink receives what is appended from now on, beginning with the choice of a database.
  // Requires that the sink outlives the stream, or is detached.
  void Attach(EffectSink& sink);
  // The sink first receives what was appended before. Nothing happens if it is not attached.
  void Detach(EffectSink& sink);
  // Without a sink nothing is kept, and the offset stays.
  bool enabled() const { return !sinks_.empty() || word_sink_ != nullptr; }
  // Bytes that were appended so far.
  uint64_t offset() const { return delivered_ + pending_.size(); }
  // The next effect is preceded by a SELECT, as a reader needs it who begins there.
  void ForgetDatabase() { database_ = kNone; }

  void Append(size_t database, Words args);
  void Append(size_t database, std::initializer_list<std::string_view> args) {
    Append(database, Words(args.begin(), args.size()));
  }
  // Gives the sinks what was appended since the last call, but nothing of a block that has not
  // ended. Once a turn. O(bytes).
  void Deliver() { DeliverUntil(pending_.size() - block_bytes_); }
  // Also what there is of a block that has not ended.
  void DeliverAll();

  // While one lives the effects belong together: a transaction's, or a script's. Those of a block
  // inside another belong to that.
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
  // Takes the effects of the block back, and drops those that still come in it: for a server that
  // ends in the middle of one.
  void AbandonBlock();
  // This many bytes at the stream's end are of a block that has not ended.
  size_t unfinished_bytes() const { return block_bytes_; }

 private:
  void EndBlock();
  void DeliverUntil(size_t end);

  static constexpr size_t kNone = SIZE_MAX;
  std::vector<EffectSink*> sinks_;
  EffectWordSink* word_sink_ = nullptr;
  std::string pending_;     // appended, and not delivered
  uint64_t delivered_ = 0;  // bytes before pending_
  size_t database_ = kNone;
  size_t block_bytes_ = 0;
  bool in_block_ = false;
  bool abandoned_ = false;
};

}  // namespace tally::server
