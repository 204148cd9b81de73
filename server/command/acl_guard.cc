#include "server/command/acl_guard.h"

#include <string>
#include <utility>

#include "server/state/client_text.h"

namespace tally::server {
namespace {

std::string_view ReasonOf(AclDenial denial) {
  switch (denial) {
    case AclDenial::kCommand:
      return "command";
    case AclDenial::kKey:
      return "key";
    case AclDenial::kChannel:
      return "channel";
    case AclDenial::kNone:
      break;
  }
  return "";
}

void AddToLog(ServerState& server, const Client& client, std::string_view reason,
              std::string_view place, std::string_view object, std::string_view user) {
  AclLog::Entry entry;
  entry.reason = reason;
  entry.place = place;
  entry.object = object;
  entry.user = user;
  entry.created_ms = server.clock.now_ms();
  AppendClientLine(entry.client, client, entry.created_ms);
  if (entry.client.ends_with('\n')) entry.client.pop_back();
  server.acl_log.Add(std::move(entry), static_cast<size_t>(server.config.acllog_max_len));
}

}  // namespace

AclVerdict GuardCall(ServerState& server, const Client& client, const CommandTable::Item& item,
                     Args args, std::string_view place) {
  if (client.acl == nullptr || client.acl->unrestricted) return {};
  const AclVerdict verdict = CheckCall(*client.acl, item, args);
  if (verdict.denial != AclDenial::kNone) {
    AddToLog(server, client, ReasonOf(verdict.denial), place, verdict.object, client.user);
  }
  return verdict;
}

void LogFailedLogin(ServerState& server, const Client& client, std::string_view command,
                    std::string_view user) {
  AddToLog(server, client, "auth", client.transaction.active ? "multi" : "toplevel", command, user);
}

}  // namespace tally::server
