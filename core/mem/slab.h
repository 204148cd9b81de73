// A slab arena of small records, named by 32-bit handles. A handle is half the size of a pointer, a
// record has no header, and a page is freed when its last record is freed.
//
// Records are grouped by size class (multiples of 4 bytes) in pages of 4 KiB. A class's first page
// starts small and doubles, so that an arena of a few records does not pay for whole pages.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tally {

class Slab {
 public:
  // Names a record as long as it lives. kNull names none.
  using Handle = uint32_t;
  static constexpr Handle kNull = 0;

  static constexpr size_t kUnit = 4;
  static constexpr size_t kMaxRecordBytes = 256;
  static constexpr size_t kPageBytes = 4096;

  Slab();
  ~Slab();
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;

  // Allocates a record of 1 to kMaxRecordBytes bytes (asserted), uninitialised and aligned to
  // kUnit. Returns kNull if the handles are used up, which takes 16 GiB of pages. O(1). Pointers
  // into the arena are not valid afterwards; handles are valid until Free.
  [[nodiscard]] Handle Allocate(size_t bytes);

  // Frees a record. O(1).
  void Free(Handle handle);

  char* At(Handle handle) const {
    return pages_[handle >> kUnitBits] + (handle & (kPageUnits - 1)) * kUnit;
  }

  size_t MemoryBytes() const;

 private:
  // The upper bits of a handle are the number of a page, the lower kUnitBits are the record's
  // offset in the page, in units. A page's header takes the first units, so no record has the
  // handle 0.
  static constexpr unsigned kUnitBits = 10;
  static constexpr uint32_t kPageUnits = 1u << kUnitBits;
  static constexpr uint32_t kMaxPages = 1u << (32 - kUnitBits);
  static constexpr uint32_t kNoPage = UINT32_MAX;
  static constexpr size_t kClasses = kMaxRecordBytes / kUnit + 1;
  static_assert(kPageBytes == kPageUnits * kUnit);

  // Offsets and sizes are in units.
  struct PageHeader {
    uint16_t slot_units;
    uint16_t live;       // records in use
    uint16_t free_slot;  // head of the list of freed slots, 0 if there is none
    uint16_t unused;     // start of the part that has never held a record
    uint16_t capacity;   // allocated size of the page
    uint32_t previous;   // in the list of this class's pages with room
    uint32_t next;
  };
  static constexpr uint16_t kHeaderUnits = sizeof(PageHeader) / kUnit;
  static_assert(sizeof(PageHeader) % kUnit == 0);

  struct SizeClass {
    uint32_t with_room = kNoPage;  // head of the list of pages with room
    uint32_t pages = 0;
  };

  PageHeader& Header(uint32_t page) const { return *reinterpret_cast<PageHeader*>(pages_[page]); }
  static bool HasRoom(const PageHeader& header) {
    return header.free_slot != 0 || header.unused + header.slot_units <= int{kPageUnits};
  }
  uint32_t AddPage(uint16_t slot_units);
  void DropPage(uint32_t page);
  void GrowPage(uint32_t page);
  void Link(uint32_t page);
  void Unlink(uint32_t page);

  std::vector<char*> pages_;          // by number; nullptr where a page was freed
  std::vector<uint32_t> page_holes_;  // the numbers of freed pages, to be used again
  std::array<SizeClass, kClasses> classes_;
  size_t page_bytes_ = 0;
};

}  // namespace tally
