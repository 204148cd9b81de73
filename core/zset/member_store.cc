#include "core/zset/member_store.h"

#include "core/bytes/heap_size.h"

namespace tally {
namespace {

// A long member's block: its length, then its bytes.
using LongLength = uint64_t;

// The word of its ElementBlock.
uintptr_t LongBlock(const char* encoded) {
  uintptr_t word = 0;
  std::memcpy(&word, encoded + 1, sizeof(word));
  return word;
}

}  // namespace

MemberStore::Handle MemberStore::Add(double score, const MemberName& name) {
  const bool is_inline = FitsInline(name);
  const size_t encoded_bytes = is_inline ? EncodedBytes(name) : 1 + sizeof(uintptr_t);
  const Handle handle = slab_.Allocate(kScoreBytes + encoded_bytes);
  if (handle == Slab::kNull) return handle;
  SetScore(handle, score);
  char* encoded = slab_.At(handle) + kScoreBytes;
  if (is_inline) {
    EncodeMember(name, encoded);
    return handle;
  }
  const LongLength length = name.text.size();
  ElementBlock block(sizeof(length) + length);
  std::memcpy(block.get(), &length, sizeof(length));
  name.text.copy(block.get() + sizeof(length), length);
  *encoded = static_cast<char>(kLongTextTag);
  const uintptr_t word = block.Release();
  std::memcpy(encoded + 1, &word, sizeof(word));
  ++long_members_;
  long_bytes_ += HeapBytes(sizeof(length) + length);
  return handle;
}

void MemberStore::Free(Handle handle) {
  const char* encoded = Encoded(handle);
  if (EncodedTag(encoded) == kLongTextTag) {
    --long_members_;
    long_bytes_ -= HeapBytes(sizeof(LongLength) + LongText(encoded).size());
    ElementBlock::Adopt(LongBlock(encoded));
  }
  slab_.Free(handle);
}

ElementView MemberStore::LongText(const char* encoded) {
  ElementBlock block = ElementBlock::Adopt(LongBlock(encoded));
  LongLength length = 0;
  std::memcpy(&length, block.get(), sizeof(length));
  const ElementView text({block.get() + sizeof(length), static_cast<size_t>(length)},
                         block.block());
  static_cast<void>(block.Release());
  return text;
}

uint64_t MemberStore::Hash(Handle handle) const {
  const char* encoded = Encoded(handle);
  if (const std::optional<int64_t> number = EncodedNumber(encoded)) return HashNumber(*number);
  return HashText(Text(handle).view());
}

bool MemberStore::Matches(Handle handle, const Key& key) const {
  const std::optional<int64_t> number = EncodedNumber(Encoded(handle));
  // A number's text is canonical, so equal texts are either both numbers or both not.
  if (number || key.name.number) return number == key.name.number;
  return Text(handle).view() == key.name.text;
}

}  // namespace tally
