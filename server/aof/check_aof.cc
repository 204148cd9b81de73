#include "server/aof/check_aof.h"

#include <algorithm>
#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "server/aof/aof_directory.h"
#include "server/aof/aof_loader.h"
#include "server/aof/base_reader.h"
#include "server/aof/find_manifest.h"
#include "server/aof/log_reader.h"

namespace tally::server {
namespace {

constexpr uint64_t kExcerptBytes = 1024;

using Verdict = CheckAofResult::Verdict;

class Checker {
 public:
  explicit Checker(AofDirectory& directory) : directory_(directory) {}

  CheckAofResult Run(bool fix) {
    Examine();
    // If anything is damaged, nothing is changed.
    if (fix && result_.verdict == Verdict::kTorn) TruncateTornTails();
    static constexpr const char* kConclusion[] = {
        "whole", "whole but for a torn tail: aof-load-truncated yes or --fix truncates it",
        "whole, after the torn tail was truncated", "DAMAGED: the server will not start from it"};
    Say(absl::StrCat("result: ", kConclusion[static_cast<size_t>(result_.verdict)]));
    return std::move(result_);
  }

 private:
  struct TornTail {
    std::string path;
    uint64_t offset = 0;
  };

  void Examine() {
    const Manifest& manifest = directory_.manifest();
    Say(absl::StrCat(directory_.ManifestPath(), ": ", manifest.base.has_value() ? 1 : 0, " base, ",
                     manifest.logs.size(), " logs"));
    std::optional<BaseHeader> base;
    if (manifest.base.has_value()) base = CheckBase(*manifest.base);
    OpenLogs(manifest.logs);
    BeginLogs(base);
    for (const auto& log : logs_) CheckLog(*log);
  }

  void Say(const std::string& line) { absl::StrAppend(&result_.report, line, "\n"); }

  void Find(Verdict verdict) { result_.verdict = std::max(result_.verdict, verdict); }

  void FindDamage(const absl::Status& status) {
    Say(absl::StrCat("  first bad: ", status.message()));
    Find(Verdict::kDamaged);
  }

  // Returns the header; nullopt if there is none that can be read.
  std::optional<BaseHeader> CheckBase(const ManifestEntry& entry) {
    auto base = BaseReader::Open(directory_.files(), directory_.PathOf(entry), entry.sequence);
    if (!base.ok()) {
      FindDamage(base.status());
      return std::nullopt;
    }
    while (true) {
      const auto more = (*base)->NextBlock([](std::string_view) { return absl::OkStatus(); });
      if (more.ok() && *more) continue;
      Say(absl::StrCat((*base)->path(), ": base, ", (*base)->file_size(), " bytes, ",
                       (*base)->blocks(), " blocks, ", (*base)->records(), " records"));
      if (!more.ok()) FindDamage(more.status());
      break;
    }
    const auto& logs = directory_.manifest().logs;
    if (logs.empty() || logs.front().sequence < (*base)->header().first_log) {
      FindDamage(absl::DataLossError("the base is not continued by the first log"));
    }
    return (*base)->header();
  }

  void OpenLogs(const std::vector<ManifestEntry>& entries) {
    for (const ManifestEntry& entry : entries) {
      auto log = LogReader::Open(directory_.files(), directory_.PathOf(entry), entry.sequence);
      if (!log.ok()) {
        FindDamage(log.status());
        continue;
      }
      const auto& header = (*log)->header();
      const bool headless_before = !logs_.empty() && !logs_.back()->header().has_value();
      if (header.has_value() && headless_before) {
        FindDamage(absl::DataLossError(absl::StrCat(logs_.back()->path(), " offset 0: no header")));
      }
      if (header.has_value() && !logs_.empty()) {
        logs_.back()->ExpectEnd(header->previous_offset, header->previous_crc);
      }
      logs_.push_back(std::move(*log));
    }
  }

