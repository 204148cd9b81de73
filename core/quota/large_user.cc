#include "core/quota/large_user.h"

#include <absl/hash/hash.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/base/check.h"
#include "core/base/saturating.h"

namespace tally {
namespace {

// About what a node of a std::map with its key takes.
constexpr size_t kNodeBytes = 80;

// Nodes of a btree are about three quarters full.
template <typename Tree>
size_t BytesOf(const Tree& tree) {
  return tree.size() * sizeof(typename Tree::value_type) * 4 / 3;
}

using FirstOfChunks = absl::btree_map<uint32_t, int64_t>;
using ByInstant = absl::btree_set<std::pair<int64_t, uint32_t>>;

void PutFirst(FirstOfChunks& firsts, ByInstant& by_instant, uint32_t chunk, int64_t first_ms) {
  const auto [at, is_new] = firsts.try_emplace(chunk, first_ms);
  if (!is_new) {
    if (at->second == first_ms) return;
    by_instant.erase({at->second, chunk});
    at->second = first_ms;
  }
  by_instant.insert({first_ms, chunk});
}

void RemoveFirst(FirstOfChunks& firsts, ByInstant& by_instant, uint32_t chunk) {
  const auto at = firsts.find(chunk);
  if (at == firsts.end()) return;
  by_instant.erase({at->second, chunk});
  firsts.erase(at);
}

}  // namespace

uint32_t LargeUser::HashOf(const QuotaId& order) {
  return static_cast<uint32_t>(absl::HashOf(order));
}

void LargeUser::SetChunk(uint32_t chunk, std::span<const PurchaseLine> kept) {
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  int64_t ts_ms = kNone;
  int64_t hold_end_ms = kNone;
  bool any_held = false;
  for (const PurchaseLine& line : kept) {
    ts_ms = std::min(ts_ms, line.ts_ms);
    if (!line.is_held()) continue;
    any_held = true;
    hold_end_ms = std::min(hold_end_ms, line.HeldUntil());
  }
  PutFirst(chunks, by_time, chunk, ts_ms);
  if (any_held) {
    PutFirst(held_chunks, by_hold_end, chunk, hold_end_ms);
  } else {
    RemoveFirst(held_chunks, by_hold_end, chunk);
  }
}

void LargeUser::RemoveChunk(uint32_t chunk) {
  RemoveFirst(chunks, by_time, chunk);
  RemoveFirst(held_chunks, by_hold_end, chunk);
}

bool LargeUser::IsDue(uint32_t chunk, const Retention::Moment& at) const {
  if (chunks.at(chunk) <= at.horizon_ms) return true;
  const auto held = held_chunks.find(chunk);
  return held != held_chunks.end() && held->second <= at.now_ms;
}

void LargeUser::NoteHold(const PurchaseLine& line) {
  if (!line.is_held()) return;
  longest_hold_ms = std::max(longest_hold_ms, SaturatingSub(line.HeldUntil(), line.ts_ms));
}

int64_t LargeUser::ClearedThrough(BookId sku, BookId action) const {
  if (cleared.empty()) return RecordingOrder::kNever;
  const auto found = cleared.find({sku, action});
  return found == cleared.end() ? RecordingOrder::kNever : found->second;
}

void LargeUser::AddToSums(const PurchaseLine& line) {
  QuantitySums& all = line.is_held() ? held_sums : sums;
  // What is not in the sums has no part in their answers.
  if (held_sums.empty()) longest_hold_ms = 0;
  NoteHold(line);
  ForEachTotal(line, [&](BookId action) { all.Add(SumKey(line, action), line.qty); });
}

void LargeUser::TakeFromSums(const PurchaseLine& line) {
  QuantitySums& all = line.is_held() ? held_sums : sums;
  ForEachTotal(line, [&](BookId action) { all.Subtract(SumKey(line, action), line.qty); });
}

std::vector<uint32_t> LargeUser::NumbersOf(const HashIndex& index, uint32_t hash) {
  std::vector<uint32_t> found;
  for (auto at = index.lower_bound({hash, 0}); at != index.end() && at->first == hash; ++at) {
    found.push_back(at->second);
  }
  return found;
}

size_t LargeUser::MemoryBytes() const {
  return sizeof(*this) + BytesOf(chunks) + BytesOf(by_time) + BytesOf(held_chunks) +
         BytesOf(by_hold_end) + BytesOf(mark_chunks) + BytesOf(orders) + BytesOf(marks_by_order) +
         BytesOf(marks_by_hash) + BytesOf(cleared) + sums.MemoryBytes() + held_sums.MemoryBytes();
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
    same.held_chunks = user->held_chunks;
    same.by_hold_end = user->by_hold_end;
    same.marks = user->marks;
    same.mark_chunks = user->mark_chunks;
    same.gone_through_ms = user->gone_through_ms;
    copy->Account(same);
  }
  chunks.ForEach([&](const RecordTable::Record& record) {
    const RecordTable::Record same = copy->chunks.Insert(record.key(), record.size());
    std::memcpy(same.data(), record.data(), record.size());
  });
  return copy;
}

}  // namespace tally
