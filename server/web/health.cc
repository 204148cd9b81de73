#include "server/web/health.h"

#include "server/command/command_context.h"
#include "server/http/http_response.h"
#include "server/interfaces/persistence.h"
#include "server/interfaces/services.h"

namespace tally::server {

HttpResponse Health(const HttpCall&) { return {.body = "ok\n"}; }

HttpResponse Readiness(const HttpCall& call) {
  const Services& server = call.server;
  if (server.loading) return ErrorResponse(503, "LOADING the data is being loaded");
  if (server.script_busy) return ErrorResponse(503, kBusyError);
  if (!server.persistence->accepts_writes()) {
    return ErrorResponse(503, "MISCONF writes are refused: the files cannot be written");
  }
  return {.body = "ok\n"};
}

}  // namespace tally::server
