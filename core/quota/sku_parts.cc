#include "core/quota/sku_parts.h"

#include <cstring>
#include <iterator>

namespace tally {
namespace {

// About what a node of a std::map with its key and the object takes.
constexpr size_t kPartNodeBytes = 144;
// A part's place in the set of first actions, whose nodes are about three quarters full.
constexpr size_t kPlaceBytes = sizeof(BookId) * 4 / 3;

constexpr size_t kActionBytes = 1 + sizeof(int64_t);

}  // namespace

BookId SkuParts::PartOf(BookId action) const {
  const auto after = firsts.upper_bound(action);
  return after == firsts.begin() ? *after : *std::prev(after);
}

std::optional<BookId> SkuParts::After(BookId first) const {
  const auto after = firsts.upper_bound(first);
  return after == firsts.end() ? std::nullopt : std::optional(*after);
}

std::string PartedSkus::PartKey(std::string_view sku, BookId first) {
  char action[kActionBytes];
  action[0] = static_cast<char>(first.is_text);
  std::memcpy(action + 1, &first.value, sizeof first.value);
  return std::string(sku).append(action, kActionBytes);
}

std::string_view PartedSkus::SkuOf(std::string_view part_key) {
  return part_key.substr(0, part_key.size() - kActionBytes);
}

SkuParts* PartedSkus::Find(std::string_view sku) const {
  const auto found = skus.find(sku);
  return found == skus.end() ? nullptr : found->second.get();
}

SkuParts& PartedSkus::Add(std::string_view sku) {
  auto& found = skus[std::string(sku)];
  if (found == nullptr) found = std::make_unique<SkuParts>();
  return *found;
}

size_t PartedSkus::MemoryBytes() const {
  return sizeof(*this) + parts.MemoryBytes() + parts.size() * kPlaceBytes +
         skus.size() * kPartNodeBytes;
}

bool PartedSkus::FreeSome(size_t segments) {
  if (!parts.FreeSome(segments)) return false;
  for (; segments > 0 && !skus.empty(); --segments) skus.erase(skus.begin());
  return skus.empty();
}

std::unique_ptr<PartedSkus> PartedSkus::Clone(uint64_t seed) const {
  auto copy = std::make_unique<PartedSkus>(seed);
  for (const auto& [key, sku] : skus) copy->Add(key) = *sku;
  return copy;
}

}  // namespace tally
