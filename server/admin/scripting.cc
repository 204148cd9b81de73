// EVAL and SCRIPT. The commands of a script append their own effects. The effects of a turn are one
// batch of the log, so the log holds either all effects of a script or none.
#include <absl/strings/ascii.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/bytes/str_cat.h"
#include "server/admin/families.h"
#include "server/admin/server_context.h"
#include "server/arguments/counted_keys.h"
#include "server/command/help.h"
#include "server/log/log.h"
#include "server/memory/evictor.h"
#include "server/script/script_engine.h"
#include "server/state/client_table.h"
#include "server/state/clock.h"
#include "server/state/monitor_feed.h"

namespace tally::server {
namespace {

constexpr std::string_view kNoScriptError = "NOSCRIPT No matching script. Please use EVAL.";
constexpr size_t kScriptArg = 1;
constexpr size_t kCountArg = 2;
constexpr size_t kFirstKey = 3;

// Returns the script engine, and makes it on the first use: most servers never run a script.
ScriptEngine& Scripts(Services& server) {
  if (server.scripts == nullptr) server.scripts = std::make_shared<ScriptEngine>(server);
  return *server.scripts;
}

// Returns the script that the first argument gives as text, or names by its SHA1. Null after an
// error reply.
const Script* FindScript(ServerContext& context, Services& server, bool by_sha) {
  ScriptEngine& scripts = Scripts(server);
  const std::string_view named = context.args[kScriptArg];
  if (by_sha) {
    const Script* script = scripts.Use(named);
    if (script == nullptr) context.reply.Error(kNoScriptError);
    return script;
  }
  const auto loaded = scripts.Load(named, false);
  if (loaded.ok()) return *loaded;
  const absl::string_view message = loaded.status().message();
  context.reply.Error({message.data(), message.size()});
  return nullptr;
}

void RunScript(ServerContext& context, Services& server, bool by_sha, bool read_only) {
  if (by_sha && context.args[kScriptArg].size() != Sha1Hex{}.digits.size()) {
    return context.reply.Error(kNoScriptError);
  }
  const auto count = context.Int64Arg(kCountArg);
  if (!count) return;
  const Args rest = context.args.subspan(kFirstKey);
  if (*count > static_cast<int64_t>(rest.size())) {
    return context.reply.Error("ERR Number of keys can't be greater than number of args");
  }
  if (*count < 0) return context.reply.Error("ERR Number of keys can't be negative");
  const Script* script = FindScript(context, server, by_sha);
  if (script == nullptr) return;
  if (read_only && script->declares_flags && !script->no_writes) {
    return context.reply.Error("ERR Can not execute a script with write flag using *_ro command.");
  }
  const bool may_need_memory = script->declares_flags && !script->no_writes && !script->allow_oom;
  if (may_need_memory && server.evictor.out_of_memory()) {
    return context.reply.Error(kOutOfMemoryError);
  }
  const auto keys = static_cast<size_t>(*count);
  FeedMonitors(server.clients, server.clock, context.client,
               context.args);  // MONITOR shows the call before the script's commands
  Scripts(server).Run(*script, context.client, rest.first(keys), rest.subspan(keys), read_only);
}

void Eval(ServerContext& context, Services& server) { RunScript(context, server, false, false); }

void EvalRo(ServerContext& context, Services& server) { RunScript(context, server, false, true); }

void EvalSha(ServerContext& context, Services& server) { RunScript(context, server, true, false); }

void EvalShaRo(ServerContext& context, Services& server) { RunScript(context, server, true, true); }

// Finds the keys of EVAL. A wrong number of keys is not an error here: the handler replies it.
bool FindEvalKeys(Args args, std::vector<KeyReference>& keys) {
  static_cast<void>(FindCountedKeys(args, kCountArg, keys));
  return true;
}

void ScriptLoad(ServerContext& context, Services& server) {
  const auto loaded = Scripts(server).Load(context.args[2], true);
  if (loaded.ok()) return context.reply.Bulk((*loaded)->sha.view());
  const absl::string_view message = loaded.status().message();
  context.reply.Error({message.data(), message.size()});
}

void ScriptExists(ServerContext& context, Services& server) {
  const Args names = context.args.subspan(2);
  context.reply.Array(names.size());
  for (const std::string_view name : names) {
    context.reply.Integer(Scripts(server).Find(name) != nullptr ? 1 : 0);
  }
}

void ScriptFlush(ServerContext& context, Services& server) {
  const Args options = context.args.subspan(2);
  const bool known =
      options.empty() ||
      (options.size() == 1 && (IsWord(options[0], "sync") || IsWord(options[0], "async")));
  if (!known) return context.reply.Error("ERR SCRIPT FLUSH only support SYNC|ASYNC option");
  Scripts(server).Flush();
  context.reply.Ok();
}

void ScriptKill(ServerContext& context, Services& server) {
  ScriptEngine* scripts = server.scripts.get();
  if (scripts == nullptr || !scripts->watch().running()) {
    return context.reply.Error("NOTBUSY No scripts in execution right now.");
  }
  if (scripts->wrote()) {
    return context.reply.Error(
        "UNKILLABLE Sorry the script already executed write commands against the dataset. You can "
        "either wait the script termination or kill the server in a hard way using the SHUTDOWN "
        "NOSAVE command.");
  }
  server.log.Notice("A script is ended by SCRIPT KILL");
  scripts->watch().Kill();
  context.reply.Ok();
}

void ScriptHelp(ServerContext& context) {
  constexpr std::string_view kLines[] = {
      "EXISTS <sha1> [<sha1> ...]",
      "    Return information about the existence of the scripts in the script cache.",
      "FLUSH [ASYNC|SYNC]",
      "    Flush the Lua scripts cache.",
      "KILL",
      "    Kill the currently executing Lua script.",
      "LOAD <script>",
      "    Load a script into the scripts cache without executing it.",
  };
  ReplyHelp(context, kLines);
}

// The blanks stay, also at the end, where a reply would have its line ends trimmed.
void UnknownArgument(ServerContext& context, std::string_view word) {
  std::string line = StrCat("ERR Unknown argument ", word);
  std::ranges::replace_if(line, [](char c) { return c == '\r' || c == '\n'; }, ' ');
  context.reply.Error(line);
}

void FunctionList(ServerContext& context) {
  bool with_code = false;
  bool has_pattern = false;
  for (size_t i = 2; i < context.args.size(); ++i) {
    const std::string_view word = context.args[i];
    if (!with_code && IsWord(word, "withcode")) {
      with_code = true;
    } else if (!has_pattern && IsWord(word, "libraryname")) {
      if (++i == context.args.size()) {
        return context.reply.Error("ERR library name argument was not given");
      }
      has_pattern = true;
    } else {
      return UnknownArgument(context, word);
    }
  }
  context.reply.Array(0);
}

void FunctionHelp(ServerContext& context) {
  constexpr std::string_view kLines[] = {
      "LIST [LIBRARYNAME PATTERN] [WITHCODE]",
      "    Return general information on all the libraries: there are none.",
  };
  ReplyHelp(context, kLines);
}

constexpr uint32_t kRunFlags = kNoScript | kStale | kSkipMonitor | kMayReplicate | kMovableKeys;
constexpr KeyRange kScriptKeys{0, 0, 0, kChangesKey};

constexpr Command kScriptingSubcommands[] = {
    {"exists", Serve<ScriptExists>, -3, kNoScript, kNoKeys,
     "Determines whether server-side Lua scripts exist in the script cache.", "2.6.0", "sha1..."},
    {"flush", Serve<ScriptFlush>, -2, kNoScript, kNoKeys,
     "Removes all server-side Lua scripts from the script cache.", "2.6.0",
     "[async@6.2.0<ASYNC|SYNC>]"},
    {"help", ScriptHelp, 2, kAnyTime, kNoKeys, "Returns helpful text about the subcommands.",
     "5.0.0"},
    {"kill", Serve<ScriptKill>, 2, kNoScript | kAllowBusy, kNoKeys,
     "Terminates a server-side Lua script during execution.", "2.6.0"},
    {"load", Serve<ScriptLoad>, 3, kNoScript | kStale, kNoKeys,
     "Loads a server-side Lua script to the script cache.", "2.6.0", "script"},
};

constexpr Command kFunctionSubcommands[] = {
    {"help", FunctionHelp, 2, kAnyTime, kNoKeys, "Returns helpful text about the subcommands.",
     "7.0.0"},
    {"list", FunctionList, -2, kNoScript, kNoKeys,
     "Returns information about all libraries: there are none.", "7.0.0",
     "[LIBRARYNAME library-name-pattern] [WITHCODE]"},
};

constexpr Command kScriptingCommands[] = {
    {"eval",
     Serve<Eval>,
     -3,
     kRunFlags,
     kScriptKeys,
     "Executes a server-side Lua script.",
     "2.6.0",
     "script numkeys:int [key#0...] [arg...]",
     {},
     FindEvalKeys},
    {"eval_ro",
     Serve<EvalRo>,
     -3,
     kRunFlags | kReadOnly | kReadsByCalls,
     kNoKeys,
     "Executes a read-only server-side Lua script.",
     "7.0.0",
     "script numkeys:int [key#0...] [arg...]",
     {},
     FindEvalKeys},
    {"evalsha",
     Serve<EvalSha>,
     -3,
     kRunFlags,
     kScriptKeys,
     "Executes a server-side Lua script by SHA1 digest.",
     "2.6.0",
     "sha1 numkeys:int [key#0...] [arg...]",
     {},
     FindEvalKeys},
    {"evalsha_ro",
     Serve<EvalShaRo>,
     -3,
     kRunFlags | kReadOnly | kReadsByCalls,
     kNoKeys,
     "Executes a read-only server-side Lua script by SHA1 digest.",
     "7.0.0",
     "sha1 numkeys:int [key#0...] [arg...]",
     {},
     FindEvalKeys},
    {"function", nullptr, -2, 0, kNoKeys, "A container for function commands.", "7.0.0", "",
     kFunctionSubcommands},
    {"script", nullptr, -2, 0, kNoKeys, "A container for Lua scripts management commands.", "2.6.0",
     "", kScriptingSubcommands},
};

}  // namespace

std::span<const Command> ScriptingCommands() { return kScriptingCommands; }

}  // namespace tally::server
