// The state of a snapshot of a large sorted set that changes meanwhile. Elements are saved in the
// order of ranks, but an element that is about to change is saved first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/run_sink.h"
#include "core/mem/slab.h"

namespace tally {

// Appends an element to a run: its score, 8 bytes little-endian, and its length-prefixed member.
void AppendElement(std::string_view member, double score, std::string& run);

class ZSetSnapshot {
 public:
  using Handle = Slab::Handle;

  explicit ZSetSnapshot(const RunSink& sink) : sink_(sink) {}

  // Marks a record that must not be saved (again): it is saved, or newer than the snapshot. Returns
  // false if it was marked before.
  bool Mark(Handle handle);
  void Save(std::string_view member, double score);
  void Flush();

  // The last element that the walk has reached, if it has `begun`. This element and all before it
  // are marked.
  bool begun = false;
  double score = 0;
  std::string member;

 private:
  RunSink sink_;
  std::string run_;
  // One bit for each place where a record may begin in the slab: 3% of the records' bytes.
  std::vector<uint64_t> marks_;
};

}  // namespace tally
