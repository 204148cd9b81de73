// Which clients have read which key since it last changed (CLIENT TRACKING). A key that one client
// has read costs its bytes, 1 to 3 bytes for the id of the client, and about 10 of index.
#pragma once

#include <absl/functional/function_ref.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/table/record_table.h"

namespace tally::server {

class TrackedKeys {
 public:
  // Whether a client is still there. Ids are never used again, so that those of clients that are
  // gone may stay until somebody comes across them.
  using IsThere = absl::FunctionRef<bool(uint64_t client)>;

  // `seed` keys the hash table: clients choose the keys.
  explicit TrackedKeys(uint64_t seed) : table_(seed) {}
  ~TrackedKeys() { FreeSets(); }
  TrackedKeys(const TrackedKeys&) = delete;
  TrackedKeys& operator=(const TrackedKeys&) = delete;

  // Amortised O(1), however many clients have read the key.
  void Add(std::string_view key, uint64_t client, IsThere is_there);
  // Forgets the key, and appends the clients that have read it to `clients`. O(1) and O(clients).
  void Take(std::string_view key, std::vector<uint64_t>& clients);
  void Clear();

  // A key that the random number chooses; there must be one.
  std::string Sample(uint64_t random) const { return std::string(table_.Sample(random).key()); }

  size_t keys() const { return table_.size(); }
  // The ids that are held, over all keys.
  size_t items() const { return items_; }

 private:
  void AddToPacked(const RecordTable::Record& record, uint64_t client, IsThere is_there);
  void FreeSets();

  RecordTable table_;
  size_t items_ = 0;
};

}  // namespace tally::server
