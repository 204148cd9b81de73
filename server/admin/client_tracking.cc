#include "server/admin/client_tracking.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/str_cat.h"
#include "server/state/client_table.h"
#include "server/state/key_tracking.h"

namespace tally::server {
namespace {

constexpr std::string_view kOtherMode =
    " before disabling tracking for this client, and then re-enabling it with a different mode.";

struct Options {
  bool broadcast = false;
  bool opt_in = false;
  bool opt_out = false;
  bool no_loop = false;
  uint64_t redirect = 0;
  std::vector<std::string_view> prefixes;
};

// Reads the id of a client that is connected. Returns false after an error reply.
bool ParseRedirect(ServerContext& context, Services& server, size_t index, Options& options) {
  if (options.redirect != 0) {
    context.reply.Error("ERR A client can only redirect to a single other client");
    return false;
  }
  const auto id = context.Int64Arg(index);
  if (!id) return false;
  options.redirect = static_cast<uint64_t>(*id);
  if (server.clients.Find(options.redirect) != nullptr) return true;
  context.reply.Error("ERR The client ID you want redirect to does not exist");
  return false;
}

// Returns nullopt after an error reply.
std::optional<Options> ParseOptions(ServerContext& context, Services& server) {
  const Args args = context.args;
  Options options;
  for (size_t i = 3; i < args.size(); ++i) {
    const bool has_value = i + 1 < args.size();
    if (IsWord(args[i], "redirect") && has_value) {
      if (!ParseRedirect(context, server, ++i, options)) return std::nullopt;
    } else if (IsWord(args[i], "prefix") && has_value) {
      options.prefixes.push_back(args[++i]);
    } else if (IsWord(args[i], "bcast")) {
      options.broadcast = true;
    } else if (IsWord(args[i], "optin")) {
      options.opt_in = true;
    } else if (IsWord(args[i], "optout")) {
      options.opt_out = true;
    } else if (IsWord(args[i], "noloop")) {
      options.no_loop = true;
    } else {
      context.reply.Error(kSyntaxError);
      return std::nullopt;
    }
  }
  return options;
}

// Whether there is a key that begins with both.
bool Overlap(std::string_view one, std::string_view other) {
  return one.starts_with(other) || other.starts_with(one);
}

// Returns the error, empty if no key has two of the prefixes. `held` are those of the client.
std::string FindOverlap(const std::vector<std::string_view>& prefixes, const Tracking* held) {
  constexpr std::string_view kEnd = "'. Prefixes for a single client must not overlap.";
  for (size_t i = 0; i < prefixes.size(); ++i) {
    if (held != nullptr) {
      for (const std::string& other : held->prefixes) {
        if (!Overlap(prefixes[i], other)) continue;
        return StrCat("ERR Prefix '", prefixes[i], "' overlaps with an existing prefix '", other,
                      kEnd);
      }
    }
    for (size_t j = i + 1; j < prefixes.size(); ++j) {
      if (!Overlap(prefixes[i], prefixes[j])) continue;
      return StrCat("ERR Prefix '", prefixes[i], "' overlaps with another provided prefix '",
                    prefixes[j], kEnd);
    }
  }
  return {};
}

// Returns why these options cannot be, or not after those that `held` has; empty if they can.
std::string FindConflict(const Options& options, const Tracking* held) {
  if (!options.broadcast && !options.prefixes.empty()) {
    return "ERR PREFIX option requires BCAST mode to be enabled";
  }
  if (held != nullptr && (held->mode == TrackingMode::kBroadcast) != options.broadcast) {
    return StrCat("ERR You can't switch BCAST mode on/off", kOtherMode);
  }
  if (options.broadcast && (options.opt_in || options.opt_out)) {
    return "ERR OPTIN and OPTOUT are not compatible with BCAST";
  }
  if (options.opt_in && options.opt_out) {
    return "ERR You can't specify both OPTIN mode and OPTOUT mode";
  }
  if (held != nullptr && ((options.opt_in && held->mode == TrackingMode::kOptOut) ||
                          (options.opt_out && held->mode == TrackingMode::kOptIn))) {
    return StrCat("ERR You can't switch OPTIN/OPTOUT mode", kOtherMode);
  }
  return FindOverlap(options.prefixes, held);
}

TrackingMode ModeOf(const Options& options) {
  if (options.broadcast) return TrackingMode::kBroadcast;
  if (options.opt_in) return TrackingMode::kOptIn;
  return options.opt_out ? TrackingMode::kOptOut : TrackingMode::kEveryRead;
}

std::vector<std::string_view> FlagsOf(const Tracking* tracking) {
  if (tracking == nullptr) return {"off"};
  std::vector<std::string_view> flags = {"on"};
  if (tracking->mode == TrackingMode::kBroadcast) flags.push_back("bcast");
  if (tracking->mode == TrackingMode::kOptIn) {
    flags.push_back("optin");
    if (tracking->caching_given) flags.push_back("caching-yes");
  }
  if (tracking->mode == TrackingMode::kOptOut) {
    flags.push_back("optout");
    if (tracking->caching_given) flags.push_back("caching-no");
  }
  if (tracking->no_loop) flags.push_back("noloop");
  if (tracking->redirect_broken) flags.push_back("broken_redirect");
  return flags;
}

int64_t RedirectOf(const Tracking* tracking) {
  return tracking == nullptr ? -1 : static_cast<int64_t>(tracking->redirect);
}

}  // namespace

void ClientTracking(ServerContext& context, Services& server) {
  const auto options = ParseOptions(context, server);
  if (!options) return;
  Client& client = context.client;
  if (IsWord(context.args[2], "off")) {
    server.tracking.Stop(client);
    return context.reply.Ok();
  }
  if (!IsWord(context.args[2], "on")) return context.reply.Error(kSyntaxError);
  const std::string conflict = FindConflict(*options, client.tracking.get());
  if (!conflict.empty()) return context.reply.Error(conflict);
  Tracking wanted{
      .mode = ModeOf(*options), .no_loop = options->no_loop, .redirect = options->redirect};
  for (const std::string_view prefix : options->prefixes) wanted.prefixes.emplace(prefix);
  server.tracking.Start(client, wanted);
  context.reply.Ok();
}

void ClientCaching(ServerContext& context) {
  Tracking* const tracking = context.client.tracking.get();
  if (tracking == nullptr) {
    return context.reply.Error(
        "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or "
        "OPTOUT mode enabled");
  }
  const bool yes = IsWord(context.args[2], "yes");
  if (!yes && !IsWord(context.args[2], "no")) return context.reply.Error(kSyntaxError);
  const TrackingMode needed = yes ? TrackingMode::kOptIn : TrackingMode::kOptOut;
  if (tracking->mode != needed) {
    return context.reply.Error(
        yes ? "ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode."
            : "ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.");
  }
  tracking->caching_given = true;
  context.reply.Ok();
}

void ClientTrackingInfo(ServerContext& context) {
  const Tracking* const tracking = context.client.tracking.get();
  ReplyBuilder& reply = context.reply;
  reply.Map(3);
  reply.Bulk("flags");
  const auto flags = FlagsOf(tracking);
  reply.Set(flags.size());
  for (const std::string_view flag : flags) reply.Bulk(flag);
  reply.Bulk("redirect");
  reply.Integer(RedirectOf(tracking));
  reply.Bulk("prefixes");
  reply.Array(tracking == nullptr ? 0 : tracking->prefixes.size());
  if (tracking == nullptr) return;
  for (const std::string& prefix : tracking->prefixes) reply.Bulk(prefix);
}

void ClientGetRedir(ServerContext& context) {
  context.reply.Integer(RedirectOf(context.client.tracking.get()));
}

}  // namespace tally::server
