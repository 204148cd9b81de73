#include "server/net/client_refusal.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/bytes/str_cat.h"
#include "server/acl/acl_users.h"
#include "server/config/config.h"
#include "server/http/http_response.h"
#include "server/log/trouble_log.h"
#include "server/net/descriptors.h"
#include "server/state/clock.h"

namespace tally::server {
namespace {

constexpr std::string_view kTooManyClients = "ERR max number of clients reached";
constexpr std::string_view kProtected =
    "DENIED tallyd is running in protected mode because protected mode is enabled and no password "
    "is set "
    "for the default user. In this mode connections are only accepted from the loopback interface. "
    "Set requirepass, or protected-mode no if the network is trusted.";

std::string RefusalText(Protocol protocol, int http_status, std::string_view error) {
  return protocol == Protocol::kHttp ? WholeErrorResponse(http_status, error)
                                     : StrCat("-", error, "\r\n");
}

}  // namespace

std::string RefusalOf(const NewConnection& connection, Services& server,
                      const ConnectionTable& connections) {
  const Protocol protocol = connection.protocol;
  const int64_t now_ms = server.clock.steady_ms();
  if (IsReserved(connection.socket)) {
    server.troubles.descriptors.Happens(
        "Few file descriptors are left (ulimit -n): new clients are refused.", now_ms);
    return RefusalText(protocol, 503, kTooManyClients);
  }
  const auto most = static_cast<size_t>(server.config.maxclients);
  // HTTP may have half of the places, so that slow clients of HTTP cannot keep out those of RESP.
  const bool http_full = protocol == Protocol::kHttp && connections.http_size() >= (most + 1) / 2;
  if (connections.size() >= most || http_full) {
    server.troubles.places.Happens(StrCat(http_full ? "HTTP has half of the places for clients"
                                                    : "All places for clients are taken",
                                          " (maxclients ", most, "): new clients are refused."),
                                   now_ms);
    return RefusalText(protocol, 503, kTooManyClients);
  }
  if (server.config.protected_mode && !connection.is_local &&
      !server.users.DefaultNeedsPassword()) {
    return RefusalText(protocol, 403, kProtected);
  }
  return "";
}

}  // namespace tally::server
