// The policies in what the server saves. They are of no key, and belong to the server as a whole:
//   * in an RDB, and so on a replica that takes over a primary's data, they come before the keys;
//   * an AOF that begins with a preamble has them in that. For one without, each rewrite puts them
//     into the log that the new base is continued by: rules that effects name are spelled out, so
//     nothing in the base needs them.
// A replica that serves its old data while it takes over new data has the old policies until then.
#pragma once

#include "core/engine/engine.h"
#include "core/limit/policy_table.h"
#include "server/module/redis_module.h"

namespace tally::module {

class PolicyFiles {
 public:
  explicit PolicyFiles(Engine& engine) : engine_(engine) {}

  // Subscribes to what the server says of its data. False if it refuses.
  bool Subscribe(redis::Context* context);

  void Save(redis::Io* io) const;
  // False for what Save does not write.
  [[nodiscard]] bool Load(redis::Io* io);

  // The server begins to load data in place of what it has.
  void BeginLoad();
  void BeginAsyncLoad();
  void EndAsyncLoad(bool completed);
  // A child process was made, perhaps for a rewrite of the AOF.
  void AfterFork(redis::Context* context) const;

 private:
  PolicyTable& target() { return is_async_ ? loading_ : engine_.policies(); }

  Engine& engine_;
  bool is_async_ = false;
  PolicyTable loading_;
};

// The callbacks by which a type saves and loads the policies.
void AddPolicyMethods(redis::TypeMethods& methods);

}  // namespace tally::module
