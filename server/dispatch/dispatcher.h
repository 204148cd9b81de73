// The only way to a command handler: finds the command, asks whether it may run now (Admission),
// runs or queues it, appends its effect to the stream, and has the call counted (CallRecorder).
#pragma once

#include <string>
#include <string_view>

#include "server/command/command.h"
#include "server/dispatch/admission.h"
#include "server/dispatch/call_recorder.h"
#include "server/interfaces/command_runner.h"
#include "server/interfaces/services.h"
#include "server/state/cycle_clock.h"

namespace tally::server {

class ServerContext;

class Dispatcher final : public CommandRunner {
 public:
  explicit Dispatcher(Services& server) : server_(server), admission_(server), recorder_(server) {
    server.runner.Fill(*this);
  }

  // Called before the requests of one read. Each command is timed from the end of the one before
  // it.
  void BeginBatch() override { batch_begin_us_ = last_micros_ = CycleMicros(); }
  // When the last command ended (CycleMicros), and how many microseconds the batch had
  // taken by then.
  int64_t last_micros() const { return last_micros_; }
  int64_t batch_micros() const { return last_micros_ - batch_begin_us_; }
  int64_t MeasureBatch() override {
    last_micros_ = CycleMicros();
    return batch_micros();
  }

  // Also runs the commands that waited for the keys which this one has created.
  bool Execute(Client& client, Args args) override;
  void RejectUnknown(Client& client, Args args) override;
  bool Unblock(Client& client, std::string_view error) override;
  // Replies to a blocked client whose time is over, or for which enough replicas have acknowledged
  // the stream.
  void TimeOut(Client& client);

  // What the client's command waits for has come, and is no key: runs the command again, which may
  // wait once more.
  void RunAgain(Client& client) {
    BeginBatch();
    RunBlocked(client, nullptr);
  }

  // These run a command without the checks that only a request needs: for EXEC, for a script, and
  // for the log.
  void Run(Client& client, const CommandEntry& entry, Args args) override;
  void RunFromScript(Client& client, const Client& caller, Args args,
                     ScriptRights& rights) override;
  void Replay(Client& client, const CommandEntry& entry, Args args) override;
  void Follow(Client& client, const CommandEntry& entry, Args args) override;

 private:
  bool ExecuteOfReplica(Client& client, Args args);
  // Calls the handler, and notes what it has changed.
  void Call(ServerContext& context);
  // Counts the changes. Appends the command to the stream of effects, unless the handler has
  // appended its own effect.
  void NoteChange(ServerContext& context);
  // The effect of a command that has logged none itself: its own words.
  void AppendCall(const ServerContext& context);
  const CommandEntry* Resolve(Client& client, Args args);
  bool Admit(Client& client, const CommandEntry& entry, Args args);
  void Reject(Client& client, const CommandEntry* entry, std::string_view error);
  // Ends the connection if the word shows that the request is HTTP (POST or Host:), as Redis does.
  // Returns whether it did.
  bool RefuseBrowser(Client& client, std::string_view word);
  std::string HelpHint(std::string_view word) const;
  void Queue(Client& client, const CommandEntry& entry, Args args);
  static void TakePushes(Client& client);
  // Called after a reply, which begins at `reply_begin` of the client's output.
  void FinishReply(Client& client, size_t reply_begin);
  // Runs the commands that wait for keys which are there now. Who waits longest is served first.
  void ServeReady();
  // `key` is the one that is there now; null if the command does not wait for keys.
  void RunBlocked(Client& client, const std::string_view* key);
  void EndWait(Client& client, std::string_view error);
  void ApplyReplyMode(Client& client, size_t reply_begin);

  Services& server_;
  Admission admission_;
  CallRecorder recorder_;
  int64_t batch_begin_us_ = 0;
  int64_t last_micros_ = 0;  // when the last command ended
  int64_t browser_warned_ms_ = 0;
};

}  // namespace tally::server
