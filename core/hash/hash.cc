#include "core/hash/hash.h"

#include <absl/algorithm/container.h>
#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <limits>

#include "core/bytes/run_sink.h"
#include "core/bytes/varint.h"

namespace tally {
namespace {

// A listpack of more bytes than this becomes a table, whatever the limits say.
constexpr size_t kMaxListpackBytes = 128 * 1024;

// Up to these sizes a hash stays packed although it exceeds the limits: a few long values take less
// memory packed, and a search among them costs no more.
constexpr size_t kFewFields = 64;
constexpr size_t kFewFieldBytes = 4096;

// The most that the lengths and markers of a field and its value add to their texts.
constexpr size_t kMaxOverhead = 2 * (kMaxVarintBytes + 1);

constexpr HashLimits kNoLimits{std::numeric_limits<size_t>::max(),
                               std::numeric_limits<size_t>::max()};

}  // namespace

std::optional<Hash::Value> Hash::Find(std::string_view field) const {
  const auto code = map_.Find(CompactText(field).code());
  if (!code) return std::nullopt;
  return Value(*code);
}

bool Hash::Set(std::string_view field, std::string_view value, const HashLimits& limits) {
  PrepareFor(field, value, limits);
  const bool added = map_.Set(CompactText(field).code(), CompactText(value).code());
  if (added) SettleForm(limits);
  return added;
}

Hash::IncrementResult Hash::Increment(std::string_view field, int64_t delta,
                                      const HashLimits& limits) {
  const CompactText coded_field(field);
  const std::span<char> place = map_.FindMutable(coded_field.code());
  const bool exists = place.data() != nullptr;
  int64_t sum = delta;
  if (exists) {
    const auto old = IntegerOfCode({place.data(), place.size()});
    if (!old) return {IncrementStatus::kNotInteger, 0};
    if (__builtin_add_overflow(*old, delta, &sum)) return {IncrementStatus::kOverflow, 0};
  }
  const CompactText coded_sum(sum);
  if (exists && coded_sum.code().size() == place.size()) {
    coded_sum.code().copy(place.data(), place.size());
    return {IncrementStatus::kOk, sum};
  }
  PrepareFor(field, {}, limits);
  if (map_.Set(coded_field.code(), coded_sum.code())) SettleForm(limits);
  return {IncrementStatus::kOk, sum};
}

void Hash::PrepareFor(std::string_view field, std::string_view value, const HashLimits& limits) {
  if (!map_.packed()) return;
  beyond_listpack_ |= std::max(field.size(), value.size()) > limits.max_size;
  UnpackIfLarge(field.size() + value.size() + kMaxOverhead);
}

void Hash::SettleForm(const HashLimits& limits) {
  if (!map_.packed()) return;
  beyond_listpack_ |= map_.size() > limits.max_fields;
  UnpackIfLarge(0);
}

void Hash::UnpackIfLarge(size_t more_bytes) {
  const size_t bytes = map_.packed_bytes() + more_bytes;
  beyond_listpack_ |= bytes > kMaxListpackBytes;
  if (beyond_listpack_ && (bytes > kFewFieldBytes || map_.size() > kFewFields)) map_.Unpack();
}

void Hash::ForEach(Visitor visit) const {
  map_.ForEach([&](const ElementView& field, const ElementView& value) {
    visit(PlainText(field).view(), PlainText(value).view());
    return true;
  });
}

uint64_t Hash::Scan(uint64_t cursor, size_t count, Visitor visit) const {
  return map_.Scan(cursor, count, [&](const ElementView& field, const ElementView& value) {
    visit(PlainText(field).view(), PlainText(value).view());
  });
}

void Hash::Sample(uint64_t random, Visitor visit) const {
  map_.Sample(random, [&](const ElementView& field, const ElementView& value) {
    visit(PlainText(field).view(), PlainText(value).view());
  });
}

void Hash::SampleRepeated(size_t count, Random random, Visitor visit) const {
  map_.SampleRepeated(count, random, [&](const ElementView& field, const ElementView& value) {
    visit(PlainText(field).view(), PlainText(value).view());
  });
}

void Hash::SampleDistinct(size_t count, Random random, Visitor visit) const {
  map_.SampleDistinct(count, random, [&](const ElementView& field, const ElementView& value) {
    visit(PlainText(field).view(), PlainText(value).view());
  });
}

bool Hash::SavePacked(std::string& out) const {
  if (!map_.packed() || 1 + map_.packed_bytes() > kMaxPackedBytes) return false;
  out.push_back(beyond_listpack_ ? kHashtableRun : kListpackRun);
  out.append(map_.packed_contents());
  return true;
}

bool Hash::LoadPacked(std::string_view bytes) {
  if (bytes.empty()) return false;
  beyond_listpack_ = bytes.front() == kHashtableRun;
  return map_.AssignPacked(bytes.substr(1));
}

bool Hash::IsPacked(std::string_view bytes) {
  if (bytes.empty() || bytes.size() > kMaxPackedBytes) return false;
  if (bytes.front() != kListpackRun && bytes.front() != kHashtableRun) return false;
  bytes.remove_prefix(1);
  // A field that is there twice would be counted twice, and only one of them found.
  absl::InlinedVector<std::string_view, 16> fields;
  while (!bytes.empty()) {
    std::string_view field;
    std::string_view value;
    if (!ReadLengthPrefixed(bytes, field) || !ReadLengthPrefixed(bytes, value)) return false;
    if (!IsCode(field) || !IsCode(value) || absl::c_linear_search(fields, field)) return false;
    fields.push_back(field);
  }
  return !fields.empty();
}

std::string_view Hash::EncodingOfPacked(std::string_view bytes) {
  return bytes.starts_with(kHashtableRun) ? "hashtable" : "listpack";
}

uint64_t Hash::Save(uint64_t cursor, size_t max_bytes, std::string& out) const {
  out.push_back(beyond_listpack_ ? kHashtableRun : kListpackRun);
  return map_.Save(cursor, max_bytes, out);
}

bool Hash::BeginSnapshot(const RunSink& sink) {
  return map_.BeginSnapshot(beyond_listpack_ ? kHashtableRun : kListpackRun, sink);
}

bool Hash::Load(std::string_view run) {
  if (run.empty()) return false;
  const char form = run.front();
  run.remove_prefix(1);
  if (form != kListpackRun && form != kHashtableRun) return false;
  // The form is saved, so that a restart does not change it.
  beyond_listpack_ |= form == kHashtableRun;
  while (!run.empty()) {
    std::string_view field;
    std::string_view value;
    if (!ReadLengthPrefixed(run, field) || !ReadLengthPrefixed(run, value)) return false;
    Set(field, value, kNoLimits);
  }
  return true;
}

}  // namespace tally
