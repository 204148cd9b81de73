// DENIALS: who is denied most, and by which policy or rule.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/bytes/str_cat.h"
#include "core/engine/decisions.h"
#include "core/engine/engine.h"
#include "core/time/duration.h"
#include "server/arguments/time_args.h"
#include "server/command/command_context.h"
#include "server/command/usage.h"
#include "server/commands/families.h"

namespace tally::server {
namespace {

struct DenialArgs {
  Denials::Window window = Denials::Window::kFiveMinutes;
  int64_t count = 10;
  std::optional<std::string_view> policy;
};

bool ReadWindow(CommandContext& context, size_t index, Denials::Window& window) {
  const auto ms = ParseDuration(context.args[index]);
  if (ms == 60'000) {
    window = Denials::Window::kMinute;
  } else if (ms == 300'000) {
    window = Denials::Window::kFiveMinutes;
  } else if (ms == 3'600'000) {
    window = Denials::Window::kHour;
  } else {
    context.reply.Error("ERR WINDOW must be 1m, 5m or 1h");
    return false;
  }
  return true;
}

// False after replying an error.
bool ReadArgs(CommandContext& context, DenialArgs& denials) {
  const Args args = context.args;
  OptionWords options;
  for (size_t i = 1; i < args.size(); i += 2) {
    if (i + 1 == args.size()) {
      ReplySyntaxError(context);
      return false;
    }
    if (options.Is(args[i], "window")) {
      if (!ReadWindow(context, i + 1, denials.window)) return false;
    } else if (options.Is(args[i], "count")) {
      if (!ReadCount(context, i + 1, "COUNT", 0, denials.count)) return false;
    } else if (options.Is(args[i], "policy")) {
      denials.policy = args[i + 1];
    } else {
      return ReplyOptionError(context, options);
    }
  }
  return true;
}

bool IsWanted(const TopItem& item, const std::optional<std::string_view>& policy) {
  return !policy || ((item.kind & Denials::kPolicy) != 0 && item.label.Matches(*policy));
}

// Nobody can say whether a pattern matches a truncated key, so it is shown only to users who may
// read every key.
bool MayShow(const CommandContext& context, const TopItem& item) {
  return item.key.truncated() ? context.MayReadEveryKey() : context.MayRead(item.key.view());
}

template <size_t kBytes>
void ReplyShort(ReplyBuilder& reply, const ShortText<kBytes>& text) {
  if (!text.truncated()) return reply.Bulk(text.view());
  reply.Bulk(StrCat(text.view(), "... (", text.full_size() - kBytes, " more bytes)"));
}

void ReplyDenial(ReplyBuilder& reply, const TopItem& item) {
  reply.Array(8);
  ReplyShort(reply, item.key);
  ReplyShort(reply, item.label);
  reply.Integer(static_cast<int64_t>(item.count));
  reply.Integer(static_cast<int64_t>(item.error));
  reply.Integer(item.last_ms);
  reply.Integer((item.kind & Denials::kShadow) != 0 ? 1 : 0);
  reply.Integer(item.database);
  reply.Integer(item.place);
}

void ShowDenials(CommandContext& context) {
  DenialArgs wanted;
  if (!ReadArgs(context, wanted)) return;
  Denials& denials = context.engine().decisions().denials();
  const size_t mark = context.reply.BeginArray();
  int64_t shown = 0;
  for (const TopItem& item : denials.Top(wanted.window, context.now_ms)) {
    if (shown == wanted.count) break;
    if (!IsWanted(item, wanted.policy) || !MayShow(context, item)) continue;
    ReplyDenial(context.reply, item);
    ++shown;
  }
  context.reply.EndArray(mark, static_cast<size_t>(shown));
}

constexpr Command kDenialCommands[] = {
    Replying("[key rule denied error last_ms shadow database place]",
             {"denials",
              ShowDenials,
              -1,
              kReadOnly,
              {},
              "Returns the keys that are denied most.",
              "1.0.0",
              "[WINDOW window<1m|5m|1h>] [COUNT n:int] [POLICY name]"}),
};

}  // namespace

std::span<const Command> DenialCommands() { return kDenialCommands; }

}  // namespace tally::server
