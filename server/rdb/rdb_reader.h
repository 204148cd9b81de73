// Reads an RDB file, or a stream of the same form: what it says of itself, its keys, its end. Step
// by step, in memory of the largest string in it.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>

#include "server/rdb/byte_source.h"
#include "server/rdb/rdb_codes.h"
#include "server/rdb/rdb_input.h"
#include "server/rdb/rdb_sink.h"
#include "server/rdb/value_reader.h"

namespace tally::rdb {

class RdbReader {
 public:
  // Both must outlive the reader.
  RdbReader(ByteSource& source, RdbSink& sink)
      : input_(source), sink_(sink), value_(input_, sink) {}

  // Reads a key, or some elements of a large value. Returns false at the end of the RDB, whose
  // checksum then was right. Malformed data is DataLoss, with the offset: "offset N: why". After an
  // error nothing more may be read.
  absl::StatusOr<bool> Next();

  // Of what is to be read next.
  uint64_t offset() const { return input_.offset(); }
  // Whether anything follows the end of the RDB.
  bool AtEnd() { return input_.AtEnd(); }
  // Valid once Next has returned.
  Dialect dialect() const { return dialect_; }
  uint64_t version() const { return version_; }

 private:
  void ReadMagic();
  // Returns false at the end.
  bool ReadPart();
  void ReadKey(uint8_t code);
  void ContinueValue();
  // An opcode that does not belong to a key and is not the end.
  void ReadOpcode(uint8_t code);
  void ReadFunction();
  void ReadModuleAux();
  void ReadTemplate();
  void SkipKeyMeta();
  void SkipSlotImport();
  void ReadEnd();

  RdbInput input_;
  RdbSink& sink_;
  ValueReader value_;
  bool begun_ = false;
  bool in_value_ = false;
  Dialect dialect_ = Dialect::kRedis;
  uint64_t version_ = 0;
  KeyHead head_;  // of the key that is read, or of the next one as far as it is known
  std::string key_;
};

}  // namespace tally::rdb
