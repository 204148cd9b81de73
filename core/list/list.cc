#include "core/list/list.h"

#include <cstring>

#include "core/base/check.h"
#include "core/bytes/heap_size.h"
#include "core/bytes/run_sink.h"
#include "core/bytes/varint.h"

namespace tally {
namespace {

// RemoveMatching removes up to this many elements one by one; for more it visits all blocks once.
constexpr uint64_t kFewRemovals = 16;

constexpr char kIntRun = 'i';
constexpr char kStringRun = 's';

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
  ints().GiveBlocks([&](IntBlock block) { strings->PushBack(std::move(block)); });
  // Entries that are not in blocks are few.
  ForEach(0, size(), [&](std::string_view text) {
    strings->PushBack(text);
    return true;
  });
  Hold(std::move(strings));
}

void List::BecomeIntsIfEmpty() {
  if (!holds_strings() || strings()->size() > 0 || strings()->in_snapshot()) return;
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

void List::PushBack(std::span<const int64_t> numbers) {
  if (!holds_strings()) return ints().PushBack(numbers);
  for (const int64_t number : numbers) strings()->PushBack(Int64Text(number).view());
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
    strings()->AppendAt(i, out);
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
  if (count == 0 || magnitude > kFewRemovals) {
    const Wanted wanted(text);
    const size_t most = count == 0 ? size() : magnitude;
    if (!holds_strings()) {
      return wanted.number() ? ints().RemoveEqual(*wanted.number(), most, count < 0) : 0;
    }
    const size_t removed = strings()->RemoveMatching(wanted, most, count < 0);
    BecomeIntsIfEmpty();
    return removed;
  }
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

std::optional<size_t> List::Find(std::string_view text, size_t from, size_t to) const {
  const Wanted wanted(text);
  size_t at = from;
  const auto pass = [&](auto element) { return !wanted(element) && ++at < to; };
  if (holds_strings()) {
    strings()->ForEach(from, to, pass);
  } else if (wanted.number()) {
    ints().ForEach(from, to, pass);
  } else {
    return std::nullopt;
  }
  return at < to ? std::optional(at) : std::nullopt;
}

std::optional<size_t> List::FindLast(std::string_view text, size_t from, size_t to) const {
  const Wanted wanted(text);
  size_t end = to;
  const auto pass = [&](auto element) { return !wanted(element) && --end > from; };
  if (holds_strings()) {
    strings()->ForEachBackwards(from, to, pass);
  } else if (wanted.number()) {
    ints().ForEachBackwards(from, to, pass);
  } else {
    return std::nullopt;
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

uint64_t List::Save(uint64_t from, size_t max_bytes, std::string& out) const {
  const size_t begin = out.size();
  size_t next = from;
  if (holds_strings()) {
    out.push_back(kStringRun);
    strings()->ForEach(from, size(), [&](std::string_view text) {
      AppendLengthPrefixed(out, text);
      ++next;
      return out.size() - begin < max_bytes;
    });
    return next == size() ? 0 : next;
  }
  out.push_back(kIntRun);
  int64_t previous = 0;
  ints().ForEach(from, size(), [&](int64_t value) {
    AppendSignedVarint(out, WrappingSub(value, previous));
    previous = value;
    ++next;
    return out.size() - begin < max_bytes;
  });
  return next == size() ? 0 : next;
}

bool List::BeginSnapshot(const RunSink& sink) {
  if (!holds_strings()) return false;
  strings()->BeginSnapshot(kStringRun, sink);
  return true;
}

bool List::SaveSnapshot() { return holds_strings() && strings()->SaveSnapshot(); }

void List::EndSnapshot() {
  if (holds_strings()) strings()->EndSnapshot();
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
      PushBack({&number, 1});
    }
    return true;
  }
  if (kind != kStringRun) return false;
  // The list becomes one of strings even if all texts are integers, so that a restart does not
  // change the encoding.
  if (!holds_strings()) BecomeStrings();
  while (!run.empty()) {
    std::string_view text;
    if (!ReadLengthPrefixed(run, text) || text.size() > StringChunk::kMaxEntryBytes) return false;
    strings()->PushBack(text);
  }
  return true;
}

}  // namespace tally
