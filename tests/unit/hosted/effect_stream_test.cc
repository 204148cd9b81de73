// The stream of effects: offsets, sinks that come and go, blocks.
#include "server/effects/effect_stream.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "random_seed.h"

namespace tally::server {
namespace {

class Sink : public EffectSink {
 public:
  virtual ~Sink() = default;
  void Receive(uint64_t offset, std::string_view effects) override {
    if (text.empty()) begin = offset;
    CHECK(offset == begin + text.size());
    CHECK_FALSE(effects.empty());
    text += effects;
  }

  std::string text;
  uint64_t begin = 0;
};

// Takes the memory where it may, and leaves bytes of its own in it.
class TakingSink : public Sink {
 public:
  void ReceiveAndTake(uint64_t offset, std::string& effects) override {
    Receive(offset, effects);
    std::string mine = "left over";
    mine.swap(effects);
    ++taken;
  }

  int taken = 0;
};

std::string Resp(const std::vector<std::string_view>& words) {
  std::string out;
  AppendRespCommand(out, words);
  return out;
}

const std::string kSelect0 = Resp({"SELECT", "0"});
const std::string kSelect1 = Resp({"SELECT", "1"});

TEST_CASE("effects: without a sink nothing is kept") {
  EffectStream stream;
  CHECK_FALSE(stream.enabled());
  stream.Append(0, {"SET", "a", "1"});
  CHECK(stream.offset() == 0);
  Sink sink;
  stream.Attach(sink);
  CHECK(stream.enabled());
  stream.Deliver();
  CHECK(sink.text.empty());
}

TEST_CASE("effects: a database is chosen where it changes, and where a reader begins") {
  EffectStream stream;
  Sink first;
  Sink second;
  stream.Attach(first);
  stream.Append(0, {"DEL", "a"});
  stream.Append(0, {"DEL", "b"});
  stream.Append(1, {"DEL", "c"});
  stream.Attach(second);  // gets what follows
  stream.Append(1, {"DEL", "d"});
  stream.Deliver();
  const std::string head =
      kSelect0 + Resp({"DEL", "a"}) + Resp({"DEL", "b"}) + kSelect1 + Resp({"DEL", "c"});
  const std::string tail = kSelect1 + Resp({"DEL", "d"});
  CHECK(first.text == head + tail);
  CHECK(second.text == tail);
  CHECK(second.begin == head.size());
  CHECK(stream.offset() == head.size() + tail.size());
  stream.Detach(first);
  stream.Append(1, {"DEL", "e"});
  stream.Deliver();
  CHECK(first.text == head + tail);
  CHECK(second.text == tail + Resp({"DEL", "e"}));
}

TEST_CASE("effects: a block is delivered whole") {
  EffectStream stream;
  Sink sink;
  stream.Attach(sink);
  stream.Append(0, {"DEL", "before"});
  const std::string before = kSelect0 + Resp({"DEL", "before"});
  const std::string inside = Resp({"DEL", "x"}) + Resp({"DEL", "y"});
  {
    EffectStream::Block block(stream);
    stream.Append(0, {"DEL", "x"});
    EffectStream::Block inner(stream);
    stream.Append(0, {"DEL", "y"});
    stream.Deliver();
    CHECK(sink.text == before);
    CHECK(stream.unfinished_bytes() == inside.size());
  }
  CHECK(stream.unfinished_bytes() == 0);
  stream.Deliver();
  CHECK(sink.text == before + inside);
}

TEST_CASE("effects: an abandoned block leaves nothing") {
  EffectStream stream;
  Sink sink;
  stream.Attach(sink);
  stream.Append(0, {"DEL", "before"});
  {
    EffectStream::Block block(stream);
    stream.Append(1, {"DEL", "x"});
    stream.AbandonBlock();
    stream.Append(1, {"DEL", "y"});
  }
  stream.Append(0, {"DEL", "after"});
  stream.DeliverAll();
  CHECK(sink.text == kSelect0 + Resp({"DEL", "before"}) + kSelect0 + Resp({"DEL", "after"}));
}

TEST_CASE("effects: the last sink may take the bytes, but not those of a block") {
  EffectStream stream;
  Sink first;
  TakingSink last;
  stream.Attach(first);
  stream.Attach(last);
  stream.Append(0, {"SET", "a", "1"});
  stream.Deliver();
  CHECK(last.taken == 1);
  {
    EffectStream::Block block(stream);
    stream.Append(0, {"SET", "b", "2"});
    stream.Deliver();
  }
  CHECK(last.taken == 1);
  stream.Append(0, {"SET", "c", "3"});
  stream.Deliver();
  CHECK(last.taken == 2);
  CHECK(last.text ==
        kSelect0 + Resp({"SET", "a", "1"}) + Resp({"SET", "b", "2"}) + Resp({"SET", "c", "3"}));
  CHECK(first.text == last.text);
}

// Sinks that come and go at any time receive the stream's bytes from where they came to where they
// went, whatever is asked for in between.
TEST_CASE("effects: every sink receives what the stream has, by dice") {
  test::SeededRandom random;
  EffectStream stream;
  Sink all;
  stream.Attach(all);
  std::vector<std::pair<Sink*, std::pair<uint64_t, uint64_t>>> gone;
  std::vector<std::unique_ptr<Sink>> sinks;
  std::vector<std::pair<Sink*, uint64_t>> attached;
  std::unique_ptr<EffectStream::Block> block;
  for (int i = 0; i < 20'000; ++i) {
    const std::string value(random.OneIn(1000) ? random.Below(1 << 20) : random.Below(40), 'v');
    stream.Append(random.Below(3), {"SET", "k", value});
    if (random.OneIn(3)) stream.Deliver();
    if (random.OneIn(50)) stream.DeliverAll();
    if (random.OneIn(10)) {
      if (block != nullptr) {
        block.reset();
      } else {
        block = std::make_unique<EffectStream::Block>(stream);
      }
    }
    if (random.OneIn(100)) {
      sinks.push_back(random.OneIn(2) ? std::make_unique<Sink>()
                                      : std::unique_ptr<Sink>(std::make_unique<TakingSink>()));
      stream.Attach(*sinks.back());
      attached.emplace_back(sinks.back().get(), stream.offset());
    }
    if (!attached.empty() && random.OneIn(100)) {
      const auto [sink, begin] = attached.front();
      attached.erase(attached.begin());
      stream.Detach(*sink);
      gone.push_back({sink, {begin, stream.offset()}});
    }
  }
  block.reset();
  stream.DeliverAll();
  CHECK(all.text.size() == stream.offset());
  REQUIRE(gone.size() > 50);
  for (const auto& [sink, range] : gone) {
    REQUIRE(sink->text.size() == range.second - range.first);
    REQUIRE(sink->text == all.text.substr(range.first, range.second - range.first));
  }
}

// Notes in which database each delivery begins.
class PlaceSink : public EffectSink {
 public:
  explicit PlaceSink(const EffectStream& stream) : stream_(stream) {}
  virtual ~PlaceSink() = default;
  void Receive(uint64_t offset, std::string_view) override {
    places.emplace_back(offset, stream_.database_before());
  }

