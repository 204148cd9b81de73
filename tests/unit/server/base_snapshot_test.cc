#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <semaphore>
#include <thread>

#include "core/snapshot/record_emitter.h"
#include "fake_file_system.h"
#include "server/aof/base_reader.h"
#include "server/aof/base_writer.h"
#include "server/aof/crc32c.h"
#include "thread_state.h"

namespace tally::server::base_snapshot_test {
namespace {

using test::FakeFileSystem;
using test::SeededRandom;

constexpr char kPath[] = "/base";

std::string WriteBase(const std::vector<std::string>& records, size_t block_bytes) {
  FakeFileSystem files;
  BaseWriter writer(files, *files.Create(kPath), {1735689600000, 2, 3},
                    {.block_bytes = block_bytes, .sync_bytes = 1000});
  for (const std::string& record : records) REQUIRE(RecordEmitter(writer).Append(record).ok());
  REQUIRE(writer.Finish().ok());
  REQUIRE(writer.WaitSynced().ok());
  CHECK(writer.records() == records.size());
  CHECK(writer.bytes() == files.Contents()[kPath].size());
  return files.Contents()[kPath];
}

absl::Status ReadBase(const std::string& bytes, std::vector<std::string>& records) {
  FakeFileSystem files;
  files.Put(kPath, bytes);
  auto reader = BaseReader::Open(files, kPath, 2);
  if (!reader.ok()) return reader.status();
  CHECK((*reader)->header().created_unix_ms == 1735689600000);
  CHECK((*reader)->header().first_log == 3);
  while (true) {
    const auto more = (*reader)->NextBlock([&](std::string_view record) {
      records.emplace_back(record);
      return absl::OkStatus();
    });
    if (!more.ok()) return more.status();
    if (!*more) return absl::OkStatus();
  }
}

// Makes all checksums of the blocks right.
void Rechain(std::string& bytes) {
  uint32_t crc = ExtendCrc32c(0, std::string_view(bytes).substr(0, kBaseHeaderBytes - 4));
  for (size_t at = kBaseHeaderBytes; at < bytes.size();) {
    uint32_t length = 0;
    std::memcpy(&length, bytes.data() + at + 1, sizeof(length));
    crc = ExtendCrc32c(crc, std::string_view(bytes).substr(at, 5 + length));
    std::memcpy(bytes.data() + at + 5 + length, &crc, sizeof(crc));
    at += 5 + length + 4;
  }
}

std::vector<std::string> RandomRecords(SeededRandom& random, size_t count) {
  std::vector<std::string> records(count);
  for (std::string& record : records) {
    record.resize(1 + random.Below(random.OneIn(20) ? 2000 : 30));
    for (char& c : record) c = static_cast<char>(random.Next());
  }
  return records;
}

TEST_CASE("A base has the documented bytes") {
  const unsigned char expected[] = {
      0x54, 0x41, 0x4c, 0x4c, 0x59, 0x42, 0x41, 0x53, 0x01, 0x00, 0x00, 0x00, 0x00, 0x7c,
      0x29, 0x1f, 0x94, 0x01, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xcf, 0x59, 0x05, 0x03, 0x52, 0x0a, 0x00, 0x00,
      0x00, 0x05, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x03, 0x61, 0x62, 0x63, 0x05, 0x06, 0x8c,
      0x04, 0x46, 0x10, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x20, 0x61, 0xf0, 0x78};
  const std::string bytes = WriteBase({"hello", "abc"}, 65536);
  CHECK(bytes == std::string(reinterpret_cast<const char*>(expected), sizeof(expected)));
}

TEST_CASE("A base says where in the first log it is continued") {
  FakeFileSystem files;
  BaseWriter writer(files, *files.Create(kPath),
                    {1735689600000, 2, 3, 4'000'000'000'000, 0xfedcba98}, {});
  REQUIRE(writer.Finish().ok());
  REQUIRE(writer.WaitSynced().ok());
  const auto reader = BaseReader::Open(files, kPath, 2);
  REQUIRE(reader.ok());
  CHECK((*reader)->header().first_log == 3);
  CHECK((*reader)->header().first_offset == 4'000'000'000'000);
  CHECK((*reader)->header().first_crc == 0xfedcba98);
}

TEST_CASE("A base leaves the page cache as it is written, and as it is read") {
  FakeFileSystem files;
  const std::string record(100'000, 'x');
  BaseWriter writer(files, *files.Create(kPath), {1735689600000, 2, 3}, {});
  for (int i = 0; i < 100; ++i) REQUIRE(RecordEmitter(writer).Append(record).ok());
  REQUIRE(writer.Finish().ok());
  REQUIRE(writer.WaitSynced().ok());
  CHECK(files.Dropped(kPath) == writer.bytes());

  files.Put(kPath, files.Contents()[kPath]);
  auto reader = BaseReader::Open(files, kPath, 2);
  REQUIRE(reader.ok());
  const auto ignore = [](std::string_view) { return absl::OkStatus(); };
  bool in_between = false;
  for (bool more = true; more;) {
    const auto read = (*reader)->NextBlock(ignore);
    REQUIRE(read.ok());
    more = *read;
    const uint64_t dropped = files.Dropped(kPath);
    CHECK(dropped <= (*reader)->offset());
    CHECK((*reader)->offset() - dropped < 2'000'000);
    in_between |= more && dropped > 0;
  }
  CHECK(in_between);
  CHECK(files.Dropped(kPath) == writer.bytes());
}

TEST_CASE("Records on both sides of each bound are read back, or refused by a full disk") {
  std::vector<std::string> records;
  // A block, what is written before a sync, and the largest values.
  for (const size_t mib : {1, 4, 16, 64}) {
    for (const size_t size : {(mib << 20) - 1, (mib << 20) + 1}) {
      records.emplace_back(size, static_cast<char>('a' + records.size()));
      records.emplace_back("small");
    }
  }
  for (const size_t block_bytes : {size_t{1} << 16, size_t{1} << 20}) {
    std::vector<std::string> read;
    REQUIRE(ReadBase(WriteBase(records, block_bytes), read).ok());
    const bool same = read == records;
    CHECK(same);
  }
  for (const size_t room : {size_t{100}, size_t{1} << 20, size_t{100} << 20}) {
    FakeFileSystem files;
    files.LeaveRoom(room);
    BaseWriter writer(files, *files.Create(kPath), {1735689600000, 2, 3}, {});
    absl::Status status;
    for (size_t i = 0; i < records.size() && status.ok(); ++i)
      status = RecordEmitter(writer).Append(records[i]);
    if (status.ok()) status = writer.Finish();
    if (status.ok()) status = writer.WaitSynced();
    CHECK(absl::IsResourceExhausted(status));
    CHECK(files.Contents()[kPath].size() <= room);
  }
}

TEST_CASE("A writer is throttled while the disk is behind, and no longer") {
  FakeFileSystem files;
  std::counting_semaphore<> allowed(0);
  files.OnAppend([&] { allowed.acquire(); });
  BaseWriter writer(files, *files.Create(kPath), {1735689600000, 2, 3},
                    {.block_bytes = 100, .sync_bytes = 1000});
  const std::string record(100, 'x');
  int records = 0;
  for (; !writer.Throttled(); ++records) REQUIRE(RecordEmitter(writer).Append(record).ok());
  CHECK(records >= 10);
  CHECK(records < 100);
  CHECK(writer.Throttled());
  allowed.release(1000);
  while (writer.Throttled()) std::this_thread::yield();
  REQUIRE(RecordEmitter(writer).Append(record).ok());
  REQUIRE(writer.Finish().ok());
  REQUIRE(writer.WaitSynced().ok());
}

TEST_CASE("Nobody waits for a write that takes long") {
  FakeFileSystem files;
  std::counting_semaphore<> allowed(0);
  files.OnAppend([&] { allowed.acquire(); });
  BaseWriter writer(files, *files.Create(kPath), {1735689600000, 2, 3}, {.block_bytes = 100});
  const std::vector<std::string> records(50, std::string(100, 'x'));
  for (const std::string& record : records) REQUIRE(RecordEmitter(writer).Append(record).ok());
  REQUIRE(writer.Finish().ok());
  CHECK_FALSE(*writer.PollSynced());
  CHECK(files.Contents()[kPath].empty());
  allowed.release(1000);
  REQUIRE(writer.WaitSynced().ok());
  std::vector<std::string> read;
  CHECK(ReadBase(files.Contents()[kPath], read).ok());
  CHECK(read == records);
}

TEST_CASE("Who cannot pause is written for too, and no more waits in memory than is allowed") {
  FakeFileSystem files;
  std::counting_semaphore<> allowed(0);
  files.OnSync([&] { allowed.acquire(); });
  constexpr int kRecords = 500;
  {
    BaseWriter writer(files, *files.Create(kPath), {1735689600000, 2, 3},
                      {.block_bytes = 100, .sync_bytes = 1000, .most_queued_bytes = 4000});
    std::atomic<int> appended = 0;
    int waited_at = 0;
    const pid_t writer_thread = ::gettid();
    std::thread disk([&] {
      // The disk goes on when the writer waits for it.
      while (appended < kRecords && (appended <= 10 || !test::Waits(writer_thread))) {
        std::this_thread::yield();
      }
      waited_at = appended;
      allowed.release(1000);
    });
    for (; appended < kRecords; ++appended) {
      REQUIRE(RecordEmitter(writer).Append(std::string(100, 'x')).ok());
    }
    disk.join();
    CHECK(waited_at < 100);
    REQUIRE(writer.Finish().ok());
    REQUIRE(writer.WaitSynced().ok());
  }
  std::vector<std::string> read;
  CHECK(ReadBase(files.Contents()[kPath], read).ok());
  CHECK(read == std::vector<std::string>(kRecords, std::string(100, 'x')));
}

TEST_CASE("A base that is given up waits for what is being written, and writes no more") {
  FakeFileSystem files;
  std::counting_semaphore<> allowed(0);
  files.OnSync([&] { allowed.acquire(); });
  auto writer = std::make_unique<BaseWriter>(files, *files.Create(kPath), BaseHeader(),
                                             BaseWriter::Options{100, 100});
  for (int i = 0; i < 3; ++i) REQUIRE(RecordEmitter(*writer).Append(std::string(100, 'x')).ok());
  const size_t most = writer->bytes();
  allowed.release(1000);
  writer = nullptr;
  CHECK(files.Contents()[kPath].size() <= most);
  CHECK(files.Contents()[kPath].size() >= kBaseHeaderBytes + 100);
}

TEST_CASE("Records are read back, whatever the size of the blocks") {
  SeededRandom random;
  INFO("seed " << random.seed());
  for (const size_t block_bytes : {1, 100, 65536}) {
    const auto records = RandomRecords(random, 500);
    std::vector<std::string> read;
    CHECK(ReadBase(WriteBase(records, block_bytes), read).ok());
    CHECK(read == records);
  }
  std::vector<std::string> read;
  CHECK(ReadBase(WriteBase({}, 65536), read).ok());
  CHECK(read.empty());
}

TEST_CASE("Each record is previewed, with a few others, before it is delivered") {
  SeededRandom random;
  INFO("seed " << random.seed());
  const auto records = RandomRecords(random, 500);
  FakeFileSystem files;
  files.Put(kPath, WriteBase(records, 1000));
  const auto reader = BaseReader::Open(files, kPath, 2);
  REQUIRE(reader.ok());
  std::vector<std::string> previewed;
  size_t delivered = 0;
  absl::StatusOr<bool> more = true;
  while (more.ok() && *more) {
    more = (*reader)->NextBlock(
        [&](std::string_view record) {
          REQUIRE(delivered < previewed.size());
          CHECK(previewed[delivered++] == record);
          return absl::OkStatus();
        },
        [&](std::span<const std::string_view> next) {
          CHECK(delivered == previewed.size());
          CHECK(next.size() <= kPreviewedRecords);
          previewed.insert(previewed.end(), next.begin(), next.end());
        });
  }
  REQUIRE(more.ok());
  CHECK(previewed == records);
  CHECK(delivered == records.size());
}

TEST_CASE("A record that is not taken is named with its place") {
  FakeFileSystem files;
  files.Put(kPath, WriteBase({"good", "bad", "good"}, 65536));
  const auto reader = BaseReader::Open(files, kPath, 2);
  REQUIRE(reader.ok());
  const auto more = (*reader)->NextBlock([](std::string_view record) {
    return record == "bad" ? absl::DataLossError("no") : absl::OkStatus();
  });
  const size_t place = kBaseHeaderBytes + 5 + 5;  // after the block's head and the first record
  CHECK(more.status() == absl::DataLossError("/base offset " + std::to_string(place) + ": no"));
}

TEST_CASE("A record of any size is split and put together again") {
  SeededRandom random;
  INFO("seed " << random.seed());
  for (const size_t block_bytes : {size_t{1}, size_t{100}, size_t{1} << 20}) {
    std::vector<std::string> records;
    for (size_t size : {block_bytes - 1, block_bytes, block_bytes + 1, 2 * block_bytes,
                        2 * block_bytes + 1, block_bytes * 33 + 7}) {
      records.emplace_back("short");
      records.emplace_back(std::max<size_t>(size, 1), static_cast<char>(random.Next()));
    }
    std::vector<std::string> read;
    CHECK(ReadBase(WriteBase(records, block_bytes), read).ok());
    CHECK(read == records);
  }
}

TEST_CASE("Pieces that do not make a record are damage, whatever their checksums") {
  // Blocks of one byte, so that each of these three records has two pieces.
  const std::string bytes = WriteBase({"ab", "cd", "ef"}, 1);
  constexpr size_t kBlock = 5 + 1 + 4;
  REQUIRE(bytes.size() == kBaseHeaderBytes + 6 * kBlock + 5 + 16 + 4);
  std::vector<std::string> read;
  REQUIRE(ReadBase(bytes, read).ok());
  for (size_t block = 0; block < 6; ++block) {
    for (const char type : {'R', 'P', 'E', 'X'}) {
      std::string changed = bytes;
      char& place = changed[kBaseHeaderBytes + block * kBlock];
      if (place == type) continue;
      place = type;
      Rechain(changed);
      INFO("block " << block << " as " << type);
      CHECK(absl::IsDataLoss(ReadBase(changed, read)));
    }
  }
}

TEST_CASE("A base that was cut or flipped anywhere is refused, and delivers only right records") {
  SeededRandom random;
  INFO("seed " << random.seed());
  const auto records = RandomRecords(random, 25);
  const std::string bytes = WriteBase(records, 100);
  const auto check_refused = [&](const std::string& bad) {
    std::vector<std::string> read;
    const absl::Status status = ReadBase(bad, read);
    CHECK(absl::IsDataLoss(status));
    CHECK(status.message().find("/base offset ") == 0);
    CHECK(std::equal(read.begin(), read.end(), records.begin()));
  };
  for (size_t i = 0; i < bytes.size(); ++i) {
    INFO("byte " << i);
    check_refused(bytes.substr(0, i));
    std::string flipped = bytes;
    flipped[i] = static_cast<char>(flipped[i] ^ (1 << random.Below(8)));
    check_refused(flipped);
  }
  check_refused(bytes + '\0');
}

TEST_CASE("A block that is missing, doubled or swapped is noticed") {
  const std::string bytes = WriteBase({"aaa", "bbb", "ccc"}, 3);
  constexpr size_t kBlock = 5 + 4 + 4;
  const auto block = [&](size_t i) { return bytes.substr(kBaseHeaderBytes + i * kBlock, kBlock); };
  const std::string head = bytes.substr(0, kBaseHeaderBytes);
  const std::string footer = bytes.substr(kBaseHeaderBytes + 3 * kBlock);
  std::vector<std::string> read;
  REQUIRE(ReadBase(head + block(0) + block(1) + block(2) + footer, read).ok());
  CHECK(absl::IsDataLoss(ReadBase(head + block(0) + block(2) + footer, read)));
  CHECK(
      absl::IsDataLoss(ReadBase(head + block(0) + block(0) + block(1) + block(2) + footer, read)));
  CHECK(absl::IsDataLoss(ReadBase(head + block(0) + block(2) + block(1) + footer, read)));
  CHECK(absl::IsDataLoss(ReadBase(head + block(0) + block(1) + footer, read)));
  CHECK(absl::IsDataLoss(ReadBase(head + footer, read)));
}

TEST_CASE("A base whose writing failed at any call is never called synced") {
  for (const auto fault : {FakeFileSystem::Fault::kIoError, FakeFileSystem::Fault::kNoSpace,
                           FakeFileSystem::Fault::kTornWrite}) {
    for (uint64_t call = 0;; ++call) {
      FakeFileSystem files;
      auto file = files.Create(kPath);
      REQUIRE(file.ok());
      files.FailAfter(call, fault);
      const uint64_t calls_before = files.calls();
      absl::Status status;
      {
        BaseWriter writer(files, std::move(*file), {}, {.block_bytes = 100, .sync_bytes = 300});
        for (int i = 0; i < 20 && status.ok(); ++i) {
          status = RecordEmitter(writer).Append(std::string(50, static_cast<char>(i)));
        }
        if (status.ok()) status = writer.Finish();
        if (status.ok()) status = writer.WaitSynced();
      }
      const bool reached = files.calls() - calls_before > call;
      INFO("call " << call << ": " << status.ToString());
      CHECK(status.ok() == !reached);
      if (!reached) break;
    }
  }
}

TEST_CASE("Short writes of a base are finished") {
  FakeFileSystem files;
  auto file = files.Create(kPath);
  files.FailAfter(0, FakeFileSystem::Fault::kShortWrite, 1000);
  BaseWriter writer(files, std::move(*file), {1735689600000, 2, 3}, {.block_bytes = 10});
  REQUIRE(RecordEmitter(writer).Append("a record of some length").ok());
  REQUIRE(writer.Finish().ok());
  REQUIRE(writer.WaitSynced().ok());
  std::vector<std::string> read;
  CHECK(ReadBase(files.Contents()[kPath], read).ok());
  CHECK(read == std::vector<std::string>{"a record of some length"});
}

}  // namespace
}  // namespace tally::server::base_snapshot_test
