#include "server/durability/loader.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "core/bytes/str_cat.h"
#include "core/snapshot/record_codec.h"
#include "server/resp/reply_reader.h"

namespace tally::server {

absl::Status Loader::Begin(bool load_truncated) {
  auto files = AofLoader::Open(parts_.files.directory(), load_truncated);
  if (!files.ok()) return files.status();
  files_ = std::move(*files);
  client_ = std::make_unique<Client>();
  client_->authenticated = true;
  Start();
  return absl::OkStatus();
}

void Loader::BeginRedis(RedisLoader& redis) {
  redis_ = &redis;
  Start();
}

void Loader::BeginBase(std::unique_ptr<BaseReader> base) {
  base_ = std::move(base);
  Start();
}

void Loader::Start() {
  is_read_ = false;
  stream_.reset();
  prepared_ = {};
  progress_.emplace(Clock::MonotonicMicros());
  started_ms_ = parts_.clock.now_ms();
  expiry_after_ = parts_.engine.expiry();
  parts_.engine.set_expiry(Expiry::kIgnore);
}

absl::StatusOr<bool> Loader::Step() {
  if (redis_ != nullptr) return redis_->Step(parts_.clock.now_ms());
  const auto on_record = [&](std::string_view record) {
    return DecodeRecord(record, parts_.engine);
  };
  const auto preview = [&](std::span<const std::string_view> records) {
    PrefetchForRecords(records, parts_.engine);
  };
  if (base_ != nullptr) return base_->NextBlock(on_record, preview);
  const auto on_command = [&](Args args) { return Replay(args); };
  return files_->Step(on_record, preview, on_command);
}

absl::StatusOr<bool> Loader::LoadSome(int64_t budget_us) {
  // The clock is asked once for so many keys of Redis.
  constexpr int kSteps = 32;
  const int64_t begin_us = Clock::MonotonicMicros();
  absl::StatusOr<bool> more = true;
  do {
    if (is_read_) {
      more = parts_.engine.PrepareNext(prepared_);
      continue;
    }
    for (int i = redis_ == nullptr ? 1 : kSteps; i > 0 && more.ok() && *more; --i) more = Step();
    is_read_ = more.ok() && !*more;
    if (is_read_) more = true;
  } while (more.ok() && *more && Clock::MonotonicMicros() - begin_us < budget_us);
  return more;
}

absl::StatusOr<std::optional<Loader::End>> Loader::LoadSlice(int64_t budget_us) {
  const absl::StatusOr<bool> more = LoadSome(budget_us);
  if (more.ok() && *more) {
    if (progress_->ReportDue(Clock::MonotonicMicros())) {
      parts_.report.Loading(figures(), CountKeys(parts_.engine));
    }
    return std::optional<End>();
  }
  const End end = Finish(more.ok());
  if (!more.ok()) return more.status();
  return std::optional<End>(end);
}

Loader::End Loader::Finish(bool complete) {
  const int64_t took_us = Clock::MonotonicMicros() - progress_->started_us();
  const uint64_t keys = CountKeys(parts_.engine);
  End end;
  if (complete && redis_ != nullptr) parts_.report.LoadedRedis(*redis_, keys, took_us);
  if (files_ != nullptr) end = {files_->end(), files_->synced()};
  if (complete && files_ != nullptr) {
    parts_.report.Loaded(*files_, keys, took_us);
    CountFiles();
  }
  files_ = nullptr;
  redis_ = nullptr;
  base_ = nullptr;
  client_ = nullptr;
  parts_.engine.set_expiry(expiry_after_);
  return end;
}

void Loader::CountFiles() const {
  const uint64_t base = files_->base_bytes();
  const uint64_t all = files_->bytes_total() - files_->torn_bytes();
  const uint64_t rest = base + files_->end().offset + files_->covered_bytes();
  parts_.files.Loaded(base, static_cast<int64_t>(all) - static_cast<int64_t>(rest));
}

// A log that follows another one after a gap, as when it was off meanwhile, has its own offsets.
absl::Status Loader::TakeNote(Args args) {
  const auto note = StreamNote::Read(args);
  if (!note || note->database >= parts_.engine.databases()) {
    return absl::DataLossError("a wrong note of the stream");
  }
  // What a primary has sent may go on there without a SELECT.
  client_->database = note->database;
  if (!stream_) stream_ = Stream{note->offset, {}};
  stream_->end = *note;
  return absl::OkStatus();
}

absl::Status Loader::Replay(Args args) {
  if (StreamNote::Is(args)) return TakeNote(args);
  if (LogNotes::IsNote(args)) return notes_ == nullptr ? absl::OkStatus() : notes_->Load(args);
  if (stream_) stream_->end.offset += BytesOf(args);
  const CommandEntry* entry = parts_.commands.FindFullName(args[0]);
  if (entry == nullptr || entry->command->handler == nullptr ||
      !ArityFits(*entry->command, args.size())) {
    return absl::DataLossError(StrCat("not a command: ", args[0]));
  }
  client_->output.Clear();
  parts_.runner.Replay(*client_, *entry, args);
  if (IsError(client_->output, 0)) {
    return absl::DataLossError(
        StrCat("a command that fails: ", args[0], ": ", client_->output.Joined()));
  }
  return absl::OkStatus();
}

LoadingFigures Loader::figures() const {
  const uint64_t done = base_ != nullptr    ? base_->offset()
                        : redis_ != nullptr ? redis_->bytes_done()
                                            : files_->bytes_done();
  const uint64_t said = base_ != nullptr    ? base_->file_size()
                        : redis_ != nullptr ? redis_->bytes_total()
                                            : files_->bytes_total();
  const uint64_t total = std::max(said, done);
  return {
      started_ms_, {done, total}, progress_->SecondsLeft(done, total, Clock::MonotonicMicros())};
}

}  // namespace tally::server
