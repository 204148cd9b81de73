// The files of the page that a browser shows, as they were when the server was built.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tally::server {

struct PageAsset {
  std::string_view name;  // "index.html"
  std::string_view content_type;
  std::string_view etag;  // with its quotes; another one if the bytes are others
  std::string_view gzip;
  size_t plain_bytes;
};

// In the order of the build; generated.
std::span<const PageAsset> PageAssets();

// Null if there is no such file.
const PageAsset* FindPageAsset(std::string_view name);

// The file as it was before it was compressed. O(bytes).
std::string PlainBytes(const PageAsset& asset);

}  // namespace tally::server
