#include "core/mem/slab.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/base/check.h"
#include "core/bytes/blocks.h"
#include "core/bytes/heap_size.h"

namespace tally {
namespace {

// The first page of a size class starts with room for at least this many slots.
constexpr size_t kFirstSlots = 4;

char* Reallocate(char* page, size_t bytes) { return static_cast<char*>(ResizeBlock(page, bytes)); }

}  // namespace

Slab::Slab() = default;

Slab::~Slab() {
  for (char* page : pages_) FreeBlock(page);
}

Slab::Handle Slab::Allocate(size_t bytes) {
  Check(bytes > 0 && bytes <= kMaxRecordBytes, "slab record size");
  const auto slot_units = static_cast<uint16_t>((bytes + kUnit - 1) / kUnit);
  uint32_t page = classes_[slot_units].with_room;
  if (page == kNoPage) page = AddPage(slot_units);
  if (page == kNoPage) return kNull;

  uint16_t slot = Header(page).free_slot;
  if (slot != 0) {
    std::memcpy(&Header(page).free_slot, pages_[page] + slot * kUnit, sizeof(uint16_t));
  } else {
    if (Header(page).unused + slot_units > Header(page).capacity) GrowPage(page);
    slot = Header(page).unused;
    Header(page).unused = static_cast<uint16_t>(slot + slot_units);
  }
  PageHeader& header = Header(page);
  ++header.live;
  if (!HasRoom(header)) Unlink(page);
  return page << kUnitBits | slot;
}

void Slab::Free(Handle handle) {
  const uint32_t page = handle >> kUnitBits;
  const auto slot = static_cast<uint16_t>(handle & (kPageUnits - 1));
  PageHeader& header = Header(page);
  if (!HasRoom(header)) Link(page);
  if (--header.live == 0) {
    Unlink(page);
    DropPage(page);
    return;
  }
  std::memcpy(At(handle), &header.free_slot, sizeof(uint16_t));
  header.free_slot = slot;
}

size_t Slab::MemoryBytes() const {
  return page_bytes_ + HeapBytes(pages_.capacity() * sizeof(char*)) +
         HeapBytes(page_holes_.capacity() * sizeof(uint32_t));
}

uint32_t Slab::AddPage(uint16_t slot_units) {
  uint32_t page = 0;
  if (!page_holes_.empty()) {
    page = page_holes_.back();
    page_holes_.pop_back();
  } else if (pages_.size() < kMaxPages) {
    page = static_cast<uint32_t>(pages_.size());
    pages_.push_back(nullptr);
  } else {
    return kNoPage;
  }
  SizeClass& size_class = classes_[slot_units];
  size_t bytes = kPageBytes;
  if (size_class.pages == 0) {
    bytes = std::min(std::bit_ceil((kHeaderUnits + kFirstSlots * slot_units) * kUnit), kPageBytes);
  }
  ++size_class.pages;
  pages_[page] = Reallocate(nullptr, bytes);
  page_bytes_ += HeapBytes(bytes);
  Header(page) = {.slot_units = slot_units,
                  .live = 0,
                  .free_slot = 0,
                  .unused = kHeaderUnits,
                  .capacity = static_cast<uint16_t>(bytes / kUnit),
                  .previous = kNoPage,
                  .next = kNoPage};
  Link(page);
  return page;
}

void Slab::DropPage(uint32_t page) {
  --classes_[Header(page).slot_units].pages;
  page_bytes_ -= HeapBytes(Header(page).capacity * kUnit);
  FreeBlock(pages_[page]);
  pages_[page] = nullptr;
  page_holes_.push_back(page);
}

void Slab::GrowPage(uint32_t page) {
  const size_t old_bytes = Header(page).capacity * kUnit;
  const size_t bytes = std::min(old_bytes * 2, kPageBytes);
  pages_[page] = Reallocate(pages_[page], bytes);
  Header(page).capacity = static_cast<uint16_t>(bytes / kUnit);
  page_bytes_ += HeapBytes(bytes) - HeapBytes(old_bytes);
}

void Slab::Link(uint32_t page) {
  PageHeader& header = Header(page);
  uint32_t& head = classes_[header.slot_units].with_room;
  header.previous = kNoPage;
  header.next = head;
  if (head != kNoPage) Header(head).previous = page;
  head = page;
}

void Slab::Unlink(uint32_t page) {
  const PageHeader& header = Header(page);
  if (header.next != kNoPage) Header(header.next).previous = header.previous;
  if (header.previous != kNoPage) {
    Header(header.previous).next = header.next;
  } else {
    classes_[header.slot_units].with_room = header.next;
  }
}

}  // namespace tally
