// Saves the policies in the server's files and loads them. Policies belong to no key, but to the
// server as a whole:
//   * In an RDB, which is also what a replica loads from its primary, and in the preamble of an
//   AOF,
//     they come before the keys.
//   * The base of an AOF without a preamble holds nothing but what the types of keys write. So the
//     child that writes the base gets a key whose type writes the policies. That key is in the
//     child's memory only. With a preamble the child removes it again before the keys are saved.
// So each base has the policies as they were when it was begun, and a base never replaces another
// one without them. The log that continues the base has what is changed later.
// A replica that serves its old data while it loads new data keeps the old policies until the end.
#pragma once

#include <string>

#include "core/engine/engine.h"
#include "core/limit/policy_table.h"
#include "server/module/redis_module.h"

namespace tally::module {

class PolicyFiles {
 public:
  explicit PolicyFiles(Engine& engine) : engine_(engine) {}

  // Registers the type of the key in which a child carries the policies. Must be called while the
  // server loads the module. Returns false if the server refuses.
  bool Register(redis::Context* context);
  // Subscribes to the server's events about loading and saving. Returns false if the server
  // refuses.
  bool Subscribe(redis::Context* context);

  // Returns false for data that Save does not write, or that cannot be read.
  [[nodiscard]] bool Load(redis::Io* io);
  void Save(redis::Io* io);

  // The server begins to load data that replaces its own. An asynchronous load keeps the old
  // policies until EndAsyncLoad.
  void BeginLoad();
  void BeginAsyncLoad();
  void EndAsyncLoad(bool completed);
  // Makes the key that carries the policies. For a child that is about to write the base of an AOF.
  void AddCarrier(redis::Context* context);
  // Writes the policies as commands to an AOF.
  void Rewrite(redis::Io* io) const;

 private:
  PolicyTable& target() { return is_async_ ? loading_ : engine_.policies(); }
  void RemoveCarrier();

  Engine& engine_;
  redis::Type* carrier_type_ = nullptr;
  std::string carrier_;  // the name of the key; empty if there is none
  bool is_async_ = false;
  PolicyTable loading_;
};

// Sets the callbacks with which a type saves and loads the policies.
void AddPolicyMethods(redis::TypeMethods& methods);

}  // namespace tally::module
