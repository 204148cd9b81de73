// The files of the page that a browser shows. The build embeds them in the server.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tally::server {

struct PageAsset {
  std::string_view name;  // "index.html"
  std::string_view content_type;
  std::string_view etag;  // with its quotes; differs if the bytes differ
  std::string_view gzip;
  size_t plain_bytes;
};

// Returns all files in the order of the build. Its definition is generated.
std::span<const PageAsset> PageAssets();

// Returns the file of this name, or null if there is none.
const PageAsset* FindPageAsset(std::string_view name);

// Returns the file as it was before it was compressed. O(bytes).
std::string PlainBytes(const PageAsset& asset);

}  // namespace tally::server
