#include "core/set/set.h"

#include <algorithm>
#include <optional>

#include "core/base/check.h"
#include "core/bytes/compact_text.h"
#include "core/bytes/number.h"
#include "core/bytes/run_sink.h"
#include "core/bytes/varint.h"

namespace tally {
namespace {

// Up to these sizes a set of strings is packed: a search of it costs no more than hashing.
constexpr size_t kFewMembers = 64;
constexpr size_t kFewMemberBytes = 4096;

constexpr char kIntegerRun = 'i';
constexpr char kMemberRun = 's';

}  // namespace

void Set::Clear() {
  is_intset_ = true;
  ints_.Clear();
  Check(map_.AssignPacked({}), "no cells are well formed");
}

bool Set::Contains(std::string_view member) const {
  if (!is_intset_) return map_.Find(CompactText(member).code()).has_value();
  const std::optional<int64_t> number = ParseInt64(member);
  return number && ints_.Contains(*number);
}

bool Set::Insert(std::string_view member, const SetLimits& limits) {
  if (is_intset_) {
    if (const std::optional<int64_t> number = ParseInt64(member)) return Insert(*number, limits);
    BecomeMap();
  }
  return InsertInMap(member);
}

bool Set::Insert(int64_t number, const SetLimits& limits) {
  if (!is_intset_) return InsertInMap(Int64Text(number).view());
  const bool added = ints_.Insert(number);
  if (ints_.size() > std::min(limits.max_integers, kMaxIntegers)) BecomeMap();
  return added;
}

bool Set::InsertInMap(std::string_view member) {
  if (map_.packed() &&
      (map_.size() >= kFewMembers || map_.packed_bytes() + member.size() > kFewMemberBytes)) {
    map_.Unpack();
  }
  return map_.Set(CompactText(member).code(), {});
}

void Set::BecomeMap() {
  is_intset_ = false;
  if (ints_.size() > kFewMembers) map_.Unpack();
  for (size_t rank = 0; rank < ints_.size(); ++rank) {
    map_.Set(CompactText(ints_.At(rank)).code(), {});
  }
  ints_.Clear();
}

bool Set::Erase(std::string_view member) {
  if (!is_intset_) return map_.Erase(CompactText(member).code());
  const std::optional<int64_t> number = ParseInt64(member);
  return number && ints_.Erase(*number);
}

void Set::ForEach(StoppingVisitor visit) const {
  if (!is_intset_) {
    return map_.ForEach(
        [&](const ElementView& key, const ElementView&) { return visit(PlainText(key).view()); });
  }
  for (size_t rank = 0; rank < ints_.size(); ++rank) {
    if (!visit(Int64Text(ints_.At(rank)).view())) return;
  }
}

uint64_t Set::Scan(uint64_t cursor, size_t count, Visitor visit) const {
  if (!is_intset_) {
    return map_.Scan(cursor, count, [&](const ElementView& key, const ElementView&) {
      visit(PlainText(key).view());
    });
  }
  ForEach([&](std::string_view member) {
    visit(member);
    return true;
  });
  return 0;
}

void Set::Sample(uint64_t random, Visitor visit) const {
  Check(!empty(), "there is something to choose from");
  if (is_intset_) return visit(Int64Text(ints_.At(random % ints_.size())).view());
  map_.Sample(random,
              [&](const ElementView& key, const ElementView&) { visit(PlainText(key).view()); });
}

void Set::SampleRepeated(size_t count, Random random, Visitor visit) const {
  if (is_intset_) {
    for (; count > 0; --count) Sample(random(), visit);
    return;
  }
  map_.SampleRepeated(count, random, [&](const ElementView& key, const ElementView&) {
    visit(PlainText(key).view());
  });
}

void Set::SampleDistinct(size_t count, Random random, Visitor visit) const {
  if (!is_intset_) {
    return map_.SampleDistinct(count, random, [&](const ElementView& key, const ElementView&) {
      visit(PlainText(key).view());
    });
  }
  Check(count <= ints_.size(), "no more are chosen than there are");
  // Selection sampling, as in CompactMap.
  for (size_t left = ints_.size(); count > 0; --left) {
    if (random() % left >= count) continue;
    visit(Int64Text(ints_.At(ints_.size() - left)).view());
    --count;
  }
}

bool Set::FreeSome(size_t count) {
  ints_.Clear();
  return map_.FreeSome(count);
}

uint64_t Set::Save(uint64_t cursor, size_t max_bytes, std::string& out) const {
  if (is_intset_) return SaveIntegers(cursor, max_bytes, out);
  out.push_back(kMemberRun);
  return map_.Save(cursor, max_bytes, out);
}

uint64_t Set::SaveIntegers(uint64_t from, size_t max_bytes, std::string& out) const {
  const size_t begin = out.size();
  out.push_back(kIntegerRun);
  int64_t previous = 0;
  size_t rank = from;
  for (; rank < ints_.size() && out.size() - begin < max_bytes; ++rank) {
    AppendSignedVarint(out, WrappingSub(ints_.At(rank), previous));
    previous = ints_.At(rank);
  }
  return rank < ints_.size() ? rank : 0;
}

bool Set::BeginSnapshot(const RunSink& sink) { return map_.BeginSnapshot(kMemberRun, sink); }

bool Set::Load(std::string_view run) {
  if (run.empty()) return false;
  const char form = run.front();
  run.remove_prefix(1);
  if (form == kIntegerRun) return LoadIntegers(run);
  if (form != kMemberRun) return false;
  // The form is saved, so that a restart does not change it.
  if (is_intset_) BecomeMap();
  while (!run.empty()) {
    std::string_view member;
    if (!ReadLengthPrefixed(run, member)) return false;
    InsertInMap(member);
  }
  return true;
}

bool Set::LoadIntegers(std::string_view run) {
  uint64_t value = 0;
  for (bool first = true; !run.empty(); first = false) {
    int64_t difference = 0;
    if (!ReadSignedVarint(run, difference)) return false;
    const auto previous = static_cast<int64_t>(value);
    value += static_cast<uint64_t>(difference);
    const auto number = static_cast<int64_t>(value);
    if (!first && number <= previous) return false;
    Insert(Int64Text(number).view(), {kMaxIntegers});
  }
  return true;
}

}  // namespace tally
