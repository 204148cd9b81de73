#include "core/snapshot/record_emitter.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/bytes/recycle.h"

namespace tally {
namespace {

// A record buffer with more capacity than this is freed, so that one large record does not keep it.
constexpr size_t kKeptCapacity = size_t{1} << 20;

}  // namespace

RecordEmitter::RecordEmitter(RecordSink& sink, size_t run_bytes)
    : sink_(sink), run_bytes_(run_bytes), max_part_bytes_(sink.max_part_bytes()) {
  Check(max_part_bytes_ >= 1 && max_part_bytes_ <= kMaxPartBytes, "a sink's bound is in range");
}

absl::Status RecordEmitter::Append(std::string_view record) {
  if (record.size() <= max_part_bytes_) return sink_.Append(RecordPart::kWhole, record);
  for (; record.size() > max_part_bytes_; record.remove_prefix(max_part_bytes_)) {
    absl::Status status = sink_.Append(RecordPart::kPiece, record.substr(0, max_part_bytes_));
    if (!status.ok()) return status;
  }
  return sink_.Append(RecordPart::kLastPiece, record);
}

absl::Status RecordEmitter::WriteHeld() {
  absl::Status status;
  for (size_t left = kHeldBytes; left > 0 && !held_.empty() && status.ok();) {
    std::string_view rest = std::string_view(held_.front()).substr(held_written_);
    const bool is_last = rest.size() <= max_part_bytes_;
    rest = rest.substr(0, max_part_bytes_);
    const RecordPart whole_or_last =
        held_written_ == 0 ? RecordPart::kWhole : RecordPart::kLastPiece;
    status = sink_.Append(is_last ? whole_or_last : RecordPart::kPiece, rest);
    left -= std::min(left, rest.size());
    held_written_ += rest.size();
    if (!is_last) continue;
    held_.pop_front();
    held_written_ = 0;
  }
  return status;
}

absl::Status RecordEmitter::End() {
  if (holds_ && (has_held() || record_.size() > kHeldBytes)) {
    held_.push_back(std::exchange(record_, {}));
    return absl::OkStatus();
  }
  absl::Status status = Append(record_);
  Recycle(record_, kKeptCapacity);
  return status;
}

absl::Status RecordEmitter::Database(size_t database, const Keyspace& keyspace) {
  EncodeKeyCount(database, keyspace.size(), record_);
  return End();
}

absl::Status RecordEmitter::Policies(const PolicyTable& policies) {
  absl::Status status;
  policies.ForEach([&](std::string_view name, const StoredWords& words) {
    if (!status.ok()) return;
    EncodePolicy(name, words, record_);
    status = End();
  });
  return status;
}

absl::Status RecordEmitter::Entry(size_t database, const Keyspace::Entry& entry) {
  if (!entry.is_heap()) {
    EncodeSmallEntry(database, entry, record_);
    return End();
  }
  const ValueOperations& operations = OperationsOf(entry.type());
  const size_t run_bytes = RunBytesFor(entry.key());
  tally::BeginFirstRun(database, entry, record_);
  uint64_t cursor = 0;
  while (true) {
    cursor = operations.save(entry.pointer(), cursor, run_bytes, record_);
    if (absl::Status status = End(); !status.ok() || cursor == 0) return status;
    tally::BeginFurtherRun(database, entry.key(), record_);
  }
}

std::string& RecordEmitter::BeginFirstRun(const ValueHead& head) {
  tally::BeginFirstRun(head, record_);
  return record_;
}

std::string& RecordEmitter::BeginFurtherRun(const ValueHead& head) {
  tally::BeginFurtherRun(head, record_);
  return record_;
}

std::string& RecordEmitter::BeginManyRuns(const ValueHead& head) {
  tally::BeginManyRuns(head, record_);
  return record_;
}

absl::Status RecordEmitter::EndRun(const ValueHead&) { return End(); }

size_t RecordEmitter::RunBytesFor(std::string_view key) const {
  return std::max(run_bytes_, key.size());
}

}  // namespace tally
