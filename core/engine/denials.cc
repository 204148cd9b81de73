#include "core/engine/denials.h"

#include <xxhash.h>

namespace tally {

Denials::Denials(uint64_t seed)
    : seed_(seed),
      windows_{WindowTop(60'000, kNames), WindowTop(300'000, kNames),
               WindowTop(3'600'000, kNames)} {}

void Denials::Add(std::string_view key, const Cause& cause, int64_t now) {
  if (pending_.empty()) pending_.resize(kPending);
  const uint64_t hash =
      XXH3_64bits_withSeed(key.data(), key.size(), seed_ + cause.id * 2 + cause.kind);
  TopItem& pending = pending_[hash % kPending];
  if (pending.hash == hash && pending.count > 0 && pending.last_ms / kStepMs == now / kStepMs) {
    ++pending.count;
    pending.last_ms = now;
    return;
  }
  Flush(pending, now);
  const std::string label = cause.label();
  pending = SpaceSaving::ItemOf(hash, {.key = key, .label = label, .kind = cause.kind}, 1, now);
}

void Denials::Flush(TopItem& pending, int64_t now) {
  if (pending.count == 0) return;
  for (WindowTop& window : windows_) window.Add(pending, now);
  pending.count = 0;
}

void Denials::FlushAll(int64_t now) {
  for (TopItem& pending : pending_) Flush(pending, now);
}

std::vector<TopItem> Denials::Top(Window window, int64_t now) {
  FlushAll(now);
  return windows_[static_cast<size_t>(window)].Top(now);
}

uint64_t Denials::bound(Window window, int64_t now) {
  FlushAll(now);
  return windows_[static_cast<size_t>(window)].bound(now);
}

size_t Denials::MemoryBytes() const {
  size_t bytes = pending_.capacity() * sizeof(TopItem);
  for (const WindowTop& window : windows_) bytes += window.MemoryBytes();
  return bytes;
}

}  // namespace tally
