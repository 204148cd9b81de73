#include "server/rdb/stream_skipper.h"

#include "server/rdb/rdb_codes.h"

namespace tally::rdb {
namespace {

constexpr uint64_t kIdBytes = 16;
constexpr uint64_t kTimeBytes = 8;

void SkipLengths(RdbInput& input, int count) {
  for (; count > 0; --count) input.Length();
}

// Calls skip() as often as the next length says.
template <typename Skip>
void ForEachCounted(RdbInput& input, Skip&& skip) {
  for (uint64_t left = input.Length(); left > 0 && input.ok(); --left) skip();
}

void SkipConsumer(RdbInput& input, uint8_t code) {
  input.SkipString();
  input.Skip(kTimeBytes);
  if (code >= kStream3) input.Skip(kTimeBytes);
  ForEachCounted(input, [&] { input.Skip(kIdBytes); });
}

void SkipGroup(RdbInput& input, uint8_t code) {
  input.SkipString();
  // The last id, and how many entries were read.
  SkipLengths(input, code >= kStream2 ? 3 : 2);
  ForEachCounted(input, [&] {
    input.Skip(kIdBytes + kTimeBytes);
    input.Length();
  });
  ForEachCounted(input, [&] { SkipConsumer(input, code); });
}

}  // namespace

void SkipStream(RdbInput& input, uint8_t code) {
  ForEachCounted(input, [&] {
    input.SkipString();
    input.SkipString();
  });
  // The number of entries and the last id; from the second version on also the first id, the
  // largest deleted one, and how many entries were added.
  SkipLengths(input, code >= kStream2 ? 8 : 3);
  ForEachCounted(input, [&] { SkipGroup(input, code); });
}

}  // namespace tally::rdb
