#include "server/aof/log_reader.h"

#include <catch2/catch.hpp>

#include "aof_helpers.h"
#include "fake_file_system.h"

namespace tally::server::log_reader_test {
namespace {

using test::BuildLog;
using test::FakeFileSystem;
using test::Numbered;
using test::SeededRandom;

struct ReadLog {
  absl::StatusOr<LogReader::Step> last;  // what ended the reading
  std::vector<std::string> commands;
  uint64_t good_end = 0;
};

ReadLog Read(const std::string& bytes, uint64_t sequence = 1) {
  FakeFileSystem files;
  files.Put("/log", bytes);
  ReadLog result;
  auto reader = LogReader::Open(files, "/log", sequence);
  if (!reader.ok()) {
    result.last = reader.status();
    return result;
  }
  do {
    result.last = (*reader)->NextBatch([&](std::span<const std::string_view> args) {
      result.commands.push_back(test::Join(args));
      return absl::OkStatus();
    });
  } while (result.last.ok() && *result.last == LogReader::Step::kBatch);
  result.good_end = (*reader)->position().offset;
  return result;
}

bool IsWhole(const ReadLog& result) {
  return result.last.ok() && *result.last == LogReader::Step::kEnd;
}
bool IsTorn(const ReadLog& result) {
  return result.last.ok() && *result.last == LogReader::Step::kTorn;
}

// The ends of the batches of BuildLog, the header's first.
std::vector<size_t> Ends(const std::vector<std::string>& batches) {
  std::vector<size_t> ends = {kLogHeaderBytes};
  for (const std::string& batch : batches) {
    ends.push_back(ends.back() + batch.size() + kAnnotationBytes);
  }
  return ends;
}

TEST_CASE("Random batches are read back") {
  SeededRandom random;
  INFO("seed " << random.seed());
  const auto batches = test::RandomBatches(random, 200);
  std::string all;
  for (const std::string& batch : batches) all += batch;
  std::vector<std::string> expected;
  std::vector<std::string_view> args;
  for (size_t at = 0; at < all.size();) {
    REQUIRE(ScanCommand(all, at, args) == ScanResult::kCommand);
    expected.push_back(test::Join(args));
  }
  const ReadLog result = Read(BuildLog(1, batches));
  CHECK(IsWhole(result));
  CHECK(result.commands == expected);
}

TEST_CASE("Batches that straddle the read buffer are read back") {
  const std::string large(3'000'000, 'x');
  const auto batches = {Numbered(1), RequestText({"SET", "a", large}), Numbered(2),
                        RequestText({"SET", "b", std::string(1'048'500, 'y')}), Numbered(3)};
  const ReadLog result = Read(BuildLog(1, batches));
  CHECK(IsWhole(result));
  REQUIRE(result.commands.size() == 5);
  CHECK(result.commands[1] == "SET a " + large);
  CHECK(result.commands[4] == "INCR key3");
}

TEST_CASE("A log cut at any offset is its longest prefix of whole batches") {
  const std::vector<std::string> batches = {Numbered(1), Numbered(2) + Numbered(3), Numbered(4),
                                            RequestText({"SET", "key", "#TALLY \r\n*1\r\n"})};
  const std::vector<size_t> ends = Ends(batches);
  const size_t commands_at[] = {0, 1, 3, 4, 5};
  const std::string log = BuildLog(1, batches);
  for (size_t cut = 0; cut <= log.size(); ++cut) {
    INFO("cut at " << cut);
    const ReadLog result = Read(log.substr(0, cut));
    size_t whole = 0;
    while (whole + 1 < ends.size() && ends[whole + 1] <= cut) ++whole;
    const bool at_end = cut == 0 || cut == ends[whole];
    CHECK((at_end ? IsWhole(result) : IsTorn(result)));
    CHECK(result.commands.size() == commands_at[whole]);
    CHECK(result.good_end == (cut < kLogHeaderBytes ? 0 : ends[whole]));
  }
}

TEST_CASE("Any flipped bit stops the start and delivers nothing of its batch") {
  const std::vector<std::string> batches = {Numbered(1), RequestText({"SET", "k", "1234567890"}),
                                            Numbered(3) + Numbered(4)};
  const std::vector<size_t> ends = Ends(batches);
  const std::string log = BuildLog(1, batches);
  for (size_t i = 0; i < log.size() * 8; ++i) {
    std::string flipped = log;
    flipped[i / 8] = static_cast<char>(flipped[i / 8] ^ (1 << i % 8));
    const ReadLog result = Read(flipped);
    INFO("bit " << i % 8 << " of byte " << i / 8 << ": " << result.last.status().ToString());
    CHECK(absl::IsDataLoss(result.last.status()));
    CHECK(result.last.status().message().find("/log offset ") == 0);
    size_t whole = 0;
    while (whole + 1 < ends.size() && ends[whole + 1] <= i / 8) ++whole;
    CHECK(result.commands.size() == (i / 8 < ends[0] ? 0 : whole));
  }
}

TEST_CASE("Any byte that is replaced by zero or 0xff stops the start") {
  const std::string log = BuildLog(1, {Numbered(1), Numbered(2), Numbered(3)});
  for (size_t i = 0; i < log.size(); ++i) {
    for (const char value : {'\0', '\xff'}) {
      std::string changed = log;
      changed[i] = value;
      INFO("byte " << i);
      CHECK(absl::IsDataLoss(Read(changed).last.status()));
    }
  }
}

TEST_CASE("A batch that is missing, doubled, swapped or of another log is noticed") {
  const std::vector<std::string> batches = {Numbered(1), Numbered(2), Numbered(3), Numbered(4)};
  const std::vector<size_t> ends = Ends(batches);
  const std::string log = BuildLog(1, batches);
  const auto part = [&](size_t i) { return log.substr(ends[i], ends[i + 1] - ends[i]); };
  const std::string head = log.substr(0, kLogHeaderBytes);

  const std::string missing = head + part(0) + part(2) + part(3);
  const std::string doubled = head + part(0) + part(1) + part(1) + part(2) + part(3);
  const std::string last_doubled = log + part(3);
  const std::string swapped = head + part(0) + part(2) + part(1) + part(3);
  for (const std::string& bad : {missing, doubled, last_doubled, swapped}) {
    const ReadLog result = Read(bad);
    INFO(result.last.status().ToString());
    CHECK(absl::IsDataLoss(result.last.status()));
    for (size_t i = 0; i < result.commands.size(); ++i) {
      CHECK(result.commands[i] == absl::StrCat("INCR key", i + 1));
    }
  }
  // As long as the batch that it takes the place of, and right by itself.
  const std::string other = BuildLog(1, {Numbered(1), Numbered(5)});
  CHECK(absl::IsDataLoss(Read(other + part(2) + part(3)).last.status()));
  CHECK(absl::IsDataLoss(Read(log, 2).last.status()));
}

TEST_CASE("Damage with a whole batch after it is never taken for a torn tail") {
  // The flipped length leads beyond the end of the file, as a torn command would.
  const std::vector<std::string> batches = {Numbered(1), RequestText({"SET", "k", "123"}),
                                            Numbered(3)};
  std::string log = BuildLog(1, batches);
  const size_t digit = log.find("$3\r\n123") + 1;
  log.replace(digit, 1, "9");
  CHECK(absl::IsDataLoss(Read(log).last.status()));
}

TEST_CASE("Sectors that never reached the disk make a torn tail, but not before a whole batch") {
  const std::vector<std::string> batches = {Numbered(1),
                                            RequestText({"SET", "k", std::string(3000, 'v')})};
  const size_t good = Ends(batches)[1];
  const std::string log = BuildLog(1, batches);
  for (size_t sector = 512; sector + 512 < log.size(); sector += 512) {
    std::string lost = log;
    lost.replace(sector, 512, 512, '\0');
    const ReadLog result = Read(lost);
    INFO("sector at " << sector);
    CHECK(IsTorn(result));
    CHECK(result.good_end == good);
  }
  const ReadLog zeros = Read(log.substr(0, good) + std::string(1000, '\0'));
  CHECK(IsTorn(zeros));

  std::string middle = BuildLog(1, {batches[0], batches[1], Numbered(3)});
  middle.replace(1024, 512, 512, '\0');
  CHECK(absl::IsDataLoss(Read(middle).last.status()));
}

TEST_CASE("A hole in what was not synced is a torn tail, though whole batches come after it") {
  const std::vector<std::string> batches = {
      Numbered(1), RequestText({"SET", "k", std::string(2000, 'v')}), Numbered(3), Numbered(4)};
  const std::vector<size_t> ends = Ends(batches);
  const auto read = [&](uint64_t synced, size_t sector, char content) {
    std::string log = BuildLog(1, batches, nullptr, synced);
    log.replace(sector, 512, 512, content);
    return Read(log);
  };
  const ReadLog torn = read(ends[1], 1024, '\0');
  CHECK(IsTorn(torn));
  CHECK(torn.good_end == ends[1]);
  CHECK(torn.commands.size() == 1);
  // One of the later batches knows that this was on disk.
  CHECK(absl::IsDataLoss(read(ends[1] + 1, 1024, '\0').last.status()));
  // No power loss leaves this.
  CHECK(absl::IsDataLoss(read(ends[1], 1024, 'x').last.status()));
  // The hole of a later batch does not excuse a changed byte in an earlier one.
  std::string two = BuildLog(1, {batches[1], batches[0], batches[1]}, nullptr, kLogHeaderBytes);
  two.replace(two.size() - 1000 / 512 * 512 - two.size() % 512, 512, 512, '\0');
  CHECK(IsTorn(Read(two)));
  two[kLogHeaderBytes + 100] ^= 1;
  CHECK(absl::IsDataLoss(Read(two).last.status()));
}

TEST_CASE("The next log says where this one ends") {
  LogPosition end;
  FakeFileSystem files;
  files.Put("/log", BuildLog(1, {Numbered(1), Numbered(2)}, &end) + "void");
  const auto sink = [](std::span<const std::string_view>) { return absl::OkStatus(); };
  const auto read = [&](uint64_t offset, uint32_t crc) {
    auto reader = LogReader::Open(files, "/log", 1);
    REQUIRE(reader.ok());
    (*reader)->ExpectEnd(offset, crc);
    absl::StatusOr<LogReader::Step> step;
    do {
      step = (*reader)->NextBatch(sink);
    } while (step.ok() && *step == LogReader::Step::kBatch);
    return step.status();
  };
  CHECK(read(end.offset, end.crc).ok());
  CHECK(absl::IsDataLoss(read(end.offset, end.crc ^ 1)));
  CHECK(absl::IsDataLoss(read(end.offset - 1, end.crc)));
  CHECK(absl::IsDataLoss(read(end.offset + 1, end.crc)));
  CHECK(absl::IsDataLoss(read(end.offset + 100, end.crc)));
}

TEST_CASE("An error of the sink names the command's place") {
  FakeFileSystem files;
  files.Put("/log", BuildLog(1, {Numbered(1) + RequestText({"NONSENSE"})}));
  auto reader = LogReader::Open(files, "/log", 1);
  REQUIRE(reader.ok());
  const auto step = (*reader)->NextBatch([](std::span<const std::string_view> args) {
    return args[0] == "INCR" ? absl::OkStatus() : absl::InvalidArgumentError("unknown command");
  });
  CHECK(absl::IsInvalidArgument(step.status()));
  CHECK(std::string(step.status().message()) ==
        absl::StrCat("/log offset ", kLogHeaderBytes + Numbered(1).size(), ": unknown command"));
}

}  // namespace
}  // namespace tally::server::log_reader_test
