// The commands on values in a host that has nothing else: they link, they run, and what they log
// gives the same answers in another host.
#include "plain_host.h"

#include <algorithm>
#include <string>

#include "random_seed.h"

namespace tally::server {
namespace {

using Words = PlainHost::Words;

TEST_CASE("hosted: no command on values needs a server") {
  PlainHost host;
  size_t handlers = 0;
  for (const CommandEntry& entry : host.commands().entries()) {
    INFO(entry.full_name);
    CHECK_FALSE(entry.command->handler.needs_server());
    handlers += entry.command->handler == nullptr ? 0 : 1;
  }
  CHECK(handlers > 150);
}

// One writing call of each family, and a read that shows what it did.
struct Step {
  Words write;
  std::string written;
  Words read;
  std::string shown;
};

const Step kSteps[] = {
    {{"SET", "s", "text"}, "+OK\r\n", {"GET", "s"}, "$4\r\ntext\r\n"},
    {{"INCRBY", "n", "7"}, ":7\r\n", {"GET", "n"}, "$1\r\n7\r\n"},
    {{"SETBIT", "b", "7", "1"}, ":0\r\n", {"BITCOUNT", "b"}, ":1\r\n"},
    {{"PFADD", "p", "a", "b"}, ":1\r\n", {"PFCOUNT", "p"}, ":2\r\n"},
    {{"RPUSH", "l", "1", "b"}, ":2\r\n", {"LLEN", "l"}, ":2\r\n"},
    {{"LPOP", "l"}, "$1\r\n1\r\n", {"LINDEX", "l", "0"}, "$1\r\nb\r\n"},
    {{"HSET", "h", "f", "v"}, ":1\r\n", {"HGET", "h", "f"}, "$1\r\nv\r\n"},
    {{"SADD", "set", "1", "2"}, ":2\r\n", {"SCARD", "set"}, ":2\r\n"},
    {{"SUNIONSTORE", "union", "set"}, ":2\r\n", {"SISMEMBER", "union", "2"}, ":1\r\n"},
    {{"ZADD", "z", "1.5", "m"}, ":1\r\n", {"ZSCORE", "z", "m"}, "$3\r\n1.5\r\n"},
    {{"ZUNIONSTORE", "z2", "1", "z"}, ":1\r\n", {"ZCARD", "z2"}, ":1\r\n"},
    {{"SORT", "set", "STORE", "sorted"}, ":2\r\n", {"LLEN", "sorted"}, ":2\r\n"},
    {{"PEXPIREAT", "s", "1700000001000"}, ":1\r\n", {"PTTL", "s"}, ":1000\r\n"},
    {{"COPY", "h", "h2"}, ":1\r\n", {"TYPE", "h2"}, "+hash\r\n"},
    {{"POLICY.SET", "p", "FIXED", "3", "1m"}, "+OK\r\n", {"POLICY.LIST"}, "*1\r\n$1\r\np\r\n"},
    {{"LIMIT.TAKE", "lim", "POLICY", "p"},
     "*6\r\n:1\r\n:3\r\n:2\r\n:0\r\n:60000\r\n:0\r\n",
     {"EXISTS", "lim"},
     ":1\r\n"},
    {{"HITS.ADD", "hits", "1d"}, ":1\r\n", {"EXISTS", "hits"}, ":1\r\n"},
    {{"ACTIVE.TOUCH", "page", "7"}, ":1\r\n", {"ACTIVE.ONLINE", "page"}, ":1\r\n"},
    {{"QUOTA.SETLIMIT", "book", "1", "0", "2", "1d"}, ":1\r\n", {"EXISTS", "book"}, ":1\r\n"},
};

TEST_CASE("hosted: each family runs, reports its changes and logs its effects") {
  PlainHost host;
  for (const Step& step : kSteps) {
    INFO(step.write[0]);
    const size_t changes = host.changes;
    const uint64_t offset = host.effects().offset();
    CHECK(host.Run(step.write) == step.written);
    CHECK(host.Run(step.read) == step.shown);
    CHECK(host.effects().offset() > offset);
    CHECK((host.changes > changes || step.write[0] == "POLICY.SET"));
  }
}

TEST_CASE("hosted: the effects give another host the same answers, at another time") {
  PlainHost host;
  for (const Step& step : kSteps) host.Run(step.write);
  host.Deliver();
  CHECK(host.log.size() == host.effects().offset());
  PlainHost copy;
  copy.now = host.now + 300;
  copy.Replay(host.log);
  copy.now = host.now;
  for (const Step& step : kSteps) {
    INFO(step.read[0]);
    CHECK(copy.Run(step.read) == host.Run(step.read));
  }
}

// An effect that is replayed is judged as it was judged: a limit that is full stays so.
TEST_CASE("hosted: a decision is not made again") {
  PlainHost host;
  const Words take = {"LIMIT.TAKE", "k", "FIXED", "2", "1m"};
  for (int i = 0; i < 5; ++i) host.Run(take);
  host.Deliver();
  PlainHost copy;
  copy.now = host.now + 59'000;
  copy.Replay(host.log);
  copy.now = host.now;
  CHECK(copy.Run(take) == host.Run(take));
}

}  // namespace
}  // namespace tally::server
