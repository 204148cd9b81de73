// DEBUG: commands for tests, allowed only by enable-debug-command. DEBUG CLOCK changes the server's
// time, so that a test of a window of a month takes milliseconds.
#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "core/bytes/double_format.h"
#include "core/bytes/str_cat.h"
#include "core/time/duration.h"
#include "server/admin/families.h"
#include "server/admin/server_context.h"
#include "server/command/help.h"
#include "server/commands/entry_description.h"
#include "server/config/config.h"
#include "server/interfaces/persistence.h"
#include "server/state/clock.h"
#include "server/state/key_tracking.h"

namespace tally::server {
namespace {

bool IsLocal(std::string_view address) {
  return address.starts_with("127.") || address.starts_with("[::1]") || address.ends_with(":0");
}

bool MayDebug(const ServerContext& context, Services& server) {
  switch (server.config.enable_debug_command) {
    case LocalAccess::kYes:
      return true;
    case LocalAccess::kLocal:
      return IsLocal(context.client.address);
    case LocalAccess::kNo:
      return false;
  }
  return false;
}

// Blocks the whole server, as a slow command would.
void Sleep(ServerContext& context, Services&) {
  constexpr double kMaxSeconds = 3600;
  const double seconds = ParseDouble(context.args[2]).value_or(0);
  if (seconds > 0) {
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(seconds, kMaxSeconds)));
  }
  context.reply.Ok();
}

void SetActiveExpire(ServerContext& context, Services& server) {
  server.active_expire = context.args[2] != "0";
  context.reply.Ok();
}

void Reload(ServerContext& context, Services& server) {
  const absl::Status status = server.persistence->Reload();
  server.tracking.AllChanged();
  if (!status.ok()) {
    return context.reply.Error(StrCat("ERR ", std::string(status.message())));
  }
  context.reply.Ok();
}

void DescribeObject(ServerContext& context, Services&) {
  const Keyspace::Entry entry = context.keyspace().Peek(context.args[2]);
  if (!entry) return context.reply.Error(kNoSuchKeyError);
  context.reply.Status(StrCat("Value type:", TypeName(entry.type()),
                              " refcount:1 encoding:", EncodingOf(entry), " bytes:", BytesOf(entry),
                              " access:", entry.access()));
}

void SetClock(ServerContext& context, Services& server) {
  const auto at_ms =
      context.Int64ArgIn(3, 0, kMaxInstantMs, "ERR the clock's time is out of range");
  if (!at_ms) return;
  server.clock.Set(*at_ms);
  context.reply.Ok();
}

void AdvanceClock(ServerContext& context, Services& server) {
  const auto by_ms = ParseDuration(context.args[3]);
  if (!by_ms)
    return context.reply.Error("ERR ADVANCE takes a duration, as 500ms, 5s, 10m, 24h or 7d");
  Clock& clock = server.clock;
  if (clock.now_ms() > kMaxInstantMs - *by_ms || !clock.Advance(*by_ms)) {
    return context.reply.Error("ERR the clock's time is out of range");
  }
  context.reply.Ok();
}

void MakeClockReal(ServerContext& context, Services& server) {
  server.clock.MakeReal();
  context.reply.Ok();
}

void DebugHelp(ServerContext& context, Services&) {
  constexpr std::string_view kLines[] = {
      "DEBUG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
      "CLOCK SET <unix ms> | ADVANCE <duration> | REAL",
      "    Stop the server's clock at a time, as if somebody had set the system's; let time",
      "    pass; or follow the system's again.",
      "LOADAOF",
      "    Save, drop the data, and load it again.",
      "OBJECT <key>",
      "    Show low level info about `key` and associated value.",
      "RELOAD",
      "    As LOADAOF.",
      "SET-ACTIVE-EXPIRE <0|1>",
      "    Setting it to 0 disables expiring keys in background when they are not",
      "    accessed. Setting it to 1 reenables it.",
      "SLEEP <seconds>",
      "    Stop the server for <seconds>. Decimals allowed.",
      "HELP",
      "    Prints this help.",
  };
  context.reply.Array(std::size(kLines));
  for (const std::string_view line : kLines) context.reply.Status(line);
}

struct Mode {
  std::string_view name;
  std::string_view second;  // the word after the name; empty if there is none
  size_t args;
  void (*run)(ServerContext& context, Services& server);
};

constexpr Mode kModes[] = {
    {"clock", "set", 4, SetClock},
    {"clock", "advance", 4, AdvanceClock},
    {"clock", "real", 3, MakeClockReal},
    {"help", "", 2, DebugHelp},
    {"loadaof", "", 2, Reload},
    {"object", "", 3, DescribeObject},
    {"reload", "", 2, Reload},
    {"set-active-expire", "", 3, SetActiveExpire},
    {"sleep", "", 3, Sleep},
};

void Debug(ServerContext& context, Services& server) {
  if (!MayDebug(context, server)) {
    return context.reply.Error(
        "ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\", "
        "you can run it from a local connection, otherwise you need to set this option in the "
        "configuration file, and then restart the server.");
  }
  const Args args = context.args;
  for (const Mode& mode : kModes) {
    const bool fits = args.size() == mode.args && IsWord(args[1], mode.name);
    if (fits && (mode.second.empty() || IsWord(args[2], mode.second)))
      return mode.run(context, server);
  }
  ReplyUnknownSubcommand(context);
}

constexpr Command kDebugCommands[] = {
    {"debug",
     Serve<Debug>,
     -2,
     kOperator | kAnyTime,
     {},
     "Tests the server; only with enable-debug-command.",
     "1.0.0"},
};

}  // namespace

std::span<const Command> DebugCommands() { return kDebugCommands; }

}  // namespace tally::server
