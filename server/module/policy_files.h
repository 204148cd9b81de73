// Saves the policies in the server's files and loads them. Policies belong to no key, but to the
// server as a whole:
//   * In an RDB, which is also what a replica loads from its primary, they come before the keys.
//   * An AOF that begins with a preamble has them in the preamble. Without one, each rewrite writes
//     them into the log that continues the new base. Nothing in the base needs them, because
//     effects spell out the rules of a policy. While the server's clients are paused nothing may be
//     written into the log, so that the policies wait until the pause has ended.
// A replica that serves its old data while it loads new data keeps the old policies until the end.
#pragma once

#include "core/engine/engine.h"
#include "core/limit/policy_table.h"
#include "server/module/redis_module.h"

namespace tally::module {

class PolicyFiles {
 public:
  explicit PolicyFiles(Engine& engine) : engine_(engine) {}

  // Subscribes to the server's events about loading, forks and its cron. Returns false if the
  // server refuses.
  bool Subscribe(redis::Context* context);

  void Save(redis::Io* io) const;
  // Returns false for data that Save does not write, or that cannot be read.
  [[nodiscard]] bool Load(redis::Io* io);

  // The server begins to load data that replaces its own. An asynchronous load keeps the old
  // policies until EndAsyncLoad.
  void BeginLoad();
  void BeginAsyncLoad();
  void EndAsyncLoad(bool completed);
  // The server has forked a child. If that rewrites the AOF, the policies are due in the log.
  void AfterFork(redis::Context* context);
  // Writes the policies to the log if they are due and the server's clients are not paused.
  void LogIfDue(redis::Context* context);

 private:
  PolicyTable& target() { return is_async_ ? loading_ : engine_.policies(); }

  Engine& engine_;
  bool is_async_ = false;
  bool is_log_due_ = false;
  PolicyTable loading_;
};

// Sets the callbacks with which a type saves and loads the policies.
void AddPolicyMethods(redis::TypeMethods& methods);

}  // namespace tally::module
