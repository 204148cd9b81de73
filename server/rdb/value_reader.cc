#include "server/rdb/value_reader.h"

#include <algorithm>
#include <cmath>

#include "core/bytes/double_format.h"
#include "core/bytes/number.h"
#include "core/bytes/printable.h"
#include "core/bytes/recycle.h"
#include "core/bytes/str_cat.h"

namespace tally::rdb {
namespace {

constexpr size_t kKeptFirst = size_t{1} << 16;

// What is known of a type that is not read.
std::string_view UnknownType(uint8_t code, Dialect dialect) {
  if (code == kModule) return "a module's value, of a release candidate of Redis 4.0";
  if (dialect == Dialect::kValkey) {
    return code == kValkeyPathHash ? "a path hash, of Valkey 9.2" : "of a later Valkey";
  }
  if (code == kRedisHashDeadlinesRc || code == kRedisHashListpackDeadlinesRc) {
    return "a hash whose fields have deadlines, of a release candidate of Redis 7.4";
  }
  return code == kRedisGcra ? "a rate limit" : "of a later Redis";
}

bool IsStream(uint8_t code) {
  return code == kStream || code == kStream2 || code == kStream3 || code == kStream4 ||
         code == kStream5;
}

bool IsKnown(uint8_t code, Dialect dialect) {
  if (code <= kStream3) return code != kModule && code != kNoType;
  if (dialect == Dialect::kValkey) return code == kValkeyHash2;
  return code >= kRedisHashDeadlines && code <= kHashTemplateTableRef;
}

bool HasDeadlines(uint8_t code) {
  return code == kValkeyHash2 || code == kRedisHashDeadlines || code == kRedisHashListpackDeadlines;
}

}  // namespace

std::string ValueReader::ModuleName(uint64_t id) {
  std::string name(9, ' ');
  id >>= 10;
  for (size_t i = name.size(); i-- > 0; id >>= 6) name[i] = kModuleLetters[id & 63];
  return name;
}

void ValueReader::Take(Refusal refusal, uint64_t offset) {
  if (!refusal.empty()) input_.FailAt(offset, refusal);
}

void ValueReader::BeginKind(Kind kind) {
  kind_ = kind;
  Take(sink_.Begin(*head_, kind), input_.offset());
}

void ValueReader::BeginCounted(Kind kind) {
  if (code_ == kRedisHashDeadlines) least_deadline_ms_ = static_cast<int64_t>(input_.Fixed(8));
  left_ = input_.Length();
  counted_ = true;
  if (input_.ok()) BeginKind(kind);
}

void ValueReader::Begin(uint8_t code, Dialect dialect, const KeyHead& head) {
  code_ = code;
  head_ = &head;
  counted_ = false;
  left_ = 1;
  if (!IsKnown(code, dialect)) code = kModule;
  switch (code) {
    case kString:
      return BeginKind(Kind::kString);
    case kListZiplist:
      return BeginKind(Kind::kList);
    case kSetIntset:
    case kSetListpack:
      return BeginKind(Kind::kSet);
    case kZSetZiplist:
    case kZSetListpack:
      return BeginKind(Kind::kZSet);
    case kHashZipmap:
    case kHashZiplist:
    case kHashListpack:
      return BeginKind(Kind::kHash);
    case kRedisHashListpackDeadlines:
      input_.Skip(8);
      return BeginKind(Kind::kHash);
    case kList:
    case kListQuicklist:
    case kListQuicklist2:
      return BeginCounted(Kind::kList);
    case kSet:
      return BeginCounted(Kind::kSet);
    case kZSetText:
    case kZSet2:
      return BeginCounted(Kind::kZSet);
    case kHash:
    case kValkeyHash2:
    case kRedisHashDeadlines:
    case kHashTemplateTable:
      return BeginCounted(Kind::kHash);
    case kHashTemplateListpack:
    case kHashTemplateListpackRef:
    case kHashTemplateTableRef:
      return BeginTemplated(code);
    case kArray:
      left_ = input_.Length();
      // Where the next element goes, if that is known.
      if (input_.Length() != 0) input_.Length();
      return;
    case kStream:
    case kStream2:
    case kStream3:
    case kStream4:
    case kStream5:
      return skipper_.Begin(code);
    case kModule2:
      return;
    default:
      // How long it is, only its maker knows.
      input_.Fail(StrCat("the key ", Printable(head.key), " has a value of type ", code_, ", ",
                         UnknownType(code_, dialect), ", which cannot be read here"));
  }
}

bool ValueReader::Next() {
  if (!input_.ok()) return false;
  if (code_ == kModule2) {
    ReadModule();
    return false;
  }
  if (IsStream(code_)) {
    if (skipper_.Next()) return true;
    if (input_.ok()) sink_.Skipped("stream", head_->database, head_->key);
    return false;
  }
  if (code_ == kArray) {
    for (uint64_t i = std::min(left_, kStep); i > 0 && input_.ok(); --i, --left_) {
      SkipArrayElement();
    }
    if (left_ > 0) return input_.ok();
    if (input_.ok()) sink_.Skipped("array", head_->database, head_->key);
    return false;
  }
  if (!counted_) {
    ReadBlob();
    left_ = 0;
  } else if (code_ == kListQuicklist || code_ == kListQuicklist2) {
    if (left_ > 0) ReadNode();
  } else {
    ReadTable();
  }
  if (left_ > 0) return input_.ok();
  if (input_.ok()) Take(sink_.End(), input_.offset());
  return false;
}

void ValueReader::ReadTable() {
  for (uint64_t i = std::min(left_, kStep); i > 0 && input_.ok(); --i) {
    ReadElement();
    --left_;
  }
}

// A part is copied before the next one is read, which may replace the bytes under it.
void ValueReader::ReadElement() {
  const uint64_t begin = input_.offset();
  if (kind_ == Kind::kList || kind_ == Kind::kSet) {
    const std::string_view element = input_.String();
    if (input_.ok()) Take(sink_.Element(element), begin);
    return;
  }
  if (code_ == kHashTemplateTableRef) {
    const std::string_view value = input_.String();
    const std::string& field = (*fields_)[fields_->size() - left_];
    if (input_.ok()) Take(sink_.Field(field, value, kNoDeadline), begin);
    return;
  }
  uint64_t after = 0;  // from the least deadline on, and 1; 0: the field has none
  if (code_ == kRedisHashDeadlines) after = input_.Length();
  Recycle(first_, kKeptFirst);
  first_.assign(input_.String());
  if (kind_ == Kind::kZSet) {
    const double score = code_ == kZSet2 ? input_.BinaryDouble() : input_.TextDouble();
    if (input_.ok()) Take(TakeScored(first_, score), begin);
    return;
  }
  const std::string_view value = input_.String();
  if (!input_.ok()) return;
  int64_t deadline_ms = kNoDeadline;
  if (after != 0) {
    deadline_ms = static_cast<int64_t>(static_cast<uint64_t>(least_deadline_ms_) + after - 1);
  }
  if (code_ != kValkeyHash2) return Take(sink_.Field(first_, value, deadline_ms), begin);
  const std::string copy(value);
  const auto said = static_cast<int64_t>(input_.Fixed(8));
  if (said >= 0) deadline_ms = said;
  if (input_.ok()) Take(sink_.Field(first_, copy, deadline_ms), begin);
}

Refusal ValueReader::TakeScored(std::string_view member, double score) {
  return std::isnan(score) ? "a score that is not a number" : sink_.Scored(member, score);
}

void ValueReader::ReadNode() {
  --left_;
  const uint64_t begin = input_.offset();
  const uint64_t container = code_ == kListQuicklist2 ? input_.Length() : uint64_t{kNodePacked};
  const std::string_view blob = input_.String();
  if (!input_.ok()) return;
  if (container == kNodePlain) return Take(sink_.Element(blob), begin);
  if (container != kNodePacked) return input_.FailAt(begin, "a list's node of an unknown kind");
  code_ == kListQuicklist2 ? ReadPacked<ListpackReader>(blob) : ReadPacked<ZiplistReader>(blob);
}

void ValueReader::ReadBlob() {
  const uint64_t begin = input_.offset();
  StoredText& stored = input_.Stored();
  if (!input_.ok()) return;
  if (code_ == kString) {
    return Take(stored.is_number() ? sink_.Number(stored.number()) : sink_.Text(stored.text()),
                begin);
  }
  const std::string_view blob = stored.text();
  switch (code_) {
    case kHashTemplateListpack:
    case kHashTemplateListpackRef:
      return ReadTemplated(blob);
    case kHashZipmap:
      return ReadPacked<ZipmapReader>(blob);
    case kSetIntset:
      return ReadPacked<IntsetReader>(blob);
    case kListZiplist:
    case kZSetZiplist:
    case kHashZiplist:
      return ReadPacked<ZiplistReader>(blob);
    default:
      return ReadPacked<ListpackReader>(blob);
  }
}

template <typename Reader>
void ValueReader::ReadPacked(std::string_view blob) {
  const uint64_t end = input_.offset();
  Reader reader(blob);
  StoredText first;
  while (input_.ok() && reader.Next(first)) Take(TakePacked(reader, first), end);
  if (!reader.good()) input_.FailAt(end, reader.why());
}

template <typename Reader>
Refusal ValueReader::TakePacked(Reader& reader, StoredText& first) {
  if (kind_ == Kind::kList || kind_ == Kind::kSet) {
    return first.is_number() ? sink_.Number(first.number()) : sink_.Element(first.text());
  }
  StoredText second;
  if (!reader.Next(second)) return reader.good() ? "a field or member without its value" : "";
  if (kind_ == Kind::kZSet) {
    if (second.is_number()) return sink_.Scored(first.text(), static_cast<double>(second.number()));
    const auto score = ParseDouble(second.text());
    return score ? TakeScored(first.text(), *score) : "a score that is not a number";
  }
  if (!HasDeadlines(code_)) return sink_.Field(first.text(), second.text(), kNoDeadline);
  StoredText third;
  if (!reader.Next(third)) return reader.good() ? "a field without its deadline" : "";
  int64_t deadline_ms = 0;
  if (!ReadInt64(third.text(), deadline_ms) || deadline_ms < 0)
    return "a deadline that is not a number";
  return sink_.Field(first.text(), second.text(), deadline_ms == 0 ? kNoDeadline : deadline_ms);
}

ValueReader::Fields ValueReader::ReadFields() {
  Fields fields;
  for (uint64_t left = input_.Length(); left > 0 && input_.ok(); --left) {
    fields.emplace_back(input_.String());
  }
  return fields;
}

const ValueReader::Fields* ValueReader::FindTemplate(uint64_t number) {
  const auto found = templates_.find(number);
  if (found != templates_.end()) return &found->second;
  if (input_.ok()) input_.Fail("a hash that refers to a template which is not there");
  return nullptr;
}

void ValueReader::BeginTemplated(uint8_t code) {
  if (code == kHashTemplateListpack) own_fields_ = ReadFields();
  fields_ = code == kHashTemplateListpack ? &own_fields_ : nullptr;
  if (code == kHashTemplateTableRef) {
    fields_ = FindTemplate(input_.Length());
    left_ = fields_ == nullptr ? 0 : fields_->size();
    counted_ = true;
  }
  if (input_.ok()) BeginKind(Kind::kHash);
}

// The number of the template may also be in front of the values of a hash that has its fields with
// it.
void ValueReader::ReadTemplated(std::string_view blob) {
  const uint64_t end = input_.offset();
  std::vector<std::string> values;
  ListpackReader reader(blob);
  for (StoredText value; reader.Next(value);) values.emplace_back(value.text());
  if (!reader.good()) return input_.FailAt(end, reader.why());
  size_t first = code_ == kHashTemplateListpackRef ? 1 : 0;
  if (first == 1) {
    int64_t number = 0;
    if (values.empty() || !ReadInt64(values.front(), number)) {
      return input_.FailAt(end, "a hash without the number of its template");
    }
    fields_ = FindTemplate(static_cast<uint64_t>(number));
    if (fields_ == nullptr) return;
  } else if (values.size() == fields_->size() + 1) {
    first = 1;
  }
  if (values.size() - first != fields_->size()) {
    return input_.FailAt(end, "a hash whose template has other fields");
  }
  for (size_t i = 0; i < fields_->size() && input_.ok(); ++i) {
    Take(sink_.Field((*fields_)[i], values[first + i], kNoDeadline), end);
  }
}

void ValueReader::SkipArrayElement() {
  constexpr uint64_t kText = 0;
  constexpr uint64_t kInteger = 1;
  constexpr uint64_t kNumber = 2;
  constexpr uint64_t kShortText = 3;
  input_.Length();
  const uint64_t begin = input_.offset();
  const uint64_t tag = input_.Length();
  if (tag == kInteger || tag == kNumber) return input_.Skip(8);
  if (tag == kText || tag == kShortText) return input_.SkipString();
  input_.FailAt(begin, "an element of an array of an unknown kind");
}

void ValueReader::ReadModule() {
  const uint64_t id = input_.Length();
  if (!input_.ok()) return;
  const bool wanted = sink_.BeginModule(head_, ModuleName(id), ModuleVersion(id));
  ModuleParts(wanted);
  if (wanted && input_.ok()) Take(sink_.End(), input_.offset());
}

void ValueReader::ModuleParts(bool wanted) {
  while (input_.ok()) {
    const uint64_t begin = input_.offset();
    switch (input_.Length()) {
      case kModuleEnd:
        return;
      case kModuleSigned:
      case kModuleUnsigned: {
        const uint64_t number = input_.Length();
        if (wanted && input_.ok()) Take(sink_.ModuleNumber(number), begin);
        break;
      }
      case kModuleFloat:
        input_.Skip(4);
        break;
      case kModuleDouble:
        input_.Skip(8);
        break;
      case kModuleString: {
        if (!wanted) {
          input_.SkipString();
          break;
        }
        const std::string_view text = input_.String();
        if (input_.ok()) Take(sink_.ModuleText(text), begin);
        break;
      }
      default:
        input_.FailAt(begin, "a part of a module's value of an unknown kind");
    }
  }
}

}  // namespace tally::rdb
