#include "server/info/refusal.h"

#include "server/command/command_context.h"
#include "server/config/config.h"
#include "server/state/evictor.h"
#include "server/state/persistence.h"
#include "server/state/write_refusal.h"

namespace tally::server {

std::string Refusal(const ServerFigures& server) {
  if (server.loading) return std::string(kLoadingError);
  std::string refusal = WriteRefusal(*server.persistence, server.config);
  if (!refusal.empty()) return refusal;
  if (server.script_busy) return std::string(kBusyError);
  const bool full = server.config.maxmemory != 0 && server.evictor.out_of_memory();
  return std::string(full ? kOutOfMemoryError : "");
}

}  // namespace tally::server
