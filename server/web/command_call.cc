#include "server/web/command_call.h"

#include "core/bytes/str_cat.h"
#include "server/command/command_table.h"
#include "server/http/json_text.h"
#include "server/interfaces/command_runner.h"

namespace tally::server {
namespace {

struct CodeStatus {
  std::string_view code;
  int status;
};

constexpr CodeStatus kStatuses[] = {
    {"NOAUTH", 401},     {"WRONGPASS", 401},  {"NOPERM", 403}, {"OOM", 503},
    {"MISCONF", 503},    {"LOADING", 503},    {"BUSY", 503},   {"READONLY", 503},
    {"MASTERDOWN", 503}, {"NOREPLICAS", 503},
};

// Removes what the command has appended to the output from `begin` on, and returns it.
std::string TakeReply(ByteBlocks& output, size_t begin) {
  std::string reply = output.Copy(begin, output.size() - begin);
  output.Truncate(begin);
  return reply;
}

}  // namespace

CommandReply CommandReply::Error(std::string_view text) {
  return {.wire = StrCat("-", text, "\r\n")};
}

std::optional<CommandReply> RunCommand(const HttpCall& call, Args args) {
  const CommandEntry* entry = call.server.commands.Resolve(args);
  constexpr uint32_t kNotHere = kConnection | kBlocking;
  if (entry != nullptr && (entry->command->flags & kNotHere) != 0) {
    return CommandReply::Error(
        StrCat("ERR '", entry->full_name, "' is only for connections of RESP"));
  }
  ByteBlocks& output = call.client.output;
  const size_t begin = output.size();
  if (entry == nullptr) {
    call.server.runner->RejectUnknown(call.client, args);
  } else if (!call.server.runner->Execute(call.client, args)) {
    return std::nullopt;
  }
  if (output.overflowed())
    return CommandReply::Error("ERR the output is larger than the client may have");
  if (output.size() - begin > kMaxReplyBytes) {
    output.Truncate(begin);
    return CommandReply::Error("ERR the reply is larger than the 1 MiB that HTTP may have");
  }
  return CommandReply{.wire = TakeReply(output, begin),
                      .names = entry == nullptr ? std::string_view() : entry->command->reply_names};
}

int StatusOfError(std::string_view text) {
  const std::string_view code = ErrorCode(text);
  for (const CodeStatus& row : kStatuses) {
    if (row.code == code) return row.status;
  }
  return 400;
}

}  // namespace tally::server
