#include "server/state/monitor_feed.h"

#include <absl/strings/str_format.h>

#include <string>

#include "core/bytes/str_cat.h"
#include "server/log/quoted.h"

namespace tally::server {
namespace {

// Of a longer argument only the beginning is shown: to write out megabytes for people stops
// everybody.
constexpr size_t kShownArgBytes = size_t{1} << 20;

}  // namespace

void ShowToMonitors(ClientTable& clients, const Clock& clock, const Client& client, Args args) {
  const int64_t us = clock.now_us();
  std::string line = absl::StrFormat("%d.%06d [%d %s]", us / 1'000'000, us % 1'000'000,
                                     client.database, client.address);
  for (const std::string_view arg : args) {
    line += ' ';
    AppendQuoted(line, arg.substr(0, kShownArgBytes));
    if (arg.size() <= kShownArgBytes) continue;
    StrAppend(line, "... (", arg.size() - kShownArgBytes, " more bytes)");
  }
  ByteBlocks status;
  ReplyBuilder(status).Status(line);
  const SharedBytes shared = status.Share();
  for (Client* monitor : clients.monitors()) clients.Send(*monitor, shared);
}

}  // namespace tally::server
