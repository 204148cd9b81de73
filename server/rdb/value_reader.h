// Reads the value of one key, in whichever encoding it was saved, and passes its elements on. In
// steps, so that a value of millions of elements does not stop the loop.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/rdb/packed_list.h"
#include "server/rdb/rdb_codes.h"
#include "server/rdb/rdb_input.h"
#include "server/rdb/rdb_sink.h"
#include "server/rdb/stream_skipper.h"

namespace tally::rdb {

class ValueReader {
 public:
  ValueReader(RdbInput& input, RdbSink& sink) : input_(input), sink_(sink), skipper_(input) {}

  // Begins to read a value of the type `code`. `head` must live until the value is read. An unknown
  // type is an error of the input.
  void Begin(uint8_t code, Dialect dialect, const KeyHead& head);
  // Reads some elements. Returns false when the value is complete, or after an error of the input.
  bool Next();

  // The names of the fields of hashes that follow, to which these refer by the number.
  using Fields = std::vector<std::string>;
  void AddTemplate(uint64_t number, Fields fields) { templates_[number] = std::move(fields); }
  Fields ReadFields();

  // Reads a module's parts up to their end, and passes them on if `wanted`.
  void ModuleParts(bool wanted);
  // The name and the version in the number of a module's type.
  static std::string ModuleName(uint64_t id);
  static uint64_t ModuleVersion(uint64_t id) { return id & 1023; }

 private:
  // About this many elements are read in a step.
  static constexpr uint64_t kStep = 256;

  void BeginKind(Kind kind);
  void BeginCounted(Kind kind);
  void ReadElement();
  void ReadTable();
  void ReadBlob();
  void ReadNode();
  void ReadModule();
  void BeginTemplated(uint8_t code);
  const Fields* FindTemplate(uint64_t number);
  void ReadTemplated(std::string_view blob);
  void SkipArrayElement();
  template <typename Reader>
  void ReadPacked(std::string_view blob);
  // One element, pair or triple of a blob, of which the first part is read.
  template <typename Reader>
  Refusal TakePacked(Reader& reader, StoredText& first);
  Refusal TakeScored(std::string_view member, double score);
  void Take(Refusal refusal, uint64_t offset);

  RdbInput& input_;
  RdbSink& sink_;
  const KeyHead* head_ = nullptr;
  uint8_t code_ = 0;
  Kind kind_ = Kind::kString;
  bool counted_ = false;  // the value is `left_` elements or nodes, not one string
  uint64_t left_ = 0;
  int64_t least_deadline_ms_ = 0;  // of a hash with deadlines: what those of its fields count from
  std::string first_;              // of a pair
  StreamSkipper skipper_;
  absl::flat_hash_map<uint64_t, Fields> templates_;
  Fields own_fields_;               // of a hash that comes with its template
  const Fields* fields_ = nullptr;  // of the hash that is read
};

}  // namespace tally::rdb
