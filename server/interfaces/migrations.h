// Conversations of MIGRATE with other servers. They go on while the server serves: the command
// begins one and waits, and is run again when the other server has answered.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "server/state/client.h"

namespace tally::server {

struct MigrationTarget {
  std::string host;
  int64_t port = 0;
  int64_t timeout_ms = 1000;  // in which something must be sent or received
  std::string login;          // what is sent first: commands in RESP
  size_t logins = 0;          // how many
};

// What was sent of a key.
struct SentKey {
  std::string key;
  bool erased = false;    // DEL was sent, because the key is gone
  uint64_t checksum = 0;  // of its payload
  int64_t deadline_ms = 0;
};

// Commands for keys, one for each. The other server answers each of them.
struct MigrationBatch {
  std::string commands;  // in RESP
  std::vector<SentKey> keys;
};

struct MigrationResult {
  size_t rounds = 1;  // batches in this conversation so far
  std::vector<SentKey> keys;
  // The answer to each key, without its first letter if it is an error; fewer than keys if the
  // conversation broke off.
  struct Answer {
    bool is_error = false;
    std::string text;
  };
  std::vector<Answer> answers;
  std::string login_error;  // the first error of the login; then nothing of the keys was sent
  std::string failure;      // "writing to target instance": why the conversation broke off
};

class Migrations {
 public:
  // The client is waiting from now on.
  virtual void Begin(Client& client, const MigrationTarget& target, MigrationBatch batch) = 0;
  // The same, in the conversation that has brought a result.
  virtual void Continue(Client& client, MigrationBatch batch) = 0;
  // What has become of the last batch; null if the client has none.
  virtual std::unique_ptr<MigrationResult> Take(const Client& client) = 0;

 protected:
  ~Migrations() = default;
};

}  // namespace tally::server
