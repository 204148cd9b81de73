// CLIENT TRACKING, CACHING, TRACKINGINFO and GETREDIR. Their rows are with those of CLIENT.
#pragma once

#include "server/admin/parts.h"
#include "server/admin/server_context.h"

namespace tally::server {

void ClientTracking(ServerContext& context, const ClientParts& server);
void ClientCaching(ServerContext& context);
void ClientTrackingInfo(ServerContext& context);
void ClientGetRedir(ServerContext& context);

}  // namespace tally::server
