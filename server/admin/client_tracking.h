// CLIENT TRACKING, CACHING, TRACKINGINFO and GETREDIR. Their rows are with those of CLIENT.
#pragma once

#include "server/admin/server_context.h"
#include "server/interfaces/services.h"

namespace tally::server {

void ClientTracking(ServerContext& context, Services& server);
void ClientCaching(ServerContext& context);
void ClientTrackingInfo(ServerContext& context);
void ClientGetRedir(ServerContext& context);

}  // namespace tally::server
