// An engine, and a walk over it that hears of its changes: what the walk has written, a base file
// or an RDB, can be loaded into another engine.
#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "core/snapshot/record_codec.h"
#include "core/snapshot/record_emitter.h"
#include "core/snapshot/snapshot_walk.h"
#include "core/tzdata/tzdata_zones.h"
#include "fake_file_system.h"
#include "server/aof/base_reader.h"
#include "server/aof/base_writer.h"
#include "server/rdb/engine_sink.h"
#include "server/rdb/rdb_emitter.h"
#include "server/rdb/rdb_reader.h"

namespace tally::server {

class Walked {
 public:
  static constexpr int64_t kBegin = 1'700'000'000'000;

  enum class Form { kBase, kRdb };
  explicit Walked(Form form = Form::kBase) : form_(form) {}

  void Begin() {
    if (form_ == Form::kRdb) {
      rdb_.bytes.clear();
      rdb_emitter_ = std::make_unique<rdb::RdbEmitter>(
          engine, rdb::RdbOptions{.version = "7.0.15", .now_ms = kBegin}, rdb_);
      walk = std::make_unique<SnapshotWalk>(engine, *rdb_emitter_, ++epoch_);
      return;
    }
    // One that was given up may still write to the file.
    writer_ = nullptr;
    writer_ = std::make_unique<BaseWriter>(files_, *files_.Create(kFile), BaseHeader{kBegin, 2, 3},
                                           BaseWriter::Options());
    emitter_ = std::make_unique<RecordEmitter>(*writer_);
    emitter_->HoldLargeRecords();
    walk = std::make_unique<SnapshotWalk>(engine, *emitter_, ++epoch_);
  }
  // False when the walk has ended.
  bool Step() {
    const auto more = walk->SaveNext();
    REQUIRE(more.ok());
    if (*more) return true;
    walk = nullptr;
    if (form_ == Form::kRdb) {
      REQUIRE(rdb_emitter_->Finish().ok());
      return false;
    }
    REQUIRE(writer_->Finish().ok());
    REQUIRE(writer_->WaitSynced().ok());
    return false;
  }
  void LoadInto(Engine& loaded) {
    if (form_ == Form::kRdb) return LoadRdbInto(loaded);
    auto reader = BaseReader::Open(files_, kFile, 2);
    REQUIRE(reader.ok());
    absl::StatusOr<bool> more = true;
    while (more.ok() && *more) {
      more = (*reader)->NextBlock(
          [&](std::string_view record) { return DecodeRecord(record, loaded); });
    }
    REQUIRE(more.ok());
  }

  Keyspace& keyspace() { return engine.database(0); }

  TzdataZones zones;
  Engine engine{2, 42, zones};
  std::unique_ptr<SnapshotWalk> walk;

 private:
  struct Bytes final : rdb::ByteTarget {
    std::string bytes;
    absl::Status Append(std::string_view more) override {
      bytes += more;
      return absl::OkStatus();
    }
  };

  void LoadRdbInto(Engine& loaded) {
    const ValueLimits limits;
    rdb::SkippedValues skipped;
    rdb::EngineSink sink(loaded, limits, skipped, {});
    rdb::TextSource source(rdb_.bytes);
    rdb::RdbReader reader(source, sink);
    absl::StatusOr<bool> more = true;
    while (more.ok() && *more) more = reader.Next();
    CHECK(std::string(more.status().message()) == "");
    REQUIRE(more.ok());
    CHECK(reader.AtEnd());
    CHECK(skipped.empty());
  }

  static constexpr char kFile[] = "/base";

  test::FakeFileSystem files_;
  std::unique_ptr<BaseWriter> writer_;
  std::unique_ptr<RecordEmitter> emitter_;
  const Form form_;
  Bytes rdb_;
  std::unique_ptr<rdb::RdbEmitter> rdb_emitter_;
  uint64_t epoch_ = 0;
};

}  // namespace tally::server
