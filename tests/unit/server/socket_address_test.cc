// The addresses of sockets: from figures and paths, as the kernel has them, and as text.
#include "server/net/socket_address.h"

#include <catch2/catch.hpp>
#include <string>

namespace tally::server::socket_address_test {
namespace {

TEST_CASE("socket address: figures are taken, and shown as CLIENT LIST shows them") {
  const auto four = SocketAddress::FromFigures("127.0.0.1", 7379);
  REQUIRE(four.ok());
  CHECK(four->family() == AF_INET);
  CHECK(four->port() == 7379);
  CHECK(four->text() == "127.0.0.1:7379");
  const auto six = SocketAddress::FromFigures("2001:db8::1", 65535);
  REQUIRE(six.ok());
  CHECK(six->family() == AF_INET6);
  CHECK(six->text() == "[2001:db8::1]:65535");
}

TEST_CASE("socket address: what is no address in figures is an error that names it") {
  for (const char* text : {"", "localhost", "127.0.0", "127.0.0.1:1", "256.0.0.1", "::g"}) {
    const auto address = SocketAddress::FromFigures(text, 1);
    CHECK(address.status().code() == absl::StatusCode::kInvalidArgument);
    CHECK(std::string(address.status().message()).starts_with(std::string(text) + ": "));
  }
}

TEST_CASE("socket address: the longest path is kept whole") {
  const std::string path(107, 'x');
  const SocketAddress address = SocketAddress::FromPath(path);
  CHECK(address.family() == AF_UNIX);
  CHECK(std::string(address.data()->sa_data, path.size()) == path);
  CHECK(address.text().empty());
  CHECK(address.port() == 0);
}

TEST_CASE("socket address: an end that has none is shown as nothing") {
  CHECK(SocketAddress::LocalOf(-1).text().empty());
}

}  // namespace
}  // namespace tally::server::socket_address_test
