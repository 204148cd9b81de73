// Takes what an engine holds out of it while other data is loaded, and can put it back.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/engine/engine.h"
#include "core/limit/policy_table.h"

namespace tally::server {

// No snapshot of the engine may be under way. The engine must outlive this object, to whose
// reclaimer goes what is outside of the engine in the end.
class DataSetAside {
 public:
  // The engine is empty afterwards.
  explicit DataSetAside(Engine& engine) : engine_(engine) {
    for (size_t i = 0; i < engine.databases(); ++i) {
      databases_.push_back(std::make_unique<Keyspace>(engine.seed(), engine.reclaimer()));
    }
    Exchange();
  }
  DataSetAside(const DataSetAside&) = delete;
  DataSetAside& operator=(const DataSetAside&) = delete;

  // Once: what the engine holds instead is dropped with this object.
  void PutBack() { Exchange(); }

 private:
  void Exchange() {
    for (size_t i = 0; i < databases_.size(); ++i) databases_[i]->Swap(engine_.database(i));
    std::swap(policies_, engine_.policies());
  }

  Engine& engine_;
  std::vector<std::unique_ptr<Keyspace>> databases_;
  PolicyTable policies_;
};

}  // namespace tally::server
