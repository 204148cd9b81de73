#include "server/replication/stream_frame.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "random_seed.h"

namespace tally::server::stream_frame_test {
namespace {

using Status = FrameReader::Status;

std::string Framed(FrameWriter& writer, uint64_t offset, size_t database,
                   std::string_view effects) {
  return writer.Header(offset, database, effects) + std::string(effects);
}

TEST_CASE("a frame has the form that its header describes", "[stream_frame]") {
  FrameWriter writer;
  const std::string first = Framed(writer, 7, 3, "abc");
  CHECK(first.size() == kFrameHeaderBytes + 3);
  CHECK(first.starts_with("#00000000000000000007 0000000003 00003 "));
  CHECK(first.ends_with("\r\nabc"));
  const std::string alive = Framed(writer, 10, 3, "");
  CHECK(alive.size() == kFrameHeaderBytes);

  FrameReader reader(7);
  StreamFrame frame;
  size_t consumed = 0;
  const std::string both = first + alive;
  REQUIRE(reader.Next(both, frame, consumed) == Status::kFrame);
  CHECK(frame.offset == 7);
  CHECK(frame.database == 3);
  CHECK(frame.effects == "abc");
  CHECK(consumed == first.size());
  REQUIRE(reader.Next(alive, frame, consumed) == Status::kFrame);
  CHECK(frame.effects.empty());
  CHECK(reader.offset() == 10);
}

TEST_CASE("the effects of a frame may be in several pieces", "[stream_frame]") {
  FrameWriter whole;
  FrameWriter divided;
  const std::string_view pieces[] = {"ab", "", "cdef"};
  CHECK(whole.Header(5, 0, "abcdef") == divided.Header(5, 0, pieces));
}

TEST_CASE("messages count in no offset", "[stream_frame]") {
  FrameWriter writer;
  std::string sent = Framed(writer, 5, 0, "ab");
  sent += Framed(writer, 7, kMessages, "message");
  sent += Framed(writer, 7, 1, "c");
  FrameReader reader(5);
  StreamFrame frame;
  std::string_view rest = sent;
  size_t consumed = 0;
  REQUIRE(reader.Next(rest, frame, consumed) == Status::kFrame);
  rest.remove_prefix(consumed);
  REQUIRE(reader.Next(rest, frame, consumed) == Status::kFrame);
  CHECK(frame.database == kMessages);
  CHECK(frame.effects == "message");
  CHECK(reader.offset() == 7);
  rest.remove_prefix(consumed);
  REQUIRE(reader.Next(rest, frame, consumed) == Status::kFrame);
  CHECK(frame.effects == "c");
  CHECK(reader.offset() == 8);
}

TEST_CASE("frames are read wherever the bytes that came end", "[stream_frame]") {
  test::SeededRandom random;
  FrameWriter writer;
  std::string sent;
  std::vector<std::string> all;
  uint64_t offset = 1'000'000'000'000;
  FrameReader reader(offset);
  for (int i = 0; i < 100; ++i) {
    all.emplace_back(random.Below(300), static_cast<char>('a' + i % 26));
    sent += Framed(writer, offset, static_cast<size_t>(i), all.back());
    offset += all.back().size();
  }
  std::string buffer;
  size_t read = 0;
  for (size_t at = 0; at < sent.size();) {
    const size_t some = std::min<size_t>(1 + random.Below(200), sent.size() - at);
    buffer.append(sent, at, some);
    at += some;
    StreamFrame frame;
    size_t consumed = 0;
    while (reader.Next(buffer, frame, consumed) == Status::kFrame) {
      REQUIRE(read < all.size());
      CHECK(frame.effects == all[read]);
      CHECK(frame.database == read);
      ++read;
      buffer.erase(0, consumed);
    }
    CHECK(reader.error().empty());
    if (!buffer.empty()) CHECK(reader.wanted() > buffer.size());
  }
  CHECK(read == all.size());
  CHECK(reader.offset() == offset);
}

TEST_CASE("a changed byte anywhere in a frame is found", "[stream_frame]") {
  FrameWriter writer;
  const std::string good =
      Framed(writer, 12, 4, "*1\r\n$4\r\nPING\r\n") + Framed(writer, 26, 4, "x");
  for (size_t at = 0; at < good.size(); ++at) {
    for (const int change : {1, 0x10, 0x20, 0x80}) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ change);
      FrameReader reader(12);
      StreamFrame frame;
      size_t consumed = 0;
      std::string_view rest = bad;
      Status status = Status::kFrame;
      while (!rest.empty() && status == Status::kFrame) {
        status = reader.Next(rest, frame, consumed);
        if (status == Status::kFrame) rest.remove_prefix(consumed);
      }
      // A longer length only asks for more bytes, which will not fit.
      INFO("byte " << at << " changed by " << change);
      CHECK(status != Status::kFrame);
    }
  }
}

TEST_CASE("a frame that is lost, repeated or of another link does not fit", "[stream_frame]") {
  FrameWriter writer;
  const std::string one = Framed(writer, 0, 0, "abc");
  const std::string two = Framed(writer, 3, 0, "");
  const std::string three = Framed(writer, 3, 0, "def");
  StreamFrame frame;
  size_t consumed = 0;
  {
    FrameReader reader(0);
    REQUIRE(reader.Next(one, frame, consumed) == Status::kFrame);
    CHECK(reader.Next(one, frame, consumed) == Status::kError);
    CHECK(reader.error() == "a frame begins at offset 0 in place of 3");
  }
  {
    FrameReader reader(0);
    REQUIRE(reader.Next(one, frame, consumed) == Status::kFrame);
    // The frame without effects is missing.
    CHECK(reader.Next(three, frame, consumed) == Status::kError);
    CHECK(reader.error() == "the checksum of a frame is wrong");
  }
  {
    FrameReader reader(3);
    CHECK(reader.Next(two, frame, consumed) == Status::kError);
  }
  FrameReader reader(0);
  CHECK(reader.Next("+PONG\r\n", frame, consumed) == Status::kError);
  CHECK(reader.Next("#99999999999999999999 0000000003 00000 00000000\r\nabc", frame, consumed) ==
        Status::kError);
}

}  // namespace
}  // namespace tally::server::stream_frame_test
