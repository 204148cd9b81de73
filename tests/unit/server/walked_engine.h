// An engine, and a walk over it that hears of its changes: what the walk has written can be loaded
// into another engine.
#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <string_view>

#include "core/snapshot/record_codec.h"
#include "core/snapshot/snapshot_walk.h"
#include "core/tzdata/tzdata_zones.h"
#include "fake_file_system.h"
#include "server/aof/base_reader.h"
#include "server/aof/base_writer.h"

namespace tally::server {

class Walked {
 public:
  static constexpr int64_t kBegin = 1'700'000'000'000;

  void Begin() {
    writer_ = std::make_unique<BaseWriter>(files_, *files_.Create(kFile), BaseHeader{kBegin, 2, 3},
                                           BaseWriter::Options());
    walk = std::make_unique<SnapshotWalk>(engine, *writer_, ++epoch_);
  }
  // False when the walk has ended.
  bool Step() {
    const auto more = walk->SaveNext();
    REQUIRE(more.ok());
    if (*more) return true;
    walk = nullptr;
    REQUIRE(writer_->Finish().ok());
    REQUIRE(writer_->WaitSynced().ok());
    return false;
  }
  void LoadInto(Engine& loaded) {
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
  static constexpr char kFile[] = "/base";

  test::FakeFileSystem files_;
  std::unique_ptr<BaseWriter> writer_;
  uint64_t epoch_ = 0;
};

}  // namespace tally::server
