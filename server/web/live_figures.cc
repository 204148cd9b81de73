#include "server/web/live_figures.h"

#include "core/bytes/str_cat.h"
#include "server/state/client_table.h"
#include "server/state/clock.h"
#include "server/state/stats.h"

namespace tally::server {

std::string LiveFigures(Services& server) {
  const Stats& stats = server.stats;
  return StrCat("{\"now_ms\":", server.clock.now_ms(), ",\"clients\":", server.clients.size(),
                ",\"commands\":", stats.commands_processed,
                ",\"commands_per_second\":", stats.operations_rate.per_second(), "}");
}

HttpResponse OpenEvents(const HttpCall& call) {
  // Who asks need not wait for the first second to pass.
  return {.content_type = "text/event-stream",
          .body = StrCat("retry: 2000\nevent: ", kLiveEvent, "\ndata: ", LiveFigures(call.server),
                         "\n\n"),
          .streams = true};
}

}  // namespace tally::server
