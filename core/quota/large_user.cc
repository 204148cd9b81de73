#include "core/quota/large_user.h"

#include <absl/hash/hash.h>

#include <algorithm>
#include <cstring>

#include "core/base/check.h"

namespace tally {
namespace {

// About what a node of a std::map with its key takes.
constexpr size_t kNodeBytes = 80;

// Nodes of a btree are about three quarters full.
template <typename Tree>
size_t BytesOf(const Tree& tree) {
  return tree.size() * sizeof(typename Tree::value_type) * 4 / 3;
}

}  // namespace

uint32_t LargeUser::HashOf(const QuotaId& order) {
  return static_cast<uint32_t>(absl::HashOf(order));
}

void LargeUser::SetEarliest(uint32_t chunk, int64_t ts_ms) {
  const auto [at, is_new] = chunks.try_emplace(chunk, ts_ms);
  if (!is_new) {
    if (at->second == ts_ms) return;
    by_time.erase({at->second, chunk});
    at->second = ts_ms;
  }
  by_time.insert({ts_ms, chunk});
}

void LargeUser::RemoveChunk(uint32_t chunk) {
  const auto at = chunks.find(chunk);
  by_time.erase({at->second, chunk});
  chunks.erase(at);
}

int64_t LargeUser::ClearedThrough(BookId sku, BookId action) const {
  if (cleared.empty()) return RecordingOrder::kNever;
  const auto found = cleared.find({sku, action});
  return found == cleared.end() ? RecordingOrder::kNever : found->second;
}

void LargeUser::AddToSums(const PurchaseLine& line) {
  ForEachTotal(line, [&](BookId action) { sums.Add({line.sku, action, line.ts_ms}, line.qty); });
}

void LargeUser::TakeFromSums(const PurchaseLine& line) {
  ForEachTotal(line,
               [&](BookId action) { sums.Subtract({line.sku, action, line.ts_ms}, line.qty); });
}

std::vector<uint32_t> LargeUser::NumbersOf(const HashIndex& index, uint32_t hash) {
  std::vector<uint32_t> found;
  for (auto at = index.lower_bound({hash, 0}); at != index.end() && at->first == hash; ++at) {
    found.push_back(at->second);
  }
  return found;
}

size_t LargeUser::MemoryBytes() const {
  return sizeof(*this) + BytesOf(chunks) + BytesOf(by_time) + BytesOf(mark_chunks) +
         BytesOf(orders) + BytesOf(marks_by_order) + BytesOf(marks_by_hash) + BytesOf(cleared) +
         sums.MemoryBytes();
}

std::string LargeUsers::ChunkKey(std::string_view user, uint32_t number) {
  std::string key(user);
  key.append(reinterpret_cast<const char*>(&number), sizeof number);
  return key;
}

std::string_view LargeUsers::UserOf(std::string_view chunk_key) {
  return chunk_key.substr(0, chunk_key.size() - sizeof(uint32_t));
}

uint32_t LargeUsers::NumberOf(std::string_view chunk_key) {
  uint32_t number = 0;
  std::memcpy(&number, chunk_key.data() + chunk_key.size() - sizeof number, sizeof number);
  return number;
}

LargeUser* LargeUsers::Find(std::string_view user) const {
  const auto found = users.find(user);
  return found == users.end() ? nullptr : found->second.get();
}

OpenChunk LargeUsers::Read(std::string_view user, uint32_t number) const {
  const RecordTable::Record record = chunks.Find(ChunkKey(user, number));
  Check(static_cast<bool>(record), "a large user's chunks are there");
  OpenChunk chunk;
  chunk.number = number;
  Check(DecodePurchases(record.payload(), chunk.purchases), "a stored chunk is well-formed");
  chunk.stored_lines = chunk.purchases.lines.size();
  return chunk;
}

std::vector<ReturnMark> LargeUsers::ReadMarks(std::string_view user, uint32_t number) const {
  const RecordTable::Record record = chunks.Find(ChunkKey(user, number));
  Check(static_cast<bool>(record), "a large user's returns are there");
  std::vector<ReturnMark> marks;
  Check(DecodeMarks(record.payload(), marks), "stored returns are well-formed");
  return marks;
}

LargeUser& LargeUsers::Add(std::string_view user) {
  auto& found = users[std::string(user)];
  if (found == nullptr) found = std::make_unique<LargeUser>();
  return *found;
}

void LargeUsers::Remove(std::string_view user) {
  const auto found = users.find(user);
  index_bytes -= found->second->accounted_bytes;
  users.erase(found);
}

void LargeUsers::Account(LargeUser& user) {
  index_bytes -= user.accounted_bytes;
  user.accounted_bytes = user.MemoryBytes();
  index_bytes += user.accounted_bytes;
}

size_t LargeUsers::MemoryBytes() const {
  return sizeof(*this) + chunks.MemoryBytes() + users.size() * kNodeBytes + index_bytes;
}

bool LargeUsers::FreeSome(size_t segments) {
  if (!chunks.FreeSome(segments)) return false;
  for (; segments > 0 && !users.empty(); --segments) users.erase(users.begin());
  return users.empty();
}

std::unique_ptr<LargeUsers> LargeUsers::Clone(uint64_t seed) const {
  auto copy = std::make_unique<LargeUsers>(seed);
  for (const auto& [key, user] : users) {
    LargeUser& same = copy->Add(key);
    same.lines = user->lines;
    same.chunks = user->chunks;
    same.by_time = user->by_time;
    same.marks = user->marks;
    same.mark_chunks = user->mark_chunks;
    same.gone_through = user->gone_through;
    copy->Account(same);
  }
  chunks.ForEach([&](const RecordTable::Record& record) {
    const RecordTable::Record same = copy->chunks.Insert(record.key(), record.size());
    std::memcpy(same.data(), record.data(), record.size());
  });
  return copy;
}

}  // namespace tally
