// The limits on values that the host's configuration sets, with the names of Redis's directives.
// The engine reads them at each operation and never changes them, so a host may set them between
// any two. A limit that becomes smaller refuses or converts what is written from then on; what is
// stored already stays as it is. The host keeps each of them within its bounds.
#pragma once

#include <cstdint>

namespace tally {

struct ValueLimits {
  int64_t proto_max_bulk_len = int64_t{512} << 20;  // bytes of a string

  // The largest sizes of the small encodings that OBJECT ENCODING reports.
  int64_t hash_max_listpack_entries = 512;
  int64_t hash_max_listpack_value = 64;
  int64_t set_max_intset_entries = 512;
  int64_t zset_max_listpack_entries = 128;
  int64_t zset_max_listpack_value = 64;
  int64_t list_max_listpack_size = -2;
  int64_t hll_sparse_max_bytes = 3000;  // a larger HyperLogLog becomes dense

  // An event that decides (LIMIT, HITS.ADD with CAP) and is later than this, in ms, is taken as
  // this late.
  int64_t max_lateness_ms = int64_t{24} * 3600 * 1000;
  // Holds and settled ids that a LIMIT key may have.
  int64_t limit_max_holds = 100'000;
  // Minimum retention of purchases in quota books, in ms; each write gives its book this value.
  int64_t quota_retention_ms = int64_t{30} * 24 * 3600 * 1000;
};

}  // namespace tally
