#include "server/durability/data_files.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/base/check.h"

namespace tally::server {

bool DataFiles::Exists() const { return system_.List(config_.appenddirname).ok(); }

absl::Status DataFiles::Open() {
  if (directory_ != nullptr) return absl::OkStatus();
  auto directory = AofDirectory::Open(system_, config_.appenddirname, config_.appendfilename);
  if (!directory.ok()) return directory.status();
  directory_ = std::move(*directory);
  return absl::OkStatus();
}

absl::Status DataFiles::OpenBeside() {
  for (const std::string& name : system_.List(beside()).value_or(std::vector<std::string>())) {
    if (absl::Status status = system_.Remove(beside() + "/" + name); !status.ok()) return status;
  }
  auto directory = AofDirectory::Open(system_, beside(), config_.appendfilename);
  if (!directory.ok()) return directory.status();
  directory_ = std::move(*directory);
  return absl::OkStatus();
}

absl::Status DataFiles::PutInPlace() { return directory().MoveTo(config_.appenddirname); }

absl::Status DataFiles::FinishPutting() {
  const auto directory = AofDirectory::OpenForInspection(system_, beside(), config_.appendfilename);
  if (!directory.ok() || !(*directory)->manifest().base) return absl::OkStatus();
  return (*directory)->MoveTo(config_.appenddirname);
}

AofDirectory& DataFiles::directory() const {
  Check(directory_ != nullptr, "the directory is opened before it is used");
  return *directory_;
}

uint64_t DataFiles::BytesSinceBase(uint64_t current) const {
  const int64_t bytes = older_log_bytes_ + static_cast<int64_t>(current);
  return static_cast<uint64_t>(std::max<int64_t>(bytes, 0));
}

void DataFiles::Loaded(uint64_t base, int64_t older_logs) {
  base_bytes_ = base;
  older_log_bytes_ = older_logs;
}

void DataFiles::LogFollowed(uint64_t bytes) { older_log_bytes_ += static_cast<int64_t>(bytes); }

void DataFiles::BaseReplaced(uint64_t base, uint64_t covered) {
  base_bytes_ = base;
  older_log_bytes_ = -static_cast<int64_t>(covered);
}

}  // namespace tally::server
