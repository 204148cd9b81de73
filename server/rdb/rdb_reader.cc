#include "server/rdb/rdb_reader.h"

#include <utility>

#include "core/bytes/str_cat.h"

namespace tally::rdb {
namespace {

constexpr size_t kMagicBytes = 9;
// The first version whose files end in a checksum.
constexpr uint64_t kFirstSummed = 5;

// Decimal digits; 0 for anything else, which is no version.
uint64_t VersionOf(std::string_view digits) {
  uint64_t version = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return 0;
    version = version * 10 + static_cast<uint64_t>(c - '0');
  }
  return version;
}

// The name in the first line of a library, "#!lua name=counters".
std::string_view LibraryName(std::string_view code) {
  constexpr std::string_view kName = "name=";
  const std::string_view line = code.substr(0, code.find('\n'));
  const size_t begin = line.find(kName);
  if (begin == std::string_view::npos) return "?";
  const std::string_view name = line.substr(begin + kName.size());
  return name.substr(0, name.find_first_of(" \t\r"));
}

}  // namespace

absl::StatusOr<bool> RdbReader::Next() {
  if (!begun_) ReadMagic();
  bool more = true;
  if (in_value_) {
    ContinueValue();
  } else if (input_.ok()) {
    more = ReadPart();
  }
  if (!input_.ok()) return input_.status();
  return more;
}

void RdbReader::ReadMagic() {
  begun_ = true;
  const std::string_view magic = input_.Bytes(kMagicBytes);
  if (!input_.ok()) return;
  if (magic.starts_with("VCS")) {
    return input_.FailAt(0,
                         "the file is compressed as a whole, as Valkey 9.2 can do; save it with "
                         "rdbcompression yes instead");
  }
  const bool is_valkey = magic.starts_with("VALKEY");
  if (!is_valkey && !magic.starts_with("REDIS")) return input_.FailAt(0, "not an RDB file");
  dialect_ = is_valkey ? Dialect::kValkey : Dialect::kRedis;
  version_ = VersionOf(magic.substr(is_valkey ? 6 : 5));
  if (version_ == 0 || (is_valkey && DialectOfVersion(version_) != dialect_)) {
    input_.FailAt(0, StrCat("not a version of RDB: ", magic));
  }
}

bool RdbReader::ReadPart() {
  const uint8_t code = input_.Byte();
  if (!input_.ok()) return false;
  switch (code) {
    case kOpExpireSeconds:
      head_.deadline_ms = static_cast<int64_t>(static_cast<int32_t>(input_.Fixed(4))) * 1000;
      return true;
    case kOpExpireMs:
      head_.deadline_ms = static_cast<int64_t>(input_.Fixed(8));
      return true;
    case kOpIdle:
      head_.idle_seconds = input_.Length();
      return true;
    case kOpFrequency:
      head_.frequency = input_.Byte();
      return true;
    case kOpEnd:
      ReadEnd();
      return false;
    default:
      break;
  }
  code < kFirstOpcode ? ReadKey(code) : ReadOpcode(code);
  return true;
}

void RdbReader::ReadKey(uint8_t code) {
  head_.offset = input_.offset();
  key_.assign(input_.String());
  if (!input_.ok()) return;
  head_.key = key_;
  // Redis takes this deadline as none.
  if (head_.deadline_ms == -1) head_.deadline_ms = kNoDeadline;
  value_.Begin(code, dialect_, head_);
  ContinueValue();
}

void RdbReader::ContinueValue() {
  in_value_ = value_.Next();
  if (in_value_) return;
  const uint64_t database = head_.database;
  head_ = KeyHead();
  head_.database = database;
}

void RdbReader::ReadOpcode(uint8_t code) {
  const uint64_t begin = input_.offset() - 1;
  switch (code) {
    case kOpSelectDb: {
      head_.database = input_.Length();
      if (!input_.ok()) return;
      if (const Refusal refusal = sink_.Database(head_.database); !refusal.empty()) {
        input_.FailAt(begin, refusal);
      }
      return;
    }
    case kOpResizeDb: {
      const uint64_t keys = input_.Length();
      input_.Length();
      if (input_.ok()) sink_.KeyCount(keys);
      return;
    }
    case kOpAux: {
      const std::string name(input_.String());
      const std::string_view value = input_.String();
      if (input_.ok()) sink_.Aux(name, value);
      return;
    }
    case kOpSlotInfo:
      for (int i = 0; i < 3; ++i) input_.Length();
      return;
    case kOpFunction2:
      return ReadFunction();
    case kOpModuleAux:
      return ReadModuleAux();
    case kOpRedisTemplate:
      if (dialect_ != Dialect::kRedis) {
        return input_.FailAt(begin, "commands within the file, as Valkey 9.2 can write them");
      }
      return ReadTemplate();
    case kOpRedisKeyMeta:
      return dialect_ == Dialect::kRedis ? SkipKeyMeta() : SkipSlotImport();
    default:
      input_.FailAt(begin,
                    StrCat("opcode ", code, ", which is not known, in a file of version ", version_,
                           dialect_ == Dialect::kRedis ? " of Redis" : " of Valkey"));
  }
}

void RdbReader::ReadFunction() {
  const std::string_view code = input_.String();
  if (input_.ok()) sink_.Skipped("function library", head_.database, LibraryName(code));
}

// Its number says when it was saved, which is two parts of a module's value by itself.
void RdbReader::ReadModuleAux() {
  const uint64_t begin = input_.offset();
  const uint64_t id = input_.Length();
  if (input_.Length() != kModuleUnsigned) input_.FailAt(begin, "a module's data without its time");
  input_.Length();
  if (!input_.ok()) return;
  const bool wanted =
      sink_.BeginModule(nullptr, ValueReader::ModuleName(id), ValueReader::ModuleVersion(id));
  value_.ModuleParts(wanted);
  if (!wanted || !input_.ok()) return;
  if (const Refusal refusal = sink_.End(); !refusal.empty()) input_.FailAt(begin, refusal);
}

void RdbReader::ReadTemplate() {
  const uint64_t number = input_.Length();
  ValueReader::Fields fields = value_.ReadFields();
  if (input_.ok()) value_.AddTemplate(number, std::move(fields));
}

void RdbReader::SkipKeyMeta() {
  for (uint64_t left = input_.Length(); left > 0 && input_.ok(); --left) {
    input_.Skip(4);
    value_.ModuleParts(false);
  }
}

void RdbReader::SkipSlotImport() {
  input_.SkipString();
  for (uint64_t left = input_.Length(); left > 0 && input_.ok(); --left) {
    input_.Length();
    input_.Length();
  }
}

void RdbReader::ReadEnd() {
  if (const Refusal refusal = sink_.Flush(); !refusal.empty()) return input_.Fail(refusal);
  if (dialect_ == Dialect::kRedis && version_ < kFirstSummed) return;
  const uint64_t begin = input_.offset();
  const uint64_t computed = input_.Checksum();
  const uint64_t said = input_.Fixed(8);
  // A server whose rdbchecksum is no writes zeros.
  if (input_.ok() && said != 0 && said != computed) {
    input_.FailAt(begin, "the checksum does not match");
  }
}

}  // namespace tally::rdb
