#include "core/limit/limit_state.h"

#include <algorithm>
#include <limits>

#include "core/base/check.h"
#include "core/bytes/heap_size.h"
#include "core/limit/held_hits.h"
#include "core/limit/holds.h"
#include "core/limit/limit_codec.h"
#include "core/time/duration.h"

namespace tally {
namespace {

// In place of a counter's head it says that only padding follows.
constexpr char kPad = 0;
// In place of a counter's head it says that holds follow.
constexpr char kHoldsHead = 8;

using Algorithm = LimitAlgorithm;

}  // namespace

LimitState::LimitState() = default;
LimitState::~LimitState() = default;
LimitState::LimitState(LimitState&&) noexcept = default;
LimitState& LimitState::operator=(LimitState&&) noexcept = default;

Holds& LimitState::FindOrAddHolds() {
  if (holds_ == nullptr) holds_ = std::make_unique<Holds>();
  return *holds_;
}

int64_t LimitState::concurrent(bool shadow) const {
  if (holds_ == nullptr) return 0;
  if (ended_ == nullptr) return holds_->concurrent(shadow);
  return holds_->concurrent(shadow) - (shadow ? ended_->shadow_concurrent : ended_->concurrent);
}

void LimitState::DropEmptyHolds() {
  if (holds_ != nullptr && holds_->empty()) holds_ = nullptr;
}

const LimitCounter* LimitState::Find(const LimitKey& key) const {
  if (found_ < counters_.size() && counters_[found_].key == key) return &counters_[found_];
  for (size_t i = 0; i < counters_.size(); ++i) {
    if (counters_[i].key != key) continue;
    found_ = i;
    return &counters_[i];
  }
  return nullptr;
}

LimitCounter& LimitState::FindOrAdd(const LimitKey& key) {
  if (LimitCounter* counter = Find(key)) return *counter;
  LimitCounter& added = counters_.emplace_back();
  added.key = key;
  if (key.algorithm == Algorithm::kSliding) {
    added.log = spare_log_ != nullptr ? std::move(spare_log_) : std::make_unique<TimeLog>();
  }
  return added;
}

void LimitState::Clear() {
  for (LimitCounter& counter : counters_) {
    if (counter.log == nullptr) continue;
    spare_log_ = std::move(counter.log);
    spare_log_->Clear();
  }
  counters_.clear();
  holds_ = nullptr;
}

size_t LimitState::Weight() const {
  uint64_t weight = counters_.size() + (holds_ == nullptr ? 0 : holds_->size());
  for (const LimitCounter& counter : counters_) {
    if (counter.log != nullptr) weight += counter.log->size();
  }
  return static_cast<size_t>(weight);
}

int64_t LimitState::ExpiresAt() const {
  if (counters_.size() == 1 && holds_ == nullptr) [[likely]]
    return counters_.front().ExpiresAt();
  int64_t latest_ms = holds_ == nullptr ? 0 : holds_->ends_at_ms();
  if (last_ < counters_.size()) latest_ms = std::max(latest_ms, counters_[last_].ExpiresAt());
  for (size_t i = 0; i < counters_.size(); ++i) {
    const LimitCounter& counter = counters_[i];
    if (!counter.HasExpiredAt(latest_ms)) {
      latest_ms = counter.ExpiresAt();
      last_ = i;
    }
    // If a hold ends, its block may end too, and what is left of the period counts again.
    if (holds_ != nullptr && counter.key.algorithm == Algorithm::kLockout) {
      latest_ms = std::max(latest_ms, counter.numbers.window.end_ms + counter.late_ms);
    }
  }
  return latest_ms;
}

void LimitState::Prune(int64_t now_ms) {
  const auto dead = [now_ms](const LimitCounter& counter) { return counter.HasExpiredAt(now_ms); };
  const auto first = std::ranges::find_if(counters_, dead);
  if (first == counters_.end()) return;
  counters_.erase(std::remove_if(first, counters_.end(), dead), counters_.end());
}

void LimitState::Give(int64_t count, int64_t now_ms, int64_t at_ms) {
  Prune(now_ms);
  if (at_ms >= now_ms) at_ms = kMaxInstantMs;
  HeldHits held(*this, now_ms);
  for (LimitCounter& counter : counters_) counter.Give(count, at_ms, now_ms - counter.late_ms);
  held.PutBack();
  Prune(now_ms);
}

bool LimitState::Load(std::string_view bytes) {
  while (!bytes.empty()) {
    if (bytes.front() == kPad) return bytes.find_first_not_of(kPad) == std::string_view::npos;
    if (bytes.front() == kHoldsHead) {
      bytes.remove_prefix(1);
      if (!FindOrAddHolds().Load(bytes)) return false;
      continue;
    }
    LimitKey key;
    int64_t late_ms = 0;
    if (!ReadLateness(bytes, late_ms) || !ReadLimitKey(bytes, key)) return false;
    if (counters_.size() >= kMostLoaded && Find(key) == nullptr) return false;
    LimitCounter& counter = FindOrAdd(key);
    counter.late_ms = late_ms;
    if (key.algorithm != Algorithm::kSliding) {
      if (!ReadLimitNumbers(bytes, key, counter.numbers)) return false;
      continue;
    }
    if (!counter.log->Load(bytes)) return false;
  }
  return true;
}

void LimitState::Encode(std::string& out) const {
  for (uint64_t cursor = 0;;) {
    cursor = Save(cursor, std::numeric_limits<size_t>::max(), out);
    if (cursor == 0) return;
  }
}

void LimitState::EncodeCounters(std::string& out) const {
  for (const LimitCounter& counter : counters_) {
    AppendLateness(out, counter.late_ms);
    if (counter.log == nullptr) {
      AppendLimitCounter(out, counter.key, counter.numbers);
      continue;
    }
    AppendLimitKey(out, counter.key);
    for (uint64_t cursor = 0;;) {
      cursor = counter.log->Save(cursor, SIZE_MAX, out);
      if (cursor == 0) break;
    }
  }
}

bool LimitState::SavePacked(std::string& out) const {
  Check(out.empty(), "a packed state is alone");
  bool has_log = false;
  // As Save does, but for what it needs to stop and go on: nearly every decision passes here.
  for (const LimitCounter& counter : counters_) {
    AppendLateness(out, counter.late_ms);
    if (counter.log == nullptr) {
      AppendLimitCounter(out, counter.key, counter.numbers);
      continue;
    }
    has_log = true;
    AppendLimitKey(out, counter.key);
    if (counter.log->Save(0, SIZE_MAX, out) != 0) return false;
  }
  if (holds_ != nullptr) [[unlikely]] {
    out.push_back(kHoldsHead);
    if (holds_->Save(0, SIZE_MAX, out) != 0) return false;
  }
  if (out.size() > kMaxPackedBytes) return false;
  if (has_log) out.append((kPadding - out.size() % kPadding) % kPadding, kPad);
  return true;
}

size_t LimitState::MemoryBytes() const {
  size_t bytes = HeapBytes(sizeof(*this));
  if (counters_.capacity() > 2) bytes += HeapBytes(counters_.capacity() * sizeof(LimitCounter));
  for (const LimitCounter& counter : counters_) {
    if (counter.log != nullptr) bytes += HeapBytes(sizeof(TimeLog)) + counter.log->HeapBytesUsed();
  }
  if (holds_ != nullptr) bytes += holds_->MemoryBytes();
  if (spare_log_ != nullptr) {
    bytes += HeapBytes(sizeof(TimeLog)) + spare_log_->HeapBytesUsed();
  }
  return bytes;
}

void LimitState::CopyCounters(const LimitState& from) {
  for (const LimitCounter& counter : from.counters_) {
    LimitCounter& added = counters_.emplace_back();
    added.key = counter.key;
    added.numbers = counter.numbers;
    added.late_ms = counter.late_ms;
    if (counter.log != nullptr) added.log = std::make_unique<TimeLog>(*counter.log);
  }
}

std::unique_ptr<LimitState> LimitState::Clone() const {
  auto copy = std::make_unique<LimitState>();
  copy->CopyCounters(*this);
  if (holds_ != nullptr) copy->holds_ = holds_->Clone();
  return copy;
}

bool LimitState::FreeSome(size_t budget) {
  if (holds_ != nullptr) {
    if (!holds_->FreeSome(budget)) return false;
    holds_ = nullptr;
  }
  while (!counters_.empty()) {
    TimeLog* log = counters_.back().log.get();
    if (log != nullptr && !log->FreeSome(budget)) return false;
    counters_.pop_back();
  }
  return true;
}

uint64_t LimitState::Save(uint64_t cursor, size_t max_bytes, std::string& out) const {
  // The upper bits of the cursor are the counter's index, or how many there are for the holds; the
  // lower 48 the cursor in its log, which counts blocks, or in the holds.
  constexpr int kLogCursorBits = 48;
  constexpr uint64_t kLogCursorMask = (uint64_t{1} << kLogCursorBits) - 1;
  const size_t begin = out.size();
  size_t index = static_cast<size_t>(cursor >> kLogCursorBits);
  uint64_t in_log = cursor & kLogCursorMask;
  for (; index < counters_.size(); ++index, in_log = 0) {
    const LimitCounter& counter = counters_[index];
    const size_t used = out.size() - begin;
    if (used >= max_bytes) return static_cast<uint64_t>(index) << kLogCursorBits;
    AppendLateness(out, counter.late_ms);
    if (counter.log == nullptr) {
      AppendLimitCounter(out, counter.key, counter.numbers);
      continue;
    }
    AppendLimitKey(out, counter.key);
    in_log = counter.log->Save(in_log, max_bytes - used, out);
    if (in_log != 0) return static_cast<uint64_t>(index) << kLogCursorBits | in_log;
  }
  if (holds_ == nullptr) return 0;
  const size_t used = out.size() - begin;
  if (used >= max_bytes) return static_cast<uint64_t>(index) << kLogCursorBits;
  out.push_back(kHoldsHead);
  in_log = holds_->Save(in_log, max_bytes - used, out);
  return in_log == 0 ? 0 : static_cast<uint64_t>(index) << kLogCursorBits | in_log;
}

}  // namespace tally
