// Whether this server follows a primary: what each request and each turn asks.
#pragma once

namespace tally::server {

struct ReplicaRole {
  // It follows a primary, whose stream says when keys end: nothing is removed or written by itself.
  bool is_replica = false;
  // The stream comes, so that the data is that of the primary.
  bool link_up = false;
};

}  // namespace tally::server
