#include "core/engine/denials.h"

namespace tally {

Denials::Denials(uint64_t seed)
    : seed_(seed),
      windows_{WindowTop(60'000, kNames), WindowTop(300'000, kNames),
               WindowTop(3'600'000, kNames)} {}

void Denials::Add(std::string_view key, std::string_view label, Kind kind, int64_t now) {
  const SketchName name{.key = key, .label = label, .kind = kind};
  const uint64_t hash = HashOf(name, seed_);
  for (WindowTop& window : windows_) window.Add(hash, name, 1, now);
}

std::vector<TopItem> Denials::Top(Window window, int64_t now) const {
  return windows_[static_cast<size_t>(window)].Top(now);
}

uint64_t Denials::bound(Window window, int64_t now) const {
  return windows_[static_cast<size_t>(window)].bound(now);
}

void Denials::Clear() {
  for (WindowTop& window : windows_) window.Clear();
}

size_t Denials::MemoryBytes() const {
  size_t bytes = 0;
  for (const WindowTop& window : windows_) bytes += window.MemoryBytes();
  return bytes;
}

}  // namespace tally
