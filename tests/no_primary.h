// A server that follows nobody.
#pragma once

#include <string>

#include "server/interfaces/replication.h"
#include "server/interfaces/services.h"

namespace tally::server {

class NoPrimary final : public PrimaryLink {
 public:
  explicit NoPrimary(Services& server) { server.primary.Fill(*this); }

  bool is_replica() const override { return false; }
  bool link_up() const override { return true; }
  bool refuses_writes() const override { return false; }
  PrimaryState state() const override { return {}; }
  void Follow(const std::string&, int64_t, Handover) override {}
  void StopFollowing() override {}
  bool Disconnect() override { return false; }
};

}  // namespace tally::server