  std::vector<std::pair<uint64_t, size_t>> places;

 private:
  const EffectStream& stream_;
};

TEST_CASE("effects: a delivery begins in the database that was in force before it") {
  EffectStream stream;
  PlaceSink sink(stream);
  stream.Attach(sink);
  stream.Append(3, {"DEL", "a"});
  stream.Deliver();
  const uint64_t second = stream.offset();
  stream.Append(3, {"DEL", "b"});
  stream.Append(5, {"DEL", "c"});
  stream.Deliver();
  const uint64_t third = stream.offset();
  stream.Append(5, {"DEL", "d"});
  {
    const EffectStream::Block block(stream);
    stream.Append(7, {"DEL", "e"});
    stream.Deliver();  // without the block
  }
  const uint64_t fourth = third + Resp({"DEL", "d"}).size();
  stream.Deliver();
  const uint64_t fifth = stream.offset();
  stream.Append(7, {"DEL", "f"});
  stream.Deliver();
  using Place = std::pair<uint64_t, size_t>;
  REQUIRE(sink.places.size() == 5);
  CHECK(sink.places[1] == Place{second, 3});
  CHECK(sink.places[2] == Place{third, 5});
  CHECK(sink.places[3] == Place{fourth, 5});
  CHECK(sink.places[4] == Place{fifth, 7});
}

TEST_CASE("effects: what another server has sent keeps its bytes, offsets and database") {
  EffectStream stream;
  Sink sink;
  PlaceSink places(stream);
  stream.Attach(places);
  stream.Attach(sink);
  stream.set_offset(1000);
  const std::string received = Resp({"DEL", "a"}) + kSelect1 + Resp({"DEL", "b"});
  stream.AppendReceived(received, 0, 1);
  CHECK(stream.offset() == 1000 + received.size());
  stream.Deliver();
  stream.AppendReceived(Resp({"DEL", "c"}), 1, 1);
  stream.Deliver();
  // Now it writes by itself, in the database that the stream is in.
  stream.Append(1, {"DEL", "d"});
  stream.Deliver();
  CHECK(sink.text == received + Resp({"DEL", "c"}) + Resp({"DEL", "d"}));
  CHECK(sink.begin == 1000);
  REQUIRE(places.places.size() == 3);
  CHECK(places.places[0].second == 0);
  CHECK(places.places[1].second == 1);
  CHECK(places.places[2].second == 1);
}

}  // namespace
}  // namespace tally::server
