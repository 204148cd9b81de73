#include "core/zset/zset_snapshot.h"

#include <bit>
#include <cstring>

#include "core/bytes/recycle.h"
#include "core/bytes/run_sink.h"
#include "core/bytes/varint.h"

namespace tally {
namespace {

static_assert(std::endian::native == std::endian::little, "scores are saved as they are in memory");

constexpr size_t kBitsAWord = 64;

}  // namespace

void AppendElement(std::string_view member, double score, std::string& run) {
  char score_bytes[sizeof(score)];
  std::memcpy(score_bytes, &score, sizeof(score));
  run.append(score_bytes, sizeof(score_bytes));
  AppendLengthPrefixed(run, member);
}

bool ZSetSnapshot::Mark(Handle handle) {
  const size_t word = handle / kBitsAWord;
  const uint64_t bit = uint64_t{1} << (handle % kBitsAWord);
  if (word >= marks_.size()) marks_.resize(word + word / 8 + 1);
  if ((marks_[word] & bit) != 0) return false;
  marks_[word] |= bit;
  return true;
}

void ZSetSnapshot::Save(std::string_view text, double value) {
  AppendElement(text, value, run_);
  if (run_.size() >= kRunBytes) Flush();
}

void ZSetSnapshot::Flush() {
  if (!run_.empty()) sink_(run_);
  // One large member must not keep its memory until the end.
  Recycle(run_, 2 * kRunBytes);
}

}  // namespace tally
