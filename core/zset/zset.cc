#include "core/zset/zset.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/check.h"
#include "core/bytes/run_sink.h"
#include "core/bytes/varint.h"

namespace tally {
namespace {

// Calls `call` with the set's form, whichever it is.
template <class Form, class Call>
decltype(auto) OnForm(Form& form, Call call) {
  if (auto* packed = std::get_if<PackedZSet>(&form)) return call(*packed);
  return call(*std::get<std::unique_ptr<IndexedZSet>>(form));
}

}  // namespace

size_t ZSet::size() const {
  return OnForm(form_, [](const auto& form) { return form.size(); });
}

const char* ZSet::encoding() const { return is_small() ? "listpack" : "skiplist"; }

std::optional<double> ZSet::Score(std::string_view member) const {
  const MemberName name(member);
  return OnForm(form_, [&](const auto& form) { return form.Find(name); });
}

AddResult ZSet::Set(std::string_view member, double score, const ZSetLimits& limits) {
  Check(!std::isnan(score), "a score is a number");
  if (score == 0) score = 0;  // stores -0 as 0
  const MemberName name(member);
  if (auto* packed = std::get_if<PackedZSet>(&form_)) {
    return SetPacked(*packed, name, score, limits);
  }
  return std::get<Large>(form_)->Set(score, name);
}

AddResult ZSet::SetPacked(PackedZSet& packed, const MemberName& name, double score,
                          const ZSetLimits& limits) {
  const std::optional<double> old_score = packed.Find(name);
  if (old_score) {
    if (*old_score == score) return AddResult::kUnchanged;
    packed.Erase(name);
    packed.Insert(score, name);
    return AddResult::kUpdated;
  }
  const bool stays_packed = packed.size() < limits.max_packed_entries &&
                            name.text.size() <= limits.max_packed_member && FitsInline(name) &&
                            packed.HasRoomFor(name);
  if (stays_packed) {
    packed.Insert(score, name);
    return AddResult::kAdded;
  }
  Unpack();
  return std::get<Large>(form_)->Set(score, name);
}

void ZSet::Unpack() {
  auto large = std::make_unique<IndexedZSet>(seed_);
  ForEach({0, size()}, false, [&](std::string_view member, double score) {
    large->Set(score, MemberName(member));
    return true;
  });
  form_ = std::move(large);
}

bool ZSet::Erase(std::string_view member) {
  const MemberName name(member);
  return OnForm(form_, [&](auto& form) { return form.Erase(name); });
}

std::optional<size_t> ZSet::Rank(std::string_view member, bool reverse) const {
  const std::optional<double> score = Score(member);
  if (!score) return std::nullopt;
  const size_t rank = RankOf(Position::Before(*score, member));
  return reverse ? size() - 1 - rank : rank;
}

std::pair<std::string, double> ZSet::At(size_t rank) const {
  Check(rank < size(), "rank");
  std::pair<std::string, double> element;
  ForEach({rank, rank + 1}, false, [&](std::string_view member, double score) {
    element = {std::string(member), score};
    return true;
  });
  return element;
}

RankRange ZSet::ScoreRange(const ScoreBound& min, const ScoreBound& max) const {
  const size_t begin =
      RankOf(min.exclusive ? Position::After(min.score) : Position::Before(min.score));
  const size_t end =
      RankOf(max.exclusive ? Position::Before(max.score) : Position::After(max.score));
  return {begin, std::max(begin, end)};
}

RankRange ZSet::LexRange(const LexBound& min, const LexBound& max) const {
  const auto rank = [this](const LexBound& bound, bool after_if_equal) {
    switch (bound.kind) {
      case LexBound::Kind::kLowest:
        return size_t{0};
      case LexBound::Kind::kHighest:
        return size();
      case LexBound::Kind::kInclusive:
      case LexBound::Kind::kExclusive:
        break;
    }
    return RankOf(after_if_equal ? Position::AfterMember(bound.member)
                                 : Position::BeforeMember(bound.member));
  };
  const size_t begin = rank(min, min.kind == LexBound::Kind::kExclusive);
  const size_t end = rank(max, max.kind == LexBound::Kind::kInclusive);
  return {begin, std::max(begin, end)};
}

void ZSet::ForEach(RankRange range, bool reverse, Visitor visit) const {
  OnForm(form_, [&](const auto& form) { form.ForEach(range, reverse, visit); });
}

void ZSet::EraseRange(RankRange range) {
  OnForm(form_, [&](auto& form) { form.EraseRange(range); });
}

std::pair<std::string, double> ZSet::PopMin() {
  auto element = At(0);
  EraseRange({0, 1});
  return element;
}

std::pair<std::string, double> ZSet::PopMax() {
  const size_t count = size();
  auto element = At(count - 1);
  EraseRange({count - 1, count});
  return element;
}

uint64_t ZSet::Scan(uint64_t cursor, size_t count,
                    absl::FunctionRef<void(const ElementView&, double)> visit) const {
  if (const auto* large = std::get_if<Large>(&form_)) {
    return (*large)->Scan(cursor, count, visit);
  }
  ForEach({0, size()}, false, [&](std::string_view member, double score) {
    visit(member, score);
    return true;
  });
  return 0;
}

ZSet ZSet::Clone() const {
  ZSet copy(seed_);
  if (const auto* packed = std::get_if<PackedZSet>(&form_)) {
    copy.form_ = packed->Clone();
    return copy;
  }
  copy.Unpack();
  ForEach({0, size()}, false, [&](std::string_view member, double score) {
    copy.Set(member, score, {});
    return true;
  });
  return copy;
}

void ZSet::Clear() {
  if (auto* packed = std::get_if<PackedZSet>(&form_)) return packed->Clear();
  form_ = PackedZSet();
}

bool ZSet::FreeSome(size_t count) {
  if (auto* large = std::get_if<Large>(&form_)) return (*large)->FreeSome(count);
  form_ = PackedZSet();
  return true;
}

size_t ZSet::MemoryBytes() const {
  return OnForm(form_, [](const auto& form) { return form.MemoryBytes(); });
}

uint64_t ZSet::Save(uint64_t from_rank, size_t max_bytes, std::string& out) const {
  const size_t start = out.size();
  size_t rank = from_rank;
  ForEach({from_rank, size()}, false, [&](std::string_view member, double score) {
    AppendElement(member, score, out);
    ++rank;
    return out.size() - start < max_bytes;
  });
  return rank == size() ? 0 : rank;
}

bool ZSet::BeginSnapshot(const RunSink& sink) {
  auto* large = std::get_if<Large>(&form_);
  if (large == nullptr) return false;
  (*large)->BeginSnapshot(sink);
  return true;
}

bool ZSet::SaveSnapshot() {
  auto* large = std::get_if<Large>(&form_);
  return large != nullptr && (*large)->SaveSnapshot();
}

void ZSet::EndSnapshot() {
  if (auto* large = std::get_if<Large>(&form_)) (*large)->EndSnapshot();
}

bool ZSet::Load(std::string_view run, const ZSetLimits& limits) {
  while (!run.empty()) {
    double score = 0;
    if (run.size() < sizeof(score)) return false;
    std::memcpy(&score, run.data(), sizeof(score));
    run.remove_prefix(sizeof(score));
    std::string_view member;
    if (std::isnan(score) || !ReadLengthPrefixed(run, member)) return false;
    if (Score(member) || Set(member, score, limits) != AddResult::kAdded) return false;
  }
  return true;
}

size_t ZSet::RankOf(const Position& position) const {
  return OnForm(form_, [&](const auto& form) { return form.RankOf(position); });
}

}  // namespace tally
