// The only way to a command handler: checks arity, authentication, permissions, the state of MULTI,
// memory and the log, then runs the command and logs its effect.
#pragma once

#include <string>
#include <string_view>

#include "server/command/command.h"
#include "server/services.h"
#include "server/state/clock.h"
#include "server/state/command_runner.h"

namespace tally::server {

class ServerContext;

class Dispatcher final : public CommandRunner {
 public:
  explicit Dispatcher(Services& server) : server_(server) {}

  // Called before the requests of one read. Each command is timed from the end of the one before
  // it.
  void BeginBatch() override { batch_begin_ = last_micros_ = Clock::MonotonicMicros(); }
  // When the last command ended (Clock::MonotonicMicros), and how many microseconds the batch had
  // taken by then.
  int64_t last_micros() const { return last_micros_; }
  int64_t batch_micros() const { return last_micros_ - batch_begin_; }
  int64_t MeasureBatch() override {
    last_micros_ = Clock::MonotonicMicros();
    return batch_micros();
  }

  bool Execute(Client& client, Args args) override;
  void RejectUnknown(Client& client, Args args) override;

  // These run a command without the checks that only a request needs: for EXEC, for a script, and
  // for the log.
  void Run(Client& client, const CommandTable::Item& item, Args args) override;
  void RunFromScript(Client& client, const Client& caller, Args args,
                     ScriptRights& rights) override;
  void Replay(Client& client, const CommandTable::Item& item, Args args) override;

 private:
  enum class Purpose : uint8_t { kRequest, kReplay };
  void RunAs(Purpose purpose, Client& client, const CommandTable::Item& item, Args args);
  // Counts the changes. Appends the command to the stream of effects, unless the handler has
  // appended its own effect.
  void NoteChange(ServerContext& context);
  const CommandTable::Item* Resolve(Client& client, Args args);
  bool Admit(Client& client, const CommandTable::Item& item, Args args);
  // Whether ACL allows the call to the client's user. Replies the error if not.
  bool Permit(Client& client, const CommandTable::Item& item, Args args);
  bool AdmitWrite(Client& client, const CommandTable::Item& item);
  // Whether the command may run, or be queued, although maxmemory is exceeded and nothing can be
  // evicted.
  static bool RunsWithoutMemory(const Client& client, const CommandTable::Item& item);
  // The error of a call that a script may not make; empty if it may.
  std::string ScriptRefusal(const Client& caller, const CommandTable::Item* item, Args args,
                            const ScriptRights& rights) const;
  bool Paused(const Client& client, const CommandTable::Item& item) const;
  // The flags of the command. For EXEC also those of the queued commands: kWrite, kDenyOom and
  // kMayReplicate.
  static uint32_t FlagsOf(const Client& client, const CommandTable::Item& item);
  void Reject(Client& client, const CommandTable::Item* item, std::string_view error);
  // Ends the connection if the word shows that the request is HTTP (POST or Host:), as Redis does.
  // Returns whether it did.
  bool RefuseBrowser(Client& client, std::string_view word);
  void Queue(Client& client, const CommandTable::Item& item, Args args);
  void Account(Client& client, const CommandTable::Item& item, Args args, size_t reply_begin,
               int64_t micros);
  void AddToSlowlog(const Client& client, const CommandTable::Item& item, Args args,
                    int64_t micros);
  static void TakePushes(Client& client);
  void ApplyReplyMode(Client& client, size_t reply_begin);

  Services& server_;
  int64_t batch_begin_ = 0;
  int64_t last_micros_ = 0;  // when the last command ended
  int64_t browser_warned_ms_ = 0;
};

}  // namespace tally::server
