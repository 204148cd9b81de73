#include "server/rdb/rdb_emitter.h"

#include <iterator>
#include <memory>
#include <utility>

#include "core/base/check.h"
#include "core/bytes/number.h"
#include "core/bytes/recycle.h"
#include "core/bytes/run_sink.h"
#include "core/keyspace/value.h"
#include "server/rdb/native_types.h"
#include "server/rdb/rdb_codes.h"
#include "server/rdb/value_writer.h"

namespace tally::rdb {
namespace {

// Parts are joined up to this size, and one is written in a step.
constexpr size_t kPartBytes = size_t{256} << 10;
constexpr size_t kKeptRun = 2 * kRunBytes;

void WriteKeyHead(std::string_view key, Type type, int64_t deadline_ms, RdbOutput& output) {
  if (deadline_ms != kNoDeadline) {
    output.Byte(kOpExpireMs);
    output.Fixed(static_cast<uint64_t>(deadline_ms), 8);
  }
  output.Byte(CodeOf(type));
  output.String(key);
}

void WriteSelect(size_t database, RdbOutput& output) {
  output.Byte(kOpSelectDb);
  output.Length(database);
}

void Append(std::deque<std::string>& to, std::deque<std::string>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  from.clear();
}

}  // namespace

RdbEmitter::RdbEmitter(Engine& engine, const RdbOptions& options, ByteTarget& target)
    : engine_(engine),
      output_(&target, options.compress_most),
      scratch_(nullptr, options.compress_most) {
  output_.Raw("REDIS0010");
  WriteAux("redis-ver", options.version);
  WriteAux("redis-bits", "64");
  WriteAux("ctime", Int64Text(options.now_ms / 1000).view());
}

size_t RdbEmitter::run_bytes() const { return kRunBytes; }

void RdbEmitter::WriteAux(std::string_view name, std::string_view value) {
  output_.Byte(kOpAux);
  output_.String(name);
  output_.String(value);
}

void RdbEmitter::Select(size_t database) {
  if (selected_ != database) WriteSelect(database, output_);
  selected_ = database;
}

absl::Status RdbEmitter::Database(size_t database, const Keyspace& keyspace) {
  Select(database);
  output_.Byte(kOpResizeDb);
  output_.Length(keyspace.size());
  output_.Length(keyspace.expires());
  return output_.status();
}

// A server without tally.so refuses a file with them, so a table without policies is not there.
absl::Status RdbEmitter::Policies(const PolicyTable& policies) {
  constexpr uint64_t kBeforeKeys = 1;
  if (policies.size() == 0) return output_.status();
  output_.Byte(kOpModuleAux);
  output_.Length(ModuleId(NativeName(Type::kLimit), kNativeVersion));
  for (const uint64_t number : {kBeforeKeys, uint64_t{policies.size()}}) {
    output_.Length(kModuleUnsigned);
    output_.Length(number);
  }
  std::string bytes;
  policies.ForEach([&](std::string_view name, const StoredWords& words) {
    bytes.clear();
    PolicyTable::Save(name, words, bytes);
    output_.Length(kModuleString);
    output_.String(bytes);
  });
  output_.Length(kModuleEnd);
  return output_.status();
}

absl::Status RdbEmitter::Entry(size_t database, const Keyspace::Entry& entry) {
  const bool at_once = current_ == nullptr && ready_.empty();
  RdbOutput& output = at_once ? output_ : scratch_;
  if (at_once) {
    Select(database);
  } else {
    WriteSelect(database, scratch_);
  }
  WriteKeyHead(entry.key(), entry.type(), entry.deadline_ms(), output);
  WriteValue(entry, output);
  if (!at_once) Keep(current_ == nullptr ? ready_ : aside_);
  return output_.status();
}

void RdbEmitter::Keep(Chunks& parts) {
  std::string& bytes = scratch_.bytes();
  if (!parts.empty() && parts.back().size() + bytes.size() <= kPartBytes) {
    parts.back().append(bytes);
  } else {
    parts.push_back(bytes);
  }
  Recycle(bytes, kKeptRun);
}

absl::Status RdbEmitter::WriteHeld() {
  output_.Raw(ready_.front());
  ready_.pop_front();
  selected_.reset();
  return output_.status();
}

void RdbEmitter::WriteHead(const ValueHead& head, RdbOutput& output) {
  WriteSelect(head.database, output);
  WriteKeyHead(head.key, head.type, head.deadline_ms, output);
  BeginValue(head.type, head.size, output);
}

template <typename Write>
void RdbEmitter::WritePart(const ValueHead& head, OpenValue& value, Write&& write) {
  if (MayWrite(head)) return write(output_);
  write(scratch_);
  Keep(current_ == &head ? ready_ : value.waiting);
}

std::string& RdbEmitter::BeginFirstRun(const ValueHead& head) {
  OpenValue& value = open_[&head];
  WritePart(head, value, [&](RdbOutput& output) { WriteHead(head, output); });
  if (current_ == &head) selected_ = head.database;
  return BeginFurtherRun(head);
}

std::string& RdbEmitter::BeginFurtherRun(const ValueHead&) {
  Recycle(run_, kKeptRun);
  return run_;
}

std::string& RdbEmitter::BeginManyRuns(const ValueHead&) {
  Check(false, "a run of an RDB is never short");
  return run_;
}

absl::Status RdbEmitter::EndRun(const ValueHead& head) {
  OpenValue& value = open_[&head];
  std::optional<std::string> run = run_;
  const bool is_native = NativeName(head.type) != nullptr;
  if (is_native) std::swap(run, value.last_run);
  if (run) {
    WritePart(head, value, [&](RdbOutput& output) { WriteRun(head, *run, false, output); });
  }
  return output_.status();
}

void RdbEmitter::WriteRun(const ValueHead& head, std::string_view run, bool is_last,
                          RdbOutput& output) {
  if (NativeName(head.type) != nullptr) return WriteNativeRun(run, is_last, output);
  if (head.type == Type::kString) return output.Raw(run);
  const ValueOperations& operations = OperationsOf(head.type);
  const std::unique_ptr<void, void (*)(void*)> part(
      operations.create(engine_.seed(), engine_.zones()), operations.destroy);
  Check(operations.load(part.get(), run), "a run that was just saved can be loaded");
  WriteElements(head.type, part.get(), output);
}

absl::Status RdbEmitter::EndValue(const ValueHead& head) {
  OpenValue& value = open_[&head];
  if (value.last_run) {
    WritePart(head, value, [&](RdbOutput& output) {
      WriteRun(head, *value.last_run, true, output);
      EndNativeValue(output);
    });
  }
  Chunks whole = std::move(value.waiting);
  open_.erase(&head);
  if (current_ == &head) {
    current_ = nullptr;
    Append(ready_, aside_);
  } else {
    Append(current_ == nullptr ? ready_ : aside_, whole);
  }
  return output_.status();
}

absl::Status RdbEmitter::Turn(const ValueHead& head) {
  if (current_ == &head) return output_.status();
  Check(current_ == nullptr, "a value ends before the next one has its turn");
  current_ = &head;
  if (const auto value = open_.find(&head); value != open_.end()) {
    Append(ready_, value->second.waiting);
  }
  return output_.status();
}

absl::Status RdbEmitter::Finish() {
  Check(current_ == nullptr && ready_.empty() && open_.empty(), "all is written before the end");
  output_.Byte(kOpEnd);
  output_.Fixed(output_.Checksum(), 8);
  output_.Flush();
  return output_.status();
}

}  // namespace tally::rdb
