// The memory of a QuotaBook: statistics, expiry, freeing and copying.
#include <algorithm>
#include <cstring>

#include "core/quota/quota_book.h"

namespace tally {
namespace {

void CopyRecords(const RecordTable& from, RecordTable& to) {
  uint64_t position = 0;
  while (RecordTable::Segment* segment = from.NextSegment(position)) {
    from.ForEach(*segment, [&](const RecordTable::Record& record) {
      const RecordTable::Record copy = to.Insert(record.key(), record.size());
      std::memcpy(copy.data(), record.data(), record.size());
      copy.segment().due = std::min(copy.segment().due, segment->due);
    });
  }
}

}  // namespace

QuotaBook::Stats QuotaBook::stats() const {
  const size_t large = large_ == nullptr ? 0 : large_->users.size();
  return {limit_count_, users_.size() + large, purchase_count_, MemoryBytes()};
}

size_t QuotaBook::MemoryBytes() const {
  return sizeof(*this) + limits_.MemoryBytes() + users_.MemoryBytes() + retention_.MemoryBytes() +
         (texts_ == nullptr ? 0 : texts_->MemoryBytes()) +
         (parted_ == nullptr ? 0 : parted_->MemoryBytes()) +
         (large_ == nullptr ? 0 : large_->MemoryBytes());
}

bool QuotaBook::ExpireUser(const QuotaId& user, int64_t now_ms) {
  const EntityKey key(user);
  if (LargeUser* large = FindLarge(key.view())) return ExpireLarge(key.view(), *large, now_ms);
  OpenUser open = Open(user, now_ms);
  if (open.purchases.lines.size() == open.stored_lines) return false;
  Store(open);
  return true;
}

void QuotaBook::SweepUsers(RecordTable::Segment& segment, int64_t now_ms, QuotaExpired* expired) {
  const Retention::Moment at = retention_.At(now_ms);
  std::vector<std::string> users;  // keys
  segment.due = RecordTable::Segment::kNothingDue;
  users_.ForEach(segment, [&](const RecordTable::Record& record) {
    bool some_gone = false;
    for (PurchaseReader reader(record.payload()); reader.Next();) {
      if (retention_.Keeps(reader.line(), at)) {
        segment.due = std::min(segment.due, retention_.DueOf(reader.line()));
      } else {
        some_gone = true;
      }
    }
    if (some_gone) users.emplace_back(record.key());
  });
  for (const std::string& key : users) {
    const QuotaId user = EntityKey::UserOf(key);
    ExpireUser(user, now_ms);
    if (expired != nullptr) expired->users.push_back(TextOf(user));
  }
}

RecordTable::Segment* QuotaBook::NextToSweep() {
  if (sweep_ == Sweep::kUsers) return users_.NextSegment(sweep_position_);
  if (sweep_ == Sweep::kLimits) return limits_.NextSegment(sweep_position_);
  return parted_ == nullptr ? nullptr : parted_->parts.NextSegment(sweep_position_);
}

size_t QuotaBook::ExpireSome(int64_t now_ms, size_t budget, QuotaExpired* expired) {
  const int64_t horizon_ms = retention_.Horizon(now_ms);
  const int64_t widest_horizon_ms = retention_.WidestHorizon(now_ms);
  const size_t before = purchase_count_;
  while (budget > 0) {
    if (sweep_ == Sweep::kLarge) {
      if (!SweepLarge(now_ms, budget, expired)) sweep_ = Sweep::kUsers;
      break;
    }
    const bool sweeping_limits = sweep_ != Sweep::kUsers;
    RecordTable::Segment* segment = NextToSweep();
    if (segment == nullptr) {
      sweep_position_ = 0;
      sweep_ = static_cast<Sweep>(static_cast<int>(sweep_) + 1);
      continue;
    }
    // A segment in which nothing is due costs one, however many records it holds.
    const bool is_due = segment->due <= (sweeping_limits ? horizon_ms : widest_horizon_ms);
    budget -= std::min(budget, 1 + (is_due ? segment->size() : 0));
    if (!is_due) continue;
    if (sweeping_limits) {
      SweepLimits(*segment, sweep_ == Sweep::kParts, now_ms, expired);
    } else {
      SweepUsers(*segment, now_ms, expired);
    }
  }
  return before - purchase_count_;
}

bool QuotaBook::PrepareNext() {
  if (large_ == nullptr) return false;
  const auto next = large_->users.lower_bound(large_->prepare_from);
  if (next == large_->users.end()) {
    large_->prepare_from.clear();
    return false;
  }
  IndexLarge(next->first, *next->second);
  large_->prepare_from = next->first + '\0';
  return true;
}

bool QuotaBook::FreeSome(size_t segments) {
  return users_.FreeSome(segments) && limits_.FreeSome(segments) &&
         (texts_ == nullptr || texts_->FreeSome(segments)) &&
         (parted_ == nullptr || parted_->FreeSome(segments)) &&
         (large_ == nullptr || large_->FreeSome(segments));
}

QuotaBook QuotaBook::Clone() const {
  QuotaBook copy(seed_, retention_.minimum_ms());
  CopyRecords(limits_, copy.limits_);
  CopyRecords(users_, copy.users_);
  if (texts_ != nullptr) {
    copy.texts_ = std::make_unique<TextDictionary>(texts_->Clone(seed_));
  }
  if (parted_ != nullptr) {
    copy.parted_ = parted_->Clone(seed_);
    CopyRecords(parted_->parts, copy.parted_->parts);
  }
  if (large_ != nullptr) copy.large_ = large_->Clone(seed_);
  copy.limit_count_ = limit_count_;
  copy.most_limits_ = most_limits_;
  copy.purchase_count_ = purchase_count_;
  copy.retention_ = retention_;
  copy.recording_ = recording_;
  copy.any_holds_ = any_holds_;
  return copy;
}

}  // namespace tally
