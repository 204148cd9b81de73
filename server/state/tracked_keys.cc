#include "server/state/tracked_keys.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <cstring>

#include "core/bytes/varint.h"

namespace tally::server {
namespace {

using IsThere = TrackedKeys::IsThere;
using Record = RecordTable::Record;

// A record's payload is the ids as varints, or, if they are more bytes than this, the address of a
// set, which is padded so that its size tells it from ids.
constexpr size_t kMostPacked = 15;
constexpr size_t kSetPayload = kMostPacked + 1;

constexpr size_t kLeastCleaned = 16;

struct ClientSet {
  absl::flat_hash_set<uint64_t> ids;
  // At this size the ids of clients that are gone are removed. Without that a key that never
  // changes would gather all clients that ever were.
  size_t clean_at = kLeastCleaned;
};

// Null if the record holds packed ids.
ClientSet* SetOf(const Record& record) {
  if (record.size() != kSetPayload) return nullptr;
  ClientSet* set = nullptr;
  std::memcpy(&set, record.data(), sizeof(void*));
  return set;
}

template <typename Visit>
void ForEachPacked(std::string_view payload, Visit&& visit) {
  uint64_t id = 0;
  while (ReadVarint(payload, id)) visit(id);
}

// Returns how many ids were added less those that were removed.
ptrdiff_t AddToSet(ClientSet& set, uint64_t client, IsThere is_there) {
  const auto before = static_cast<ptrdiff_t>(set.ids.size());
  if (set.ids.size() >= set.clean_at && !set.ids.contains(client)) {
    absl::erase_if(set.ids, [&](uint64_t id) { return !is_there(id); });
    set.clean_at = std::max(kLeastCleaned, 2 * set.ids.size());
  }
  set.ids.insert(client);
  return static_cast<ptrdiff_t>(set.ids.size()) - before;
}

}  // namespace

void TrackedKeys::Add(std::string_view key, uint64_t client, IsThere is_there) {
  const uint64_t hash = table_.Hash(key);
  const Record found = table_.Find(key, hash);
  if (!found) {
    WriteVarint(table_.Insert(key, hash, VarintBytes(client)).data(), client);
    ++items_;
  } else if (ClientSet* set = SetOf(found)) {
    items_ += static_cast<size_t>(AddToSet(*set, client, is_there));
  } else {
    AddToPacked(found, client, is_there);
  }
}

void TrackedKeys::AddToPacked(const Record& record, uint64_t client, IsThere is_there) {
  bool known = false;
  ForEachPacked(record.payload(), [&](uint64_t id) { known |= id == client; });
  if (known) return;
  const size_t size = record.size();
  const size_t needed = size + VarintBytes(client);
  if (needed <= kMostPacked) {
    WriteVarint(table_.Resize(record, needed).data() + size, client);
    ++items_;
    return;
  }
  auto set = std::make_unique<ClientSet>();
  ForEachPacked(record.payload(), [&](uint64_t id) {
    --items_;
    if (is_there(id)) set->ids.insert(id);
  });
  set->ids.insert(client);
  items_ += set->ids.size();
  ClientSet* const owned = set.release();
  std::memcpy(table_.Resize(record, kSetPayload).data(), &owned, sizeof(void*));
}

void TrackedKeys::Take(std::string_view key, std::vector<uint64_t>& clients) {
  const Record record = table_.Find(key);
  if (!record) return;
  const size_t before = clients.size();
  if (const ClientSet* set = SetOf(record)) {
    clients.insert(clients.end(), set->ids.begin(), set->ids.end());
    delete set;
  } else {
    ForEachPacked(record.payload(), [&](uint64_t id) { clients.push_back(id); });
  }
  items_ -= clients.size() - before;
  table_.Erase(record);
}

void TrackedKeys::Clear() {
  FreeSets();
  table_.Clear();
  items_ = 0;
}

void TrackedKeys::FreeSets() {
  table_.ForEach([](const Record& record) { delete SetOf(record); });
}

}  // namespace tally::server
