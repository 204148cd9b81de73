// Runs the commands of a log of Redis again. A transaction runs when all of it is there.
#pragma once

#include <absl/status/status.h>

#include <string>
#include <string_view>
#include <vector>

#include "server/command/command_table.h"
#include "server/interfaces/command_runner.h"
#include "server/rdb/skipped_values.h"
#include "server/state/client.h"

namespace tally::server {

class RedisReplay {
 public:
  // A command that is not known here, or that fails, is noted in `skipped`. With
  // `drop_field_deadlines` those that give fields of hashes deadlines have no effect.
  RedisReplay(const CommandTable& commands, CommandRunner& runner, rdb::SkippedValues& skipped,
              bool drop_field_deadlines);

  // DataLoss for transactions that do not fit, and FailedPrecondition for a database that is not
  // here: what follows would go into another one.
  absl::Status Take(Args args);
  // Whether a transaction is not complete. Its commands have not run.
  bool in_transaction() const { return in_transaction_; }
  // The file ends: what is not complete never was.
  void DropTransaction();
  // As at the begin of each file.
  void SelectFirst() { client_.database = 0; }

 private:
  absl::Status Run(Args args);
  // HSETEX sets fields as HSET does. Valkey logs HINCRBYFLOAT as one that sets no deadline.
  absl::Status RunHSetEx(Args args);
  void NoteUnknown(Args args);

  const CommandTable& commands_;
  CommandRunner& runner_;
  rdb::SkippedValues& skipped_;
  const bool drop_field_deadlines_;
  Client client_;
  bool in_transaction_ = false;
  std::vector<std::vector<std::string>> queued_;
};

}  // namespace tally::server
