#include "core/list/list.h"

#include <cstring>

#include "core/base/check.h"
#include "core/bytes/heap_size.h"
#include "core/bytes/varint.h"

namespace tally {
namespace {

// Up to so many elements are removed one by one; for more the list is built anew.
constexpr uint64_t kFewRemovals = 16;

constexpr char kIntRun = 'i';
constexpr char kStringRun = 's';

uint64_t Difference(int64_t to, int64_t from) {
  return static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
}

// Appends all of `from` to `to`, except those equal to `unwanted` that are number `first` to `last`
// among their equals.
template <typename Sequence, typename Value>
void CopyWithout(const Sequence& from, const Value& unwanted, size_t first, size_t last,
                 Sequence& to) {
  size_t equals = 0;
  from.ForEach(0, from.size(), [&](const Value& value) {
    const bool drop = value == unwanted && equals >= first && equals < last;
    if (value == unwanted) ++equals;
    if (!drop) to.PushBack(value);
    return true;
  });
}

}  // namespace

uintptr_t List::word() const {
  uintptr_t word = 0;
  std::memcpy(&word, word_, sizeof(word));
  return word;
}

void List::Hold(std::unique_ptr<StringDeque> strings) {
  if (holds_strings()) {
    delete this->strings();
  } else {
    ints().~IntRing();
  }
  const uintptr_t word = reinterpret_cast<uintptr_t>(strings.release()) | kStringsBit;
  std::memcpy(word_, &word, sizeof(word));
}

void List::BecomeStrings() {
  auto strings = std::make_unique<StringDeque>();
  ForEach(0, size(), [&](std::string_view text) {
    strings->PushBack(text);
    return true;
  });
  Hold(std::move(strings));
}

void List::BecomeIntsIfEmpty() {
  if (!holds_strings() || strings()->size() > 0 || strings()->in_cut()) return;
  delete strings();
  new (word_) IntRing();
}

List::~List() {
  if (holds_strings()) {
    delete strings();
  } else {
    ints().~IntRing();
  }
}

List List::Clone() const {
  List copy;
  if (holds_strings()) {
    copy.Hold(strings()->Clone());
  } else {
    copy.ints() = ints().Clone();
  }
  return copy;
}

bool List::TakesAsNumber(std::string_view text, int64_t& number) {
  if (holds_strings()) return false;
  const std::optional<int64_t> parsed = ParseInt64(text);
  if (!parsed) {
    BecomeStrings();
    return false;
  }
  number = *parsed;
  return true;
}

void List::PushFront(std::string_view text) {
  int64_t number = 0;
  TakesAsNumber(text, number) ? ints().PushFront(number) : strings()->PushFront(text);
}

void List::PushBack(std::string_view text) {
  int64_t number = 0;
  TakesAsNumber(text, number) ? ints().PushBack(number) : strings()->PushBack(text);
}

std::string List::PopFront() {
  std::string text = At(0);
  Trim(1, size());
  return text;
}

std::string List::PopBack() {
  std::string text = At(size() - 1);
  Trim(0, size() - 1);
  return text;
}

std::string List::At(size_t i) const {
  std::string text;
  AppendAt(i, text);
  return text;
}

void List::AppendAt(size_t i, std::string& out) const {
  if (holds_strings()) {
    out.append(strings()->At(i));
  } else {
    AppendInt64(out, ints().At(i));
  }
}

void List::Set(size_t i, std::string_view text) {
  int64_t number = 0;
  TakesAsNumber(text, number) ? ints().Set(i, number) : strings()->Set(i, text);
}

void List::Insert(size_t i, std::string_view text) {
  int64_t number = 0;
  TakesAsNumber(text, number) ? ints().Insert(i, number) : strings()->Insert(i, text);
}

void List::Erase(size_t i) {
  holds_strings() ? strings()->Erase(i) : ints().Erase(i);
  BecomeIntsIfEmpty();
}

void List::Trim(size_t from, size_t to) {
  const size_t count = size();
  Check(from <= to && to <= count, "what is kept lies inside the list");
  if (holds_strings()) {
    strings()->DropBack(count - to);
    strings()->DropFront(from);
    BecomeIntsIfEmpty();
  } else {
    ints().DropBack(count - to);
    ints().DropFront(from);
  }
}

size_t List::RemoveMatching(int64_t count, std::string_view text) {
  const uint64_t magnitude = count < 0 ? 0 - static_cast<uint64_t>(count) : count;
  if (count == 0 || magnitude > kFewRemovals) return RemoveByRebuilding(count, magnitude, text);
  size_t removed = 0;
  size_t from = 0;
  size_t to = size();
  while (removed < magnitude) {
    const std::optional<size_t> at = count > 0 ? Find(text, from, to) : FindLast(text, from, to);
    if (!at) break;
    Erase(*at);
    ++removed;
    if (count > 0) {
      from = *at;
      --to;
    } else {
      to = *at;
    }
  }
  return removed;
}

size_t List::RemoveByRebuilding(int64_t count, uint64_t limit, std::string_view text) {
  const std::optional<int64_t> number = ParseInt64(text);
  if (!holds_strings() && !number) return 0;
  size_t total = 0;
  for (std::optional<size_t> at = Find(text, 0, size()); at; at = Find(text, *at + 1, size())) {
    ++total;
  }
  if (total == 0) return 0;
  const bool all = count == 0 || limit >= total;
  const size_t first = all || count > 0 ? 0 : total - limit;
  const size_t last = all || count < 0 ? total : limit;
  if (holds_strings()) {
    auto kept = std::make_unique<StringDeque>();
    CopyWithout(*strings(), text, first, last, *kept);
    strings()->PassCut(*kept);
    Hold(std::move(kept));
    BecomeIntsIfEmpty();
  } else {
    IntRing kept;
    CopyWithout(ints(), *number, first, last, kept);
    ints() = std::move(kept);
  }
  return last - first;
}

std::optional<size_t> List::Find(std::string_view text, size_t from, size_t to) const {
  size_t at = from;
  const auto search = [&](const auto& sequence, const auto& wanted) -> std::optional<size_t> {
    sequence.ForEach(from, to, [&](const auto& value) { return value != wanted && ++at < to; });
    return at < to ? std::optional(at) : std::nullopt;
  };
  if (holds_strings()) return search(*strings(), text);
  const std::optional<int64_t> number = ParseInt64(text);
  return number ? search(ints(), *number) : std::nullopt;
}

std::optional<size_t> List::FindLast(std::string_view text, size_t from, size_t to) const {
  size_t end = to;
  if (holds_strings()) {
    strings()->ForEachBackwards(
        from, to, [&](std::string_view value) { return value != text && --end > from; });
  } else {
    const std::optional<int64_t> number = ParseInt64(text);
    if (!number) return std::nullopt;
    while (end > from && ints().At(end - 1) != *number) --end;
  }
  return end > from ? std::optional(end - 1) : std::nullopt;
}

size_t List::MemoryBytes() const {
  if (!holds_strings()) return ints().MemoryBytes();
  return HeapBytes(sizeof(StringDeque)) + strings()->HeapUse();
}

bool List::FreeSome(size_t elements) {
  if (!holds_strings()) return ints().FreeSome(elements);
  if (!strings()->FreeSome(elements)) return false;
  BecomeIntsIfEmpty();
  return true;
}

size_t List::Save(size_t from, size_t max_bytes, std::string& out) const {
  const size_t begin = out.size();
  size_t next = from;
  if (holds_strings()) {
    out.push_back(kStringRun);
    strings()->ForEach(from, size(), [&](std::string_view text) {
      AppendLengthPrefixed(out, text);
      ++next;
      return out.size() - begin < max_bytes;
    });
    return next;
  }
  out.push_back(kIntRun);
  int64_t previous = 0;
  ints().ForEach(from, size(), [&](int64_t value) {
    AppendSignedVarint(out, static_cast<int64_t>(Difference(value, previous)));
    previous = value;
    ++next;
    return out.size() - begin < max_bytes;
  });
  return next;
}

bool List::BeginCut(const RunSink& sink) {
  if (!holds_strings()) return false;
  strings()->BeginCut(kStringRun, sink);
  return true;
}

bool List::SaveCut() { return holds_strings() && strings()->SaveCut(); }

void List::EndCut() {
  if (holds_strings()) strings()->EndCut();
}

bool List::Load(std::string_view run) {
  if (run.size() < 2) return false;
  const char kind = run.front();
  run.remove_prefix(1);
  if (kind == kIntRun) {
    uint64_t value = 0;
    while (!run.empty()) {
      int64_t difference = 0;
      if (!ReadSignedVarint(run, difference)) return false;
      value += static_cast<uint64_t>(difference);
      const auto number = static_cast<int64_t>(value);
      holds_strings() ? strings()->PushBack(Int64Text(number).view()) : ints().PushBack(number);
    }
    return true;
  }
  if (kind != kStringRun) return false;
  // Also where all texts are integers, so that a restart does not change the encoding.
  if (!holds_strings()) BecomeStrings();
  while (!run.empty()) {
    std::string_view text;
    if (!ReadLengthPrefixed(run, text) || text.size() > StringChunk::kMaxEntryBytes) return false;
    strings()->PushBack(text);
  }
  return true;
}

}  // namespace tally
