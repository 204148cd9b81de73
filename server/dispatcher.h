// The one way to a handler: checks arity, authentication, permissions, the state of MULTI, memory
// and log, runs the command, and logs its effect.
#pragma once

#include <string>
#include <string_view>

#include "server/command/command.h"
#include "server/state/clock.h"
#include "server/state/command_runner.h"
#include "server/state/services.h"

namespace tally::server {

class ServerContext;

class Dispatcher final : public CommandRunner {
 public:
  explicit Dispatcher(Services& server) : server_(server) {}

  // Before the requests of one read: commands are timed from the end of the one before.
  void BeginBatch() override { batch_begin_ = last_micros_ = Clock::MonotonicMicros(); }
  // When the last of them ended, and what all of them have taken.
  int64_t last_micros() const { return last_micros_; }
  int64_t batch_micros() const { return last_micros_ - batch_begin_; }
  int64_t MeasureBatch() override {
    last_micros_ = Clock::MonotonicMicros();
    return batch_micros();
  }

  bool Execute(Client& client, Args args) override;

  // A command without the checks that only a request needs: from EXEC, a script or the log.
  void Run(Client& client, const CommandTable::Item& item, Args args) override;
  void RunFromScript(Client& client, const Client& caller, Args args,
                     ScriptRights& rights) override;
  void Replay(Client& client, const CommandTable::Item& item, Args args) override;

 private:
  enum class Purpose : uint8_t { kRequest, kReplay };
  void RunAs(Purpose purpose, Client& client, const CommandTable::Item& item, Args args);
  // Appends the effect to the stream, unless the handler has, and counts the changes.
  void NoteChange(ServerContext& context);
  const CommandTable::Item* Resolve(Client& client, Args args);
  bool Admit(Client& client, const CommandTable::Item& item, Args args);
  // Whether the client's user may do it.
  bool Permit(Client& client, const CommandTable::Item& item, Args args);
  bool AdmitWrite(Client& client, const CommandTable::Item& item);
  // Whether it may be run, or queued, although no memory can be had.
  static bool RunsWithoutMemory(const Client& client, const CommandTable::Item& item);
  // Why a script may not call it; empty if it may.
  std::string ScriptRefusal(const Client& caller, const CommandTable::Item* item, Args args,
                            const ScriptRights& rights) const;
  bool Paused(const Client& client, const CommandTable::Item& item) const;
  // The command's, and for EXEC those of what it is going to run.
  static uint32_t FlagsOf(const Client& client, const CommandTable::Item& item);
  void Reject(Client& client, const CommandTable::Item* item, std::string_view error);
  void RejectUnknown(Client& client, Args args);
  // Ends the connection if the word is one of HTTP's, as Redis does.
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
  int64_t last_micros_ = 0;  // when the command before ended
  int64_t browser_warned_ms_ = 0;
};

}  // namespace tally::server
