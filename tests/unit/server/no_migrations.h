// MIGRATE in a server without sockets: no other server ever answers.
#pragma once

#include <memory>

#include "server/interfaces/migrations.h"
#include "server/interfaces/services.h"

namespace tally::test {

class NoMigrations final : public server::Migrations {
 public:
  explicit NoMigrations(server::Services& server) { server.migrations.Fill(*this); }

  void Begin(server::Client&, const server::MigrationTarget&, server::MigrationBatch) override {}
  void Continue(server::Client&, server::MigrationBatch) override {}
  std::unique_ptr<server::MigrationResult> Take(const server::Client&) override { return nullptr; }
};

}  // namespace tally::test
