// Files that were cut or changed without the server's knowledge: what was lost is known exactly,
// and a wrong value is never served.
#include <absl/strings/escaping.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "aof_helpers.h"
#include "core/snapshot/record_emitter.h"
#include "durable_server.h"
#include "kept_records.h"
#include "long_run.h"
#include "server/aof/check_aof.h"
#include "server/aof/log_reader.h"
#include "write_corpus.h"

namespace tally::server::aof_damage_test {
namespace {

using test::FakeFileSystem;
using test::SeededRandom;
using Verdict = CheckAofResult::Verdict;

constexpr int64_t kNow = 1'700'000'000'000;
constexpr char kDirectory[] = "appendonlydir";
using Contents = std::map<std::string, std::string>;

// All that the databases hold, in an order of its own.
std::multiset<std::string> RecordsOf(Engine& engine) {
  std::multiset<std::string> records;
  for (size_t database = 0; database < engine.databases(); ++database) {
    const Keyspace& keyspace = engine.database(database);
    uint64_t position = 0;
    while (Keyspace::Segment* segment = keyspace.NextSegment(position)) {
      keyspace.ForEach(*segment, [&](const Keyspace::Entry& entry) {
        test::KeptRecords kept;
        REQUIRE(RecordEmitter(kept).Entry(database, entry).ok());
        for (std::string& record : kept.records) {
          // The tables of large values are written in any order.
          if (entry.is_heap()) std::sort(record.begin(), record.end());
          records.insert(std::move(record));
        }
      });
    }
  }
  test::KeptRecords policies;
  REQUIRE(RecordEmitter(policies).Policies(engine.policies()).ok());
  records.insert(policies.records.begin(), policies.records.end());
  return records;
}

struct Corpus {
  Contents files;
  std::string log;                                 // the last log's path
  std::vector<size_t> ends;                        // of its batches, the header's first
  std::vector<std::multiset<std::string>> states;  // what the databases held there
};

// Every kind of record in a base and, `passes` times, in the log that follows it.
Corpus Build(int passes) {
  FakeFileSystem files;
  Corpus corpus;
  {
    DurableServer first(files, {}, kNow);
    for (const std::string& line : test::WriteLines()) first.Run(test::LineOfPass(line, 0));
    first.Run("BGREWRITEAOF");
    while (first.rewriting()) first.Run("PING");
    first.Close();
  }
  DurableServer server(files, {}, kNow);
  for (const auto& [path, bytes] : files.Contents()) {
    if (path.ends_with(".incr.aof")) corpus.log = path;
  }
  const auto note = [&] {
    const size_t size = files.Contents()[corpus.log].size();
    if (!corpus.ends.empty() && size == corpus.ends.back()) return;
    corpus.ends.push_back(size);
    corpus.states.push_back(RecordsOf(server.engine()));
  };
  note();
  for (int pass = 1; pass <= passes; ++pass) {
    for (const std::string& line : test::WriteLines()) {
      const std::string reply = server.Run(test::LineOfPass(line, pass));
      INFO(line << " replied " << reply);
      REQUIRE(reply[0] != '-');
      note();
    }
  }
  server.Close();
  corpus.files = files.Contents();
  return corpus;
}

void PutAll(FakeFileSystem& files, const Contents& contents) {
  for (const auto& [path, bytes] : contents) files.Put(path, bytes);
}

// The log cut there is what its whole batches were.
void CheckCut(const Corpus& corpus, size_t offset) {
  INFO("cut at " << offset);
  FakeFileSystem files;
  PutAll(files, corpus.files);
  files.Put(corpus.log, corpus.files.at(corpus.log).substr(0, offset));
  DurableServer server(files, {}, kNow);
  const auto after = std::upper_bound(corpus.ends.begin(), corpus.ends.end(), offset);
  const size_t whole = std::max<size_t>(1, static_cast<size_t>(after - corpus.ends.begin())) - 1;
  const auto found = RecordsOf(server.engine());
  const auto& expected = corpus.states[whole];
  std::vector<std::string> wrong;
  std::set_symmetric_difference(found.begin(), found.end(), expected.begin(), expected.end(),
                                std::back_inserter(wrong));
  for (std::string& record : wrong) record = absl::CHexEscape(record);
  INFO("only there or expected: " << absl::StrJoin(wrong, "\n"));
  CHECK(wrong.empty());
}

// A server does not start from these files, and --check-aof finds the same.
void CheckRefused(const Contents& contents) {
  FakeFileSystem files;
  PutAll(files, contents);
  DurableServer server(files, {});
  server.SetClock(kNow);
  const absl::Status status = server.Start();
  INFO(status.ToString());
  CHECK_FALSE(status.ok());
  CHECK(status.message().find(kDirectory) == 0);  // says which file
  const CheckAofResult checked = CheckAof(files, kDirectory, false);
  INFO(checked.report);
  CHECK(checked.verdict == Verdict::kDamaged);
}

void CheckFlip(const Corpus& corpus, const std::string& path, size_t byte, SeededRandom& random) {
  Contents contents = corpus.files;
  char& changed = contents[path][byte];
  const char before = changed;
  if (random.OneIn(2)) {
    changed = static_cast<char>(changed ^ (1 << random.Below(8)));
  } else {
    while (changed == before) changed = static_cast<char>(random.Next());
  }
  INFO(path << " byte " << byte << ": " << int{before} << " became " << int{changed});
  CheckRefused(contents);
}

}  // namespace

TEST_CASE("aof damage: the corpus holds every command that writes") {
  const Corpus corpus = Build(1);
  FakeFileSystem files;
  PutAll(files, corpus.files);
  std::set<std::string> logged;
  auto log = LogReader::Open(files, corpus.log, 2);
  REQUIRE(log.ok());
  const auto note = [&](std::span<const std::string_view> args) {
    logged.emplace(args[0]);
    return absl::OkStatus();
  };
  while (*(*log)->NextBatch(note) == LogReader::Step::kBatch) {
  }
  // The families' own effects; what Redis's commands become is among them.
  for (const char* name : {"SELECT",       "SET",           "APPEND",
                           "DEL",          "RPUSH",         "HSET",
                           "SADD",         "SREM",          "ZADD",
                           "SETBIT",       "PFADD",         "RENAME",
                           "COPY",         "MOVE",          "SWAPDB",
                           "PERSIST",      "HITS.ADD",      "HITS.UNDO",
                           "LIMIT.TAKE",   "LIMIT.GIVE",    "LIMIT.RESET",
                           "POLICY.SET",   "POLICY.DEL",    "ACTIVE.CREATE",
                           "ACTIVE.TOUCH", "ACTIVE.FORGET", "QUOTA.SETLIMIT",
                           "QUOTA.RECORD", "QUOTA.RETURN",  "QUOTA.DELLIMIT",
                           "QUOTA.RESET"}) {
    INFO(name);
    CHECK(logged.contains(name));
  }
  std::set<char> kinds;
  for (const std::string& record : RecordsOf(DurableServer(files, {}, kNow).engine())) {
    kinds.insert(record[0]);
  }
  for (const char kind : {'i', 'b', 'p'}) CHECK(kinds.contains(kind));
}

TEST_CASE("aof damage: a log cut anywhere is its longest prefix of whole batches") {
  SeededRandom random;
  INFO("TALLY_SEED=" << random.seed());
  const Corpus corpus = Build(1);
  const size_t size = corpus.files.at(corpus.log).size();
  for (int i = 0; i < 500; ++i) CheckCut(corpus, random.Below(size + 1));
}

TEST_CASE("aof damage: one changed byte in any file stops the start") {
  SeededRandom random;
  INFO("TALLY_SEED=" << random.seed());
  const Corpus corpus = Build(1);
  size_t total = 0;
  for (const auto& [path, bytes] : corpus.files) total += bytes.size();
  for (int i = 0; i < 500; ++i) {
    size_t byte = random.Below(total);
    for (const auto& [path, bytes] : corpus.files) {
      if (byte < bytes.size()) {
        CheckFlip(corpus, path, byte, random);
        break;
      }
      byte -= bytes.size();
    }
  }
}

TEST_CASE("aof damage: a file that is missing, empty or shorter stops the start") {
  const Corpus corpus = Build(1);
  REQUIRE(corpus.files.size() == 3);
  for (const auto& [path, bytes] : corpus.files) {
    INFO(path);
    Contents missing = corpus.files;
    missing.erase(path);
    CheckRefused(missing);
    if (path == corpus.log) continue;  // that is a torn tail
    for (const size_t size : {size_t{0}, bytes.size() / 2, bytes.size() - 1}) {
      INFO("cut to " << size);
      Contents cut = corpus.files;
      cut[path].resize(size);
      CheckRefused(cut);
    }
  }
}

TEST_CASE("aof damage: every offset of a log of 100 KB, every byte of every file", "[.long]") {
  SeededRandom random;
  INFO("TALLY_SEED=" << random.seed());
  Corpus corpus = Build(12);
  const size_t size = corpus.files.at(corpus.log).size();
  CHECK(size >= 100'000);
  const test::LongRun run;
  size_t cut = 0;
  // In rounds, so that a run that is ended early has seen all parts of the log.
  for (size_t round = 0; round < 64; ++round) {
    for (size_t offset = round; offset <= size && run.goes_on(); offset += 64, ++cut) {
      CheckCut(corpus, offset);
    }
  }
  size_t flipped = 0;
  corpus = Build(1);
  const test::LongRun second;
  for (const auto& [path, bytes] : corpus.files) {
    for (size_t byte = 0; byte < bytes.size() && second.goes_on(); ++byte, ++flipped) {
      CheckFlip(corpus, path, byte, random);
    }
  }
  WARN(cut << " cuts of " << size << " bytes, " << flipped << " changed bytes");
}

}  // namespace tally::server::aof_damage_test
