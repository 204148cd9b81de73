// Runs the commands of a log of Redis again, or those that a primary sends. A transaction runs when
// all of it is there.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
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
  struct Options {
    // Commands that give fields of hashes deadlines have no effect.
    bool drop_field_deadlines = false;
    // They come from a primary: what they do is logged, and what they publish is published here.
    bool follows = false;
    // A command that is not known here, or that fails, is an error. Otherwise it is noted in
    // `skipped`.
    bool is_strict = false;
  };
  RedisReplay(const CommandTable& commands, CommandRunner& runner, rdb::SkippedValues& skipped,
              Options options);
  void set_options(Options options) { options_ = options; }

  // DataLoss for transactions that do not fit, and FailedPrecondition for a database that is not
  // here: what follows would go into another one. If it is strict also Unimplemented for a command
  // that is not known, of which nothing was done; and Aborted for one that fails, in which case the
  // data is no longer that of the stream.
  absl::Status Take(Args args);
  // Whether a transaction is not complete. Its commands have not run.
  bool in_transaction() const { return in_transaction_; }
  // The file ends: what is not complete never was.
  void DropTransaction();
  // As at the begin of each file.
  void SelectFirst() { client_.database = 0; }
  void Select(size_t database) { client_.database = database; }
  size_t database() const { return client_.database; }
  // How many commands had no effect because they are not known or failed.
  uint64_t skipped() const { return skipped_commands_; }

 private:
  // What becomes of a command.
  enum class Fate : uint8_t { kRuns, kHSetEx, kNothing, kUnknown };
  struct Known {
    Fate fate;
    const CommandEntry* entry = nullptr;  // of kRuns
  };

  Known Judge(Args args) const;
  // The same for HSETEX, which sets fields as HSET does: Valkey logs HINCRBYFLOAT as one that sets
  // no deadline.
  Fate JudgeHSetEx(Args args) const;
  absl::Status Run(Args args);
  absl::Status RunEntry(const CommandEntry& entry, Args args);
  absl::Status NoteUnknown(Args args);

  const CommandTable& commands_;
  CommandRunner& runner_;
  rdb::SkippedValues& skipped_;
  Options options_;
  uint64_t skipped_commands_ = 0;
  Client client_;
  bool in_transaction_ = false;
  std::vector<std::vector<std::string>> queued_;
};

}  // namespace tally::server
