#include <catch2/catch.hpp>

#include "server/command_harness.h"

namespace tally::server::acl_commands_test {
namespace {

// SHA-256 of "secret".
constexpr std::string_view kDigest =
    "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";

}  // namespace

TEST_CASE("acl: the one user") {
  CommandHarness h;
  CHECK(h.Run("ACL WHOAMI") == "\"default\"");
  CHECK(h.Run("ACL USERS") == "[\"default\"]");
  CHECK(h.Run("ACL LIST") == "[\"user default on nopass ~* &* +@all\"]");
  CHECK(h.Run("ACL GETUSER nobody") == "nil");
  CHECK(h.Run("ACL GETUSER default") ==
        "[\"flags\" [\"on\" \"nopass\"] \"passwords\" [] \"commands\" \"+@all\" \"keys\" \"~*\" "
        "\"channels\" \"&*\" \"selectors\" []]");
  h.config.requirepass = "secret";
  h.self->reply.set_protocol(3);
  CHECK(h.Run("ACL LIST") == StrCat("[\"user default on #", kDigest, " ~* &* +@all\"]"));
  CHECK(h.Run("ACL GETUSER default") ==
        StrCat("{\"flags\" ~[\"on\"] \"passwords\" [\"", kDigest,
               "\"] \"commands\" \"+@all\" \"keys\" \"~*\" \"channels\" \"&*\" \"selectors\" []}"));
}

TEST_CASE("acl cat: the categories, and the commands of one") {
  CommandHarness h;
  CHECK(h.Run("ACL CAT").rfind("[\"keyspace\" \"read\" \"write\" \"set\" \"sortedset\" ", 0) == 0);
  const std::string dangerous = h.Run("ACL CAT DANGEROUS");
  CHECK(dangerous.find("\"flushall\"") != std::string::npos);
  CHECK(dangerous.find("\"client|kill\"") != std::string::npos);
  CHECK(dangerous.find("\"get\"") == std::string::npos);
  CHECK(h.Run("ACL CAT geo") == "[]");
  CHECK(h.Run("ACL CAT foo") == "-ERR Unknown category 'foo'");
}

TEST_CASE("acl genpass: as many bits as asked for, never the same") {
  CommandHarness h;
  const std::string first = h.Run("ACL GENPASS");
  CHECK(first.size() == 66);
  CHECK(first.find_first_not_of("0123456789abcdef", 1) == first.size() - 1);
  CHECK(h.Run("ACL GENPASS") != first);
  CHECK(h.Run("ACL GENPASS 5").size() == 4);
  CHECK(h.Run("ACL GENPASS 4096").size() == 1026);
  CHECK(h.Run("ACL GENPASS 1 2").starts_with("-ERR unknown subcommand or wrong number"));
  CHECK(h.Run("ACL GENPASS x") == "-ERR value is not an integer or out of range");
  for (const char* bits : {"0", "-1", "4097"}) {
    CHECK(h.Run({"ACL", "GENPASS", bits}) ==
          "-ERR ACL GENPASS argument must be the number of bits for the output password, a "
          "positive number up to 4096");
  }
}

}  // namespace tally::server::acl_commands_test
