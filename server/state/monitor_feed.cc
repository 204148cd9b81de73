#include "server/state/monitor_feed.h"

#include <absl/strings/str_format.h>

#include <string>

#include "server/log/quoted.h"

namespace tally::server {

void ShowToMonitors(ClientTable& clients, const Clock& clock, const Client& client, Args args) {
  const int64_t us = clock.now_us();
  std::string line = absl::StrFormat("%d.%06d [%d %s]", us / 1'000'000, us % 1'000'000,
                                     client.database, client.address);
  for (const std::string_view arg : args) {
    line += ' ';
    AppendQuoted(line, arg);
  }
  ByteBlocks status;
  ReplyBuilder(status).Status(line);
  const SharedBytes shared = status.Share();
  for (Client* monitor : clients.monitors()) clients.Send(*monitor, shared);
}

}  // namespace tally::server