  // If the base or the first log could not be opened, that has been said, and how the one continues
  // the other is not known.
  void BeginLogs(const std::optional<BaseHeader>& base) {
    const Manifest& manifest = directory_.manifest();
    if (manifest.base.has_value() && !base.has_value()) return;
    const bool first_is_open =
        !logs_.empty() && logs_.front()->position().sequence == manifest.logs.front().sequence;
    if (!first_is_open && !manifest.logs.empty()) return;
    const absl::Status status = AofLoader::BeginLogs(base, logs_);
    if (!status.ok()) FindDamage(status);
  }

  void CheckLog(LogReader& log) {
    // The server skips such a log, whatever aof-load-truncated says: not even its header was
    // written.
    if (!log.header().has_value()) {
      return Say(absl::StrCat(log.path(), ": log, ", log.file_size(), " bytes, has not begun"));
    }
    while (true) {
      const auto step =
          log.NextBatch([](std::span<const std::string_view>) { return absl::OkStatus(); });
      if (step.ok() && *step == LogReader::Step::kBatch) continue;
      Say(absl::StrCat(log.path(), ": log, ", log.file_size(), " bytes, ", log.batches(),
                       " batches, ", log.commands(), " commands, good up to offset ",
                       log.position().offset));
      if (!step.ok()) {
        FindDamage(step.status());
        Say(absl::StrCat("  to go on without the ", log.tail_bytes(),
                         " bytes from there, after making a copy: truncate -s ",
                         log.position().offset, " ", log.path()));
      } else if (*step == LogReader::Step::kTorn) {
        FindTornTail(log);
      }
      return;
    }
  }

  void FindTornTail(const LogReader& log) {
    Say(absl::StrCat("  torn tail: ", log.tail_bytes(), " bytes at offset ", log.position().offset,
                     ", of what was not known to be on disk, which begin"));
    std::string excerpt(std::min<uint64_t>(log.tail_bytes(), kExcerptBytes), '\0');
    auto file = directory_.files().OpenForRead(log.path());
    if (!file.ok()) return FindDamage(file.status());
    const auto count = ReadFull(**file, log.position().offset, excerpt);
    if (!count.ok()) return FindDamage(count.status());
    Say(absl::StrCat("    \"", absl::CHexEscape(excerpt.substr(0, *count)), "\""));
    torn_tails_.push_back({log.path(), log.position().offset});
    Find(Verdict::kTorn);
  }

  void TruncateTornTails() {
    for (const TornTail& tail : torn_tails_) {
      auto file = directory_.files().OpenForAppend(tail.path);
      absl::Status status = file.status();
      if (status.ok()) status = (*file)->Truncate(tail.offset);
      if (status.ok()) status = (*file)->Sync();
      if (!status.ok()) return FindDamage(status);
      Say(absl::StrCat("fixed: ", tail.path, " was truncated to ", tail.offset, " bytes"));
    }
    Find(Verdict::kFixed);
  }

  AofDirectory& directory_;
  CheckAofResult result_;
  std::vector<TornTail> torn_tails_;
  std::vector<std::unique_ptr<LogReader>> logs_;
};

CheckAofResult Refuse(const absl::Status& status) {
  return {Verdict::kDamaged, absl::StrCat(status.message(), "\n")};
}

}  // namespace

CheckAofResult CheckAof(FileSystem& files, const std::string& path, bool fix) {
  const auto place = FindManifest(files, path);
  if (!place.ok()) return Refuse(place.status());
  const auto& [directory, base_name] = *place;
  std::unique_ptr<File> lock;
  if (fix) {
    auto taken = AofDirectory::Lock(files, directory, base_name);
    if (!taken.ok()) return Refuse(taken.status());
    lock = std::move(*taken);
  }
  auto opened = AofDirectory::OpenForInspection(files, directory, base_name);
  if (!opened.ok()) return Refuse(opened.status());
  return Checker(**opened).Run(fix);
}

}  // namespace tally::server
