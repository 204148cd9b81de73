#include "server/figures/refusal.h"

#include "server/command/command_context.h"
#include "server/config/config.h"
#include "server/interfaces/persistence.h"
#include "server/interfaces/write_refusal.h"
#include "server/memory/evictor.h"

namespace tally::server {

std::string Refusal(const Services& server) {
  if (server.loading) return std::string(kLoadingError);
  std::string refusal = WriteRefusal(*server.persistence);
  if (!refusal.empty()) return refusal;
  if (server.script_busy) return std::string(kBusyError);
  const bool full = server.config.maxmemory != 0 && server.evictor.out_of_memory();
  return std::string(full ? kOutOfMemoryError : "");
}

}  // namespace tally::server
