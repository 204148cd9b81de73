#include "core/snapshot/engine_stream.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "core/bytes/varint.h"
#include "core/snapshot/record_codec.h"
#include "core/snapshot/record_emitter.h"

namespace tally {
namespace {

constexpr std::string_view kMagic = "TALLYENG\1";
constexpr char kRecord = 'R';
constexpr char kPiece = 'P';
constexpr char kLastPiece = 'L';
constexpr char kEnd = 'E';
constexpr size_t kChecksumBytes = 4;
constexpr size_t kFrameRunBytes = kMaxFrameBytes / 2;

uint32_t ChecksumOf(std::string_view frame, uint32_t before) {
  return static_cast<uint32_t>(XXH3_64bits_withSeed(frame.data(), frame.size(), before));
}

absl::Status MalformedStream(const char* why) {
  return absl::DataLossError(std::string("malformed stream: ") + why);
}

// Writes the frames of the stream, one for each part of a record.
class StreamWriter : public RecordSink {
 public:
  explicit StreamWriter(ByteSink sink) : sink_(sink) { waiting_ = kMagic; }

  size_t max_part_bytes() const override { return kMaxFrameBytes; }

  absl::Status Append(RecordPart part, std::string_view bytes) override {
    switch (part) {
      case RecordPart::kPiece:
        return AddFrame(kPiece, bytes);
      case RecordPart::kLastPiece:
        ++records_;
        return AddFrame(kLastPiece, bytes);
      case RecordPart::kWhole:
        break;
    }
    ++records_;
    return AddFrame(kRecord, bytes);
  }

  absl::Status Finish() {
    std::string count;
    AppendVarint(count, records_);
    if (absl::Status status = AddFrame(kEnd, count); !status.ok()) return status;
    return sink_(waiting_);
  }

 private:
  absl::Status AddFrame(char kind, std::string_view bytes) {
    const size_t begin = waiting_.size();
    waiting_.push_back(kind);
    AppendLengthPrefixed(waiting_, bytes);
    checksum_ = ChecksumOf(std::string_view(waiting_).substr(begin), checksum_);
    for (size_t i = 0; i < kChecksumBytes; ++i) {
      waiting_.push_back(static_cast<char>(checksum_ >> (8 * i) & 0xff));
    }
    if (waiting_.size() < kMaxFrameBytes) return absl::OkStatus();
    absl::Status status = sink_(waiting_);
    waiting_.clear();
    return status;
  }

  ByteSink sink_;
  std::string waiting_;
  uint32_t checksum_ = 0;
  uint64_t records_ = 0;
};

absl::Status SaveDatabase(const Engine& engine, size_t index, RecordEmitter& emitter) {
  const Keyspace& keyspace = engine.database(index);
  if (keyspace.size() == 0) return absl::OkStatus();
  absl::Status status = emitter.Database(index, keyspace);
  uint64_t position = 0;
  while (const Keyspace::Segment* segment = keyspace.NextSegment(position)) {
    keyspace.ForEach(*segment, [&](const Keyspace::Entry& entry) {
      if (status.ok()) status = emitter.Entry(index, entry);
    });
    if (!status.ok()) break;
  }
  return status;
}

}  // namespace

absl::Status SaveEngine(const Engine& engine, ByteSink sink) {
  StreamWriter writer(sink);
  RecordEmitter emitter(writer, kFrameRunBytes);
  absl::Status status = emitter.Policies(engine.policies());
  for (size_t i = 0; i < engine.databases() && status.ok(); ++i) {
    status = SaveDatabase(engine, i, emitter);
  }
  return status.ok() ? writer.Finish() : status;
}

absl::Status EngineLoader::Take(char kind, std::string_view bytes) {
  if (kind == kEnd) {
    uint64_t records = 0;
    if (!ReadVarint(bytes, records) || records != records_ || !bytes.empty() || !pieces_.empty()) {
      return MalformedStream("its end");
    }
    ended_ = true;
    return absl::OkStatus();
  }
  if (kind == kPiece) {
    pieces_.append(bytes);
    return absl::OkStatus();
  }
  if (kind != (pieces_.empty() ? kRecord : kLastPiece)) return MalformedStream("a frame's kind");
  ++records_;
  if (kind == kRecord) return DecodeRecord(bytes, engine_);
  pieces_.append(bytes);
  const std::string record = std::move(pieces_);
  pieces_.clear();
  return DecodeRecord(record, engine_);
}

absl::Status EngineLoader::TakeFrame(bool& taken) {
  std::string_view rest = std::string_view(waiting_).substr(taken_);
  const std::string_view frame = rest;
  taken = false;
  if (rest.empty()) return absl::OkStatus();
  rest.remove_prefix(1);
  uint64_t length = 0;
  if (!ReadVarint(rest, length)) {
    return rest.size() < kMaxVarintBytes ? absl::OkStatus() : MalformedStream("a length");
  }
  if (length > kMaxFrameBytes) return MalformedStream("a length");
  if (rest.size() < length + kChecksumBytes) return absl::OkStatus();
  const std::string_view bytes = rest.substr(0, length);
  rest.remove_prefix(length);
  const size_t covered = frame.size() - rest.size();
  uint32_t checksum = 0;
  for (size_t i = 0; i < kChecksumBytes; ++i) {
    checksum |= static_cast<uint32_t>(static_cast<unsigned char>(rest[i])) << (8 * i);
  }
  if (checksum != ChecksumOf(frame.substr(0, covered), checksum_))
    return MalformedStream("a checksum");
  checksum_ = checksum;
  taken_ += covered + kChecksumBytes;
  taken = true;
  return Take(frame.front(), bytes);
}

absl::Status EngineLoader::Add(std::string_view bytes) {
  if (ended_ && !bytes.empty()) return MalformedStream("bytes after its end");
  // What remains of earlier bytes is at most one incomplete frame.
  waiting_.erase(0, taken_);
  taken_ = 0;
  waiting_.append(bytes);
  if (!begun_) {
    if (waiting_.size() < kMagic.size()) return absl::OkStatus();
    if (!waiting_.starts_with(kMagic)) return MalformedStream("its first bytes");
    taken_ = kMagic.size();
    begun_ = true;
  }
  bool taken = true;
  while (taken && !ended_) {
    if (absl::Status status = TakeFrame(taken); !status.ok()) return status;
  }
  if (ended_ && taken_ < waiting_.size()) return MalformedStream("bytes after its end");
  return absl::OkStatus();
}

absl::Status EngineLoader::Finish() const {
  return ended_ ? absl::OkStatus() : MalformedStream("it is cut short");
}

absl::Status LoadEngine(Engine& engine, std::string_view bytes) {
  EngineLoader loader(engine);
  // Passed on in parts, so that the loader does not copy the whole stream.
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kMaxFrameBytes))) {
    absl::Status status = loader.Add(bytes.substr(0, kMaxFrameBytes));
    if (!status.ok()) return status;
  }
  return loader.Finish();
}

}  // namespace tally
