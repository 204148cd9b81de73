// FLUSHALL, FLUSHDB, SWAPDB, DBSIZE: commands on whole databases. Also TIME.
#include <climits>
#include <string>

#include "server/admin/families.h"
#include "server/admin/server_context.h"
#include "server/state/blocked_clients.h"
#include "server/state/clock.h"
#include "server/state/key_tracking.h"
#include "server/state/watch_list.h"

namespace tally::server {
namespace {

void DbSize(ServerContext& context) {
  context.reply.Integer(static_cast<int64_t>(context.keyspace().size()));
}

// ASYNC and SYNC are the same here: a cleared keyspace is freed in slices either way.
bool CheckFlushArgs(ServerContext& context) {
  const Args args = context.args;
  if (args.size() == 1) return true;
  if (args.size() == 2 && (IsWord(args[1], "async") || IsWord(args[1], "sync"))) return true;
  context.reply.Error(kSyntaxError);
  return false;
}

void Clear(ServerContext& context, Services& server, size_t database) {
  Engine& engine = context.engine();
  server.watches.TouchAll(database, engine.database(database), nullptr, context.now_ms);
  engine.Clear(database);
}

void FlushDb(ServerContext& context, Services& server) {
  if (!CheckFlushArgs(context)) return;
  Clear(context, server, context.client.database);
  server.tracking.AllChanged();
  context.CountChange();
  context.reply.Ok();
}

void FlushAll(ServerContext& context, Services& server) {
  if (!CheckFlushArgs(context)) return;
  for (size_t i = 0; i < context.engine().databases(); ++i) Clear(context, server, i);
  server.tracking.AllChanged();
  context.CountChange();
  context.reply.Ok();
}

void SwapDb(ServerContext& context, Services& server) {
  // Redis checks that both are numbers before it checks that the databases exist.
  if (!context.Int64ArgIn(1, INT_MIN, INT_MAX, "ERR invalid first DB index")) return;
  if (!context.Int64ArgIn(2, INT_MIN, INT_MAX, "ERR invalid second DB index")) return;
  const auto first = context.DatabaseArg(1);
  if (!first) return;
  const auto second = context.DatabaseArg(2);
  if (!second) return;
  if (*first != *second) {
    Keyspace& one = context.engine().database(*first);
    Keyspace& other = context.engine().database(*second);
    server.watches.TouchAll(*first, one, &other, context.now_ms);
    server.watches.TouchAll(*second, other, &one, context.now_ms);
    context.engine().Swap(*first, *second);
    server.blocked.NoteReplaced(*first, one);
    server.blocked.NoteReplaced(*second, other);
    if (one.size() > 0 || other.size() > 0) server.tracking.AllChanged();
  }
  context.CountChange();
  context.reply.Ok();
}

void Time(ServerContext& context, Services& server) {
  const int64_t us = server.clock.ReadMicros();
  context.reply.Array(2);
  context.reply.BulkInteger(us / 1'000'000);
  context.reply.BulkInteger(us % 1'000'000);
}

constexpr uint32_t kFlush = kWrite | kDangerous | kKeyspaceCategory;

constexpr Command kDatabaseCommands[] = {
    {"dbsize", DbSize, 1, kReadOnly | kFast | kKeyspaceCategory, kNoKeys,
     "Returns the number of keys in the database.", "1.0.0"},
    {"flushall", Serve<FlushAll>, -1, kFlush, kNoKeys, "Removes all keys from all databases.",
     "1.0.0", "[async<ASYNC@4.0.0|SYNC@6.2.0>]"},
    {"flushdb", Serve<FlushDb>, -1, kFlush, kNoKeys, "Removes all keys from the current database.",
     "1.0.0", "[async<ASYNC@4.0.0|SYNC@6.2.0>]"},
    {"swapdb", Serve<SwapDb>, 3, kFlush | kFast, kNoKeys, "Swaps two databases.", "4.0.0",
     "index1:int index2:int"},
    {"time", Serve<Time>, 1, kAnyTime | kFast, kNoKeys, "Returns the server's time.", "2.6.0"},
};

}  // namespace

std::span<const Command> DatabaseCommands() { return kDatabaseCommands; }

}  // namespace tally::server
