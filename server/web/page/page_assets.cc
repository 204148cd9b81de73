#include "server/web/page/page_assets.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cstdint>

#include "core/base/check.h"

namespace tally::server {

const PageAsset* FindPageAsset(std::string_view name) {
  const std::span<const PageAsset> all = PageAssets();
  const auto found = std::ranges::find(all, name, &PageAsset::name);
  return found == all.end() ? nullptr : &*found;
}

std::string PlainBytes(const PageAsset& asset) {
  std::string plain(asset.plain_bytes, '\0');
  // A copy, since the library takes a pointer to writable bytes, although it only reads them.
  std::string gzip(asset.gzip);
  inflate_state state;
  isal_inflate_init(&state);
  state.crc_flag = ISAL_GZIP;
  state.next_in = reinterpret_cast<uint8_t*>(gzip.data());
  state.avail_in = static_cast<uint32_t>(gzip.size());
  state.next_out = reinterpret_cast<uint8_t*>(plain.data());
  state.avail_out = static_cast<uint32_t>(plain.size());
  const int result = isal_inflate(&state);
  Check(result == ISAL_DECOMP_OK && state.avail_out == 0, "what the build compressed is whole");
  return plain;
}

}  // namespace tally::server
