// Where the bytes of a file or a payload come from, so that the reader knows no files.
#pragma once

#include <absl/status/statusor.h>

#include <string_view>
#include <utility>

namespace tally::rdb {

class ByteSource {
 public:
  // Returns the next bytes, as many as the source likes; none at the end. They are valid until the
  // next call.
  virtual absl::StatusOr<std::string_view> Next() = 0;

 protected:
  ~ByteSource() = default;
};

// Bytes in memory, which must outlive the source.
class TextSource final : public ByteSource {
 public:
  explicit TextSource(std::string_view bytes) : bytes_(bytes) {}

  absl::StatusOr<std::string_view> Next() override { return std::exchange(bytes_, {}); }

 private:
  std::string_view bytes_;
};

}  // namespace tally::rdb
