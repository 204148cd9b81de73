// What is under way of a snapshot of a large sorted set that changes meanwhile: each element is
// saved in the order of ranks, or just before it changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/mem/slab.h"

namespace tally {

// An element of a run: its score, 8 bytes little-endian, and its length-prefixed member.
void AppendElement(std::string_view member, double score, std::string& run);

class ZSetSnapshot {
 public:
  using RunSink = std::function<void(std::string_view run)>;
  using Handle = Slab::Handle;

  explicit ZSetSnapshot(const RunSink& sink) : sink_(sink) {}

  // Marks the record as one that is not, or not any more, to be saved; false if it was marked.
  bool Mark(Handle handle);
  void Save(std::string_view member, double score);
  void Flush();

  // The element that the walk has come to; what lies before is marked.
  bool begun = false;
  double score = 0;
  std::string member;

 private:
  RunSink sink_;
  std::string run_;
  // A bit for each place that a record may have in the slab: 3% of the records' bytes.
  std::vector<uint64_t> marks_;
};

}  // namespace tally
