// What the append-only file's tests share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "random_seed.h"
#include "server/aof/aof_directory.h"
#include "server/aof/aof_loader.h"
#include "server/aof/log_format.h"
#include "server/request_text.h"

namespace tally::test {

inline constexpr char kDirectory[] = "/data/appendonlydir";
inline constexpr char kBaseName[] = "appendonly.aof";

// The command that stands for operation `n` in tests that count.
inline std::string Numbered(uint64_t n) {
  return server::RequestText({"INCR", absl::StrCat("key", n)});
}

inline std::string Join(std::span<const std::string_view> args) {
  std::string text;
  for (const std::string_view arg : args)
    absl::StrAppend(&text, text.empty() ? "" : " ", std::string(arg));
  return text;
}

// What a start from the directory finds.
struct Loaded {
  std::vector<std::string> records;
  std::vector<std::string> commands;  // arguments joined by blanks
  server::LogPosition end;
  uint64_t synced = 0;
  uint64_t torn_bytes = 0;
};

inline absl::StatusOr<Loaded> Load(const server::AofDirectory& directory,
                                   bool load_truncated = true) {
  auto loader = server::AofLoader::Open(directory, load_truncated);
  if (!loader.ok()) return loader.status();
  Loaded loaded;
  while (true) {
    const auto more = (*loader)->Step(
        [&](std::string_view record) {
          loaded.records.emplace_back(record);
          return absl::OkStatus();
        },
        [](std::span<const std::string_view>) {},
        [&](std::span<const std::string_view> args) {
          loaded.commands.push_back(Join(args));
          return absl::OkStatus();
        });
    if (!more.ok()) return more.status();
    if (!*more) break;
  }
  loaded.end = (*loader)->end();
  loaded.synced = (*loader)->synced();
  loaded.torn_bytes = (*loader)->torn_bytes();
  return loaded;
}

inline std::unique_ptr<server::AofDirectory> OpenDirectory(server::FileSystem& files) {
  auto directory = server::AofDirectory::Open(files, kDirectory, kBaseName);
  INFO(directory.status().ToString());
  REQUIRE(directory.ok());
  return std::move(*directory);
}

// A log as LogWriter would write it: one batch for each element, each synced before the next, or
// none after the first `synced` bytes.
inline std::string BuildLog(uint64_t sequence, const std::vector<std::string>& batches,
                            server::LogPosition* end = nullptr, uint64_t synced = UINT64_MAX) {
  server::LogHeader header{sequence, 0, 0, 0};
  std::string log = server::FormatLogHeader(header);
  server::ParseLogHeader(log, header);
  server::LogPosition position{sequence, log.size(), header.crc};
  for (const std::string& batch : batches) {
    log += batch;
    position.crc =
        server::AppendAnnotation(position, std::min(synced, position.offset), batch, log);
    position.offset = log.size();
  }
  if (end != nullptr) *end = position;
  return log;
}

inline std::vector<std::string> RandomBatches(SeededRandom& random, size_t count) {
  std::vector<std::string> batches(count);
  for (std::string& batch : batches) {
    for (uint64_t commands = 1 + random.Below(4); commands > 0; --commands) {
      std::vector<std::string> args(1 + random.Below(4));
      for (std::string& arg : args) {
        arg.resize(random.Below(12));
        for (char& c : arg) c = static_cast<char>(random.Next());
      }
      batch += server::RequestText(args);
    }
  }
  return batches;
}

}  // namespace tally::test
