// What one request, and a connection that waits for one, may take. `http-max-body` bounds the body.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tally::server {

// Bytes of the request line and the headers together.
inline constexpr size_t kMaxHttpHead = 16 * 1024;
inline constexpr size_t kMaxHttpHeaders = 100;
// From a request's first byte to its last.
inline constexpr int64_t kMaxRequestMs = 10'000;
// Between two requests; longer if `timeout` is. Proxies keep connections for up to a minute.
inline constexpr int64_t kLeastIdleMs = 75'000;

// For how long the rest of a refused request is read, for the client to take the response.
inline constexpr int64_t kLingerMs = 1000;

}  // namespace tally::server
