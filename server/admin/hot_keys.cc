// HOTKEYS: which keys take the most CPU time and network bytes, between START and STOP. As in Redis
// 8.6.
#include "server/state/hot_keys.h"

#include <sys/resource.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "core/bytes/str_cat.h"
#include "core/words/option_words.h"
#include "server/admin/families.h"
#include "server/admin/server_context.h"
#include "server/command/help.h"
#include "server/state/clock.h"

namespace tally::server {
namespace {

constexpr int64_t kMostShown = 64;

int64_t Milliseconds(const timeval& time) { return time.tv_sec * 1000 + time.tv_usec / 1000; }

HotKeys::CpuTime ReadCpuTime() {
  rusage self{};
  ::getrusage(RUSAGE_SELF, &self);
  return {Milliseconds(self.ru_utime), Milliseconds(self.ru_stime)};
}

// Reads METRICS count [CPU] [NET] at `index` and moves `index` after it. Returns false after an
// error reply.
bool ReadMetrics(ServerContext& context, size_t& index, HotKeys::Options& options) {
  const auto count = context.Int64ArgIn(index + 1, 1, 2,
                                        "ERR METRICS count must be the number of metrics, 1 or 2");
  if (!count) return false;
  int64_t named = 0;
  for (index += 2; index < context.args.size(); ++index, ++named) {
    if (IsWord(context.args[index], "cpu") && !options.cpu) {
      options.cpu = true;
    } else if (IsWord(context.args[index], "net") && !options.net) {
      options.net = true;
    } else {
      break;
    }
  }
  if (named == *count) return true;
  context.reply.Error("ERR METRICS needs as many of CPU and NET as it says");
  return false;
}

// Reads an option and its number at `index` and moves `index` after them. Returns false after an
// error reply.
bool ReadOption(ServerContext& context, size_t& index, OptionWords& words,
                HotKeys::Options& options) {
  const std::string_view word = context.args[index];
  const auto number = [&](int64_t most, std::string_view error) {
    return context.Int64ArgIn(index + 1, 1, most, error);
  };
  if (words.Is(word, "count")) {
    const auto count = number(kMostShown, "ERR COUNT must be between 1 and 64");
    if (!count) return false;
    options.count = static_cast<size_t>(*count);
  } else if (words.Is(word, "duration")) {
    const auto seconds = number(1'000'000'000, "ERR DURATION must be a number of seconds above 0");
    if (!seconds) return false;
    options.duration_ms = *seconds * 1000;
  } else if (words.Is(word, "sample")) {
    const auto ratio = number(INT32_MAX, "ERR SAMPLE must be a ratio of at least 1");
    if (!ratio) return false;
    options.sample = static_cast<uint64_t>(*ratio);
  } else {
    context.reply.Error(IsWord(word, "slots") ? "ERR SLOTS is for clusters: there are no slots here"
                                              : kSyntaxError);
    return false;
  }
  index += 2;
  return true;
}

bool ReadOptions(ServerContext& context, HotKeys::Options& options) {
  OptionWords words;
  for (size_t index = 2; index < context.args.size();) {
    if (index + 1 == context.args.size()) {
      context.reply.Error(kSyntaxError);
      return false;
    }
    const bool read = words.Is(context.args[index], "metrics")
                          ? ReadMetrics(context, index, options)
                          : ReadOption(context, index, words, options);
    if (!read) return false;
  }
  if (options.cpu || options.net) return true;
  context.reply.Error("ERR METRICS is needed: METRICS count [CPU] [NET]");
  return false;
}

void Start(ServerContext& context, Services& server) {
  HotKeys& hot_keys = server.hot_keys;
  HotKeys::Options options;
  if (!ReadOptions(context, options)) return;
  hot_keys.StopIfDue(server.clock.elapsed_ms());
  if (hot_keys.active()) return context.reply.Error("ERR hot keys are being tracked already");
  hot_keys.Start(options, context.now_ms, server.clock.elapsed_ms(), ReadCpuTime());
  context.reply.Ok();
}

void Stop(ServerContext& context, Services& server) {
  HotKeys& hot_keys = server.hot_keys;
  hot_keys.StopIfDue(server.clock.elapsed_ms());
  if (!hot_keys.active()) return context.reply.Null();
  hot_keys.Stop(server.clock.elapsed_ms());
  context.reply.Ok();
}

void HotKeysReset(ServerContext& context, Services& server) {
  HotKeys& hot_keys = server.hot_keys;
  hot_keys.StopIfDue(server.clock.elapsed_ms());
  if (hot_keys.active()) {
    return context.reply.Error("ERR hot keys are being tracked: HOTKEYS STOP comes first");
  }
  hot_keys.Reset();
  context.reply.Ok();
}

void ReplyRow(ReplyBuilder& reply, std::string_view name, uint64_t value) {
  reply.Bulk(name);
  reply.Integer(static_cast<int64_t>(value));
}

void ReplyTop(ReplyBuilder& reply, std::string_view name,
              const std::vector<SpaceSaving::Counter>& top) {
  reply.Bulk(name);
  reply.Array(2 * top.size());
  for (const SpaceSaving::Counter& counter : top) {
    const size_t left_out = counter.key.full_size() - counter.key.view().size();
    reply.Bulk(left_out == 0 ? std::string(counter.key.view())
                             : StrCat(counter.key.view(), "... (", left_out, " more bytes)"));
    reply.Integer(static_cast<int64_t>(counter.count));
  }
}

void Get(ServerContext& context, Services& server) {
  HotKeys& hot_keys = server.hot_keys;
  hot_keys.StopIfDue(server.clock.elapsed_ms());
  if (!hot_keys.started()) return context.reply.NullArray();
  const HotKeys::Options& options = hot_keys.options();
  ReplyBuilder& reply = context.reply;
  reply.Map(7 + (options.cpu ? 3 : 0) + (options.net ? 2 : 0));
  ReplyRow(reply, "tracking-active", hot_keys.active() ? 1 : 0);
  ReplyRow(reply, "sample-ratio", options.sample);
  reply.Bulk("selected-slots");
  reply.Array(0);
  ReplyRow(reply, "all-commands-all-slots-us", hot_keys.totals().micros);
  ReplyRow(reply, "net-bytes-all-commands-all-slots", hot_keys.totals().bytes);
  ReplyRow(reply, "collection-start-time-unix-ms",
           static_cast<uint64_t>(hot_keys.started_unix_ms()));
  ReplyRow(reply, "collection-duration-ms",
           static_cast<uint64_t>(hot_keys.duration_ms(server.clock.elapsed_ms())));
  if (options.cpu) {
    const HotKeys::CpuTime now = ReadCpuTime();
    const HotKeys::CpuTime& before = hot_keys.cpu_at_start();
    ReplyRow(reply, "total-cpu-time-user-ms", static_cast<uint64_t>(now.user_ms - before.user_ms));
    ReplyRow(reply, "total-cpu-time-sys-ms",
             static_cast<uint64_t>(now.system_ms - before.system_ms));
    ReplyTop(reply, "by-cpu-time-us", hot_keys.ByMicros());
  }
  if (options.net) {
    ReplyRow(reply, "total-net-bytes", hot_keys.totals().bytes);
    ReplyTop(reply, "by-net-bytes", hot_keys.ByBytes());
  }
}

void HotKeysHelp(ServerContext& context) {
  constexpr std::string_view kLines[] = {
      "GET",
      "    Return the keys that have taken the most, and what was tracked.",
      "RESET",
      "    Forget what was tracked.",
      "START METRICS count [CPU] [NET] [COUNT k] [DURATION seconds] [SAMPLE ratio]",
      "    Track the time, the bytes, or both, that calls spend on keys.",
      "STOP",
      "    Track no more, and keep what there is.",
  };
  ReplyHelp(context, kLines);
}

constexpr Command kHotKeySubcommands[] = {
    {"get", Serve<Get>, 2, kOperator, {}, "Returns the hot keys of a tracking session.", "8.6.0"},
    {"help", HotKeysHelp, 2, kAnyTime, {}, "Returns helpful text about the subcommands.", "8.6.0"},
    {"reset", Serve<HotKeysReset>, 2, kOperator, {}, "Forgets a tracking session.", "8.6.0"},
    {"start",
     Serve<Start>,
     -4,
     kOperator,
     {},
     "Starts tracking hot keys.",
     "8.6.0",
     "metrics(METRICS count:int [CPU] [NET]) [COUNT k:int] [DURATION seconds:int] "
     "[SAMPLE ratio:int]"},
    {"stop", Serve<Stop>, 2, kOperator, {}, "Stops tracking hot keys.", "8.6.0"},
};

constexpr Command kHotKeyCommands[] = {
    {"hotkeys",
     nullptr,
     -2,
     0,
     {},
     "A container for hot key tracking commands.",
     "8.6.0",
     "",
     kHotKeySubcommands},
};

}  // namespace

std::span<const Command> HotKeyCommands() { return kHotKeyCommands; }

}  // namespace tally::server
