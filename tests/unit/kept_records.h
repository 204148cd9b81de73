// A sink that keeps the records it is given, whole, and checks that they come as they must.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/check.h"
#include "core/snapshot/record_sink.h"

namespace tally::test {

class KeptRecords : public RecordSink {
 public:
  explicit KeptRecords(size_t max_part_bytes = kMaxPartBytes) : max_part_bytes_(max_part_bytes) {}

  size_t max_part_bytes() const override { return max_part_bytes_; }
  absl::Status Append(RecordPart part, std::string_view bytes) override {
    Check(!bytes.empty() && bytes.size() <= max_part_bytes_, "a part has bytes, and is bounded");
    Check(pieces_.empty() || part != RecordPart::kWhole, "pieces follow one another");
    ++parts;
    pieces_.append(bytes);
    if (part == RecordPart::kPiece) return absl::OkStatus();
    records.push_back(pieces_);
    pieces_.clear();
    return absl::OkStatus();
  }

  std::vector<std::string> records;
  size_t parts = 0;

 private:
  size_t max_part_bytes_;
  std::string pieces_;
};

}  // namespace tally::test
