// The stream of a primary, as a replica applies it: bytes come in as they arrive, and it is known
// at each moment which of them are in the data.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string_view>

namespace tally::server {

class PrimaryStream {
 public:
  virtual ~PrimaryStream() = default;

  virtual void Take(std::string_view bytes) = 0;
  // Applies what is there, for about `budget_us`. Returns whether more of it is left. Aborted: the
  // data is no longer that of any place of the stream. After other errors it is.
  virtual absl::StatusOr<bool> Apply(int64_t budget_us) = 0;
  // The bytes of the stream that are in the data: whole transactions and scripts. `read_offset`
  // also counts those that have come of one that is not complete.
  virtual uint64_t offset() const = 0;
  virtual uint64_t read_offset() const = 0;
  // Whether the primary has asked for an acknowledgement since the last call.
  virtual bool TakeAckRequest() = 0;
  // How many commands were left out.
  virtual uint64_t skipped() const { return 0; }
};

}  // namespace tally::server
