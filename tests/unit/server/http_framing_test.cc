// Where an HTTP request ends: bytes that two servers could read differently are refused.
#include <catch2/catch.hpp>
#include <string>

#include "server/http/body_reader.h"
#include "server/http/http_limits.h"
#include "server/http_peer.h"

namespace tally::server::http_framing_test {
namespace {

using Status = HttpBodyReader::Status;

struct Read {
  Status status;
  std::string body;
  std::string rest;
  bool operator==(const Read&) const = default;
};

// Reads the chunks in pieces of at most `most` bytes.
Read ReadChunks(std::string_view bytes, size_t most, size_t most_body = 100) {
  HttpBodyReader reader;
  reader.set_most(most_body);
  reader.BeginChunks();
  Status status = Status::kNeedMore;
  while (status == Status::kNeedMore && !bytes.empty()) {
    std::string_view piece = bytes.substr(0, most);
    bytes.remove_prefix(piece.size());
    status = reader.Read(piece);
    if (status == Status::kWhole) return {status, std::string(reader.body()), StrCat(piece, bytes)};
  }
  return {status, std::string(reader.body()), ""};
}

// The status of a body, which must be the same wherever it is cut.
Status StatusOf(std::string_view bytes, size_t most_body = 100) {
  const Status status = ReadChunks(bytes, SIZE_MAX, most_body).status;
  for (size_t most = 1; most < bytes.size() && most < 40; ++most) {
    CHECK(ReadChunks(bytes, most, most_body).status == status);
  }
  return status;
}

// The statuses of the responses to a request with these lines, and to a GET after it.
std::vector<int> Statuses(std::string_view bytes, size_t most = SIZE_MAX) {
  CommandHarness harness;
  HttpPeer peer(harness);
  peer.Send(StrCat(bytes, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"), most);
  std::vector<int> statuses;
  for (auto response = peer.Take(); response.status != 0; response = peer.Take()) {
    statuses.push_back(response.status);
  }
  return statuses;
}

const std::vector<int> kRefused = {400};

}  // namespace

TEST_CASE("chunks: a body is put together, and what comes after it is left", "[http]") {
  const std::string_view bytes =
      "3\r\nabc\r\n00A;x=y;z=\"1 2\"\r\n0123456789\r\n1\t ;q\r\n\n\r\n0;last\r\nT: "
      "1\r\nU:\r\n\r\nGET";
  const Read expected{Status::kWhole, "abc0123456789\n", "GET"};
  for (size_t most = 1; most <= bytes.size(); ++most) {
    CHECK(ReadChunks(bytes, most) == expected);
  }
  CHECK(ReadChunks("0\r\n\r\n", 1) == Read{Status::kWhole, "", ""});
  CHECK(ReadChunks("fF\r\n", 1, 255).status == Status::kNeedMore);
}

TEST_CASE("chunks: line ends, sizes and trailers are as RFC 9112 writes them", "[http]") {
  for (const std::string_view wrong : {
           "\r\n",
           " 3\r\nabc",
           "-1\r\n",
           "+1\r\n",
           "0x3\r\n",
           "g\r\n",
           ";x\r\n",
           "3\nabc\r\n0\r\n\r\n",        // LF alone after the size
           "3;x\nabc\r\n0\r\n\r\n",      // and in an extension
           "3;x\n\r\nabc\r\n0\r\n\r\n",  // and before its end
           "3\rXabc\r\n0\r\n\r\n",       // CR before another byte
           "3;x\rXabc\r\n0\r\n\r\n",     //
           "3\r\nabcXY0\r\n\r\n",        // other bytes than CR LF after the data
           "3\r\nabc\n0\r\n\r\n",        //
           "3\r\nabc\rX0\r\n\r\n",       //
           "3\r\nabc0\r\n\r\n",          //
           "3 \r\nabc\r\n0\r\n\r\n",     // a blank that is before no extension
           "3 3\r\nabc\r\n0\r\n\r\n",    //
           "0\r\n\rX",
           "0\r\n\n",
           "0\n\n",  // the end of the body
           "0\r\nT: 1\n\r\n",
           "0\r\nT: 1\rX\r\n\r\n",
           "0\r\nT\r\n\r\n",
           "0\r\nT : 1\r\n\r\n",
           "0\r\n: 1\r\n\r\n",
           "0\r\n T: 1\r\n\r\n",
           "0\r\nGET / HTTP/1.1\r\n\r\n",
           "00000000000000003\r\nabc\r\n",  // more digits than 64 bits have
       }) {
    INFO(wrong);
    CHECK(StatusOf(wrong) == Status::kMalformed);
  }
  CHECK(StatusOf(std::string_view("3;\0\r\n", 5)) == Status::kMalformed);
}

TEST_CASE("chunks: the body, and what is ignored beside it, are bounded", "[http]") {
  CHECK(StatusOf("3\r\nabc\r\n3\r\n", 6) == Status::kNeedMore);
  CHECK(StatusOf("3\r\nabc\r\n4\r\n", 6) == Status::kTooLarge);
  CHECK(StatusOf("ffffffffffffffff\r\n", 6) == Status::kTooLarge);
  CHECK(StatusOf("7\r\n", 6) == Status::kTooLarge);
  const std::string half(kMaxHttpHead / 2, 'x');
  const std::string chunk = StrCat("1;", half, "\r\na\r\n");
  CHECK(StatusOf(chunk + chunk) == Status::kNeedMore);
  CHECK(StatusOf(chunk + chunk + "1;x") == Status::kMalformed);
  CHECK(StatusOf(StrCat(chunk, "0\r\nT:", half)) == Status::kMalformed);
}

TEST_CASE("chunks: after Clear another body may begin", "[http]") {
  HttpBodyReader reader;
  reader.set_most(10);
  reader.BeginChunks();
  std::string_view bytes = "5;x\r\nab";
  CHECK(reader.Read(bytes) == Status::kNeedMore);
  reader.Clear();
  reader.BeginLength(3);
  bytes = "abcd";
  CHECK(reader.Read(bytes) == Status::kWhole);
  CHECK(reader.body() == "abc");
  CHECK(bytes == "d");
  reader.Clear();
  CHECK(reader.body().empty());
  reader.BeginLength(11);
  CHECK(reader.too_large());
}

TEST_CASE("http: chunks that http-parser would accept are refused", "[http]") {
  const auto chunked = [](std::string_view body, std::string_view version = "1.1") {
    return StrCat("POST /api HTTP/", version, "\r\nHost: localhost\r\n",
                  "Transfer-Encoding: chunked\r\n\r\n", body);
  };
  for (const size_t most : {size_t{1}, size_t{50}, SIZE_MAX}) {
    CHECK(Statuses(chunked("8;x=y\r\n[\"PING\"]\r\n0\r\n\r\n"), most) ==
          std::vector<int>{200, 200});
    for (const std::string_view body :
         {"8;x\n[\"PING\"]\r\n0\r\n\r\n", "8\n[\"PING\"]\r\n0\r\n\r\n",
          "8\rX[\"PING\"]\r\n0\r\n\r\n", "8\r\n[\"PING\"]XX0\r\n\r\n",
          "8\r\n[\"PING\"]\r\n0\r\n\rX"}) {
      INFO(body);
      CHECK(Statuses(chunked(body), most) == kRefused);
    }
    CHECK(Statuses(chunked("8\r\n[\"PING\"]\r\n0\r\n\r\n", "1.0"), most) == kRefused);
  }
}

TEST_CASE("http: the lines of a head end as RFC 9112 says", "[http]") {
  const auto with = [](std::string_view lines) {
    return StrCat("GET /healthz HTTP/1.1\r\nHost: localhost\r\n", lines);
  };
  for (const size_t most : {size_t{1}, size_t{30}, SIZE_MAX}) {
    for (const std::string_view lines : {
             "X: a\rb\r\n\r\n",     // CR before another byte, in a value
             "X:\rb\r\n\r\n",       // before it
             "X: \rYb\r\n\r\n",     //
             "X: a\r\r\n\r\n",      //
             "X: a\r\n\rZ",         // at the end of the head
             "X: a\r\n b\r\n\r\n",  // a value that goes on in the next line
             "X:\r\n\tb\r\n\r\n",   //
             " X: a\r\n\r\n",       // a blank before the name
             "X : a\r\n\r\n",
             "X\t: a\r\n\r\n",
             "X Y: a\r\n\r\n",
             ": a\r\n\r\n",
             "X\r\n\r\n",
             "X: a\x01\r\n\r\n",
             "X: a\x7f\r\n\r\n",
         }) {
      INFO(lines);
      CHECK(Statuses(with(lines), most) == kRefused);
    }
    CHECK(Statuses(with(std::string_view("X: \0\r\n\r\n", 8)), most) == kRefused);
    CHECK(Statuses("GET /healthz\t HTTP/1.1\r\nHost: localhost\r\n\r\n", most) == kRefused);
    CHECK(Statuses("GET /healthz\f HTTP/1.1\r\nHost: localhost\r\n\r\n", most) == kRefused);
    CHECK(Statuses("GET /healthz HTTP/1.1\r\n Host: localhost\r\n\r\n", most) == kRefused);
    // LF alone may end a line of a head.
    CHECK(Statuses("GET /healthz HTTP/1.1\nHost: localhost\n\n", most) ==
          std::vector<int>{200, 200});
  }
}

}  // namespace tally::server::http_framing_test
