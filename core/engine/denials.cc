#include "core/engine/denials.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

namespace tally {
namespace {

uint16_t Short(size_t number) { return static_cast<uint16_t>(std::min<size_t>(number, 65535)); }

}  // namespace

Denials::Denials(uint64_t seed)
    : seed_(seed),
      windows_{WindowTop(60'000, kNames), WindowTop(300'000, kNames),
               WindowTop(3'600'000, kNames)} {}

void Denials::Add(const Key& key, const Cause& cause, int64_t now_ms) {
  if (now_ms / kStepMs != recent_step_) {
    Flush(now_ms);
    recent_step_ = now_ms / kStepMs;
  }
  const uint64_t id = cause.id * 4 + cause.kind;
  const uint16_t database = Short(key.database);
  const uint16_t place = Short(cause.place);
  constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15;
  const uint64_t seed = seed_ + id + (uint64_t{database} << 16 | place) * kMultiplier;
  const uint64_t hash = XXH3_64bits_withSeed(key.name.data(), key.name.size(), seed);
  recent_.Add(std::max<uint64_t>(hash, 1), now_ms, [&](TopItem& item) {
    item.key.Set(key.name);
    item.label = LabelOf(id, cause);
    item.kind = cause.kind;
    item.database = database;
    item.place = place;
  });
}

// There are few rules and policies. If there are more than places, a label replaces the one in its
// place.
const ShortText<40>& Denials::LabelOf(uint64_t id, const Cause& cause) {
  Label& label = labels_[(id >> 2) % kLabels];
  if (label.cause != id) label = {id, ShortText<40>(cause.label())};
  return label.text;
}

void Denials::Flush(int64_t now_ms) {
  const uint64_t missed = recent_.bound();
  for (WindowTop& window : windows_) {
    window.AddMissed(missed, recent_step_ * kStepMs, now_ms);
    recent_.ForEach([&](const TopItem& item) { window.Add(item, now_ms); });
  }
  recent_.Clear();
}

std::vector<TopItem> Denials::Top(Window window, int64_t now_ms) {
  Flush(now_ms);
  return windows_[static_cast<size_t>(window)].Top(now_ms);
}

uint64_t Denials::bound(Window window, int64_t now_ms) {
  Flush(now_ms);
  return windows_[static_cast<size_t>(window)].bound(now_ms);
}

size_t Denials::MemoryBytes() const {
  size_t bytes = recent_.MemoryBytes();
  for (const WindowTop& window : windows_) bytes += window.MemoryBytes();
  return bytes;
}

}  // namespace tally
