// The data of a full sync, cut at every byte, and announcements that lie.
#include "server/replication/payload_receiver.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/str_cat.h"

namespace tally::server::payload_receiver_test {
namespace {

const std::string kMark = "0123456789abcdef0123456789abcdef01234567";

struct Received {
  absl::Status status;
  std::string payload;
  std::string rest;  // what follows it
  bool done = false;
};

// Gives the receiver the pieces, one after the other.
Received Take(const std::vector<std::string_view>& pieces) {
  PayloadReceiver receiver;
  Received received;
  for (std::string_view piece : pieces) {
    if (receiver.done()) {
      received.rest += piece;
      continue;
    }
    const auto taken = receiver.Take(piece, [&](std::string_view payload) {
      received.payload += payload;
      return absl::OkStatus();
    });
    if (!taken.ok()) {
      received.status = taken.status();
      return received;
    }
    received.rest += piece.substr(*taken);
    REQUIRE((receiver.done() || *taken == piece.size()));
  }
  received.done = receiver.done();
  CHECK(receiver.received() == received.payload.size());
  return received;
}

TEST_CASE("payload: both forms, cut at every byte", "[replica]") {
  // It has what looks like the begin of the mark.
  const std::string payload = StrCat("REDIS0010", kMark.substr(0, 39), "x", kMark.substr(0, 20));
  const std::string stream = "*1\r\n$4\r\nPING\r\n";
  for (const std::string& head :
       {StrCat("\n\n$", payload.size(), "\r\n"), StrCat("\n$EOF:", kMark, "\r\n")}) {
    const bool marked = head.find("EOF") != std::string::npos;
    const std::string all = StrCat(head, payload, marked ? kMark : "", stream);
    for (size_t one = 0; one <= all.size(); ++one) {
      for (size_t other = one; other <= all.size(); other += 7) {
        const std::string_view text = all;
        const Received received =
            Take({text.substr(0, one), text.substr(one, other - one), text.substr(other)});
        if (!received.status.ok() || !received.done || received.payload != payload ||
            received.rest != stream) {
          FAIL("cut at " << one << " and " << other);
        }
      }
    }
    std::vector<std::string_view> bytes;
    for (size_t i = 0; i < all.size(); ++i) bytes.push_back(std::string_view(all).substr(i, 1));
    CHECK(Take(bytes).payload == payload);
  }
}

TEST_CASE("payload: nothing in it is done at once", "[replica]") {
  CHECK(Take({"$0\r\nrest"}).rest == "rest");
  CHECK(Take({StrCat("$EOF:", kMark, "\r\n", kMark, "rest")}).rest == "rest");
}

TEST_CASE("payload: announcements that lie", "[replica]") {
  for (const std::string& head :
       {std::string("$\r\n"), std::string("$-1\r\n"), std::string("$12x\r\n"),
        std::string("$99999999999999999999\r\n"), std::string("$EOF:short\r\n"),
        StrCat("$EOF:", kMark, "x\r\n"), std::string("+OK\r\n"), std::string("REDIS0010"),
        std::string(1000, '$')}) {
    INFO(head);
    const Received received = Take({head, "\r\n"});
    CHECK_FALSE(received.status.ok());
    CHECK(received.payload.empty());
  }
  CHECK(absl::IsUnavailable(Take({"-ERR no disk\r\n"}).status));
  PayloadReceiver receiver;
  const auto taken = receiver.Take("$5\r\nabc", [](std::string_view) {
    return absl::ResourceExhaustedError("the disk is full");
  });
  CHECK(absl::IsResourceExhausted(taken.status()));
}

}  // namespace
}  // namespace tally::server::payload_receiver_test
