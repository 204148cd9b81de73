// Limits of one request, and of a connection that waits for one. `http-max-body` limits the body.
// Before the body is awaited the head is judged, so that strangers cannot make the server hold
// large bodies.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tally::server {

// Bytes of the request line and the headers together.
inline constexpr size_t kMaxHttpHead = 16 * 1024;
inline constexpr size_t kMaxHttpHeaders = 100;
// Bytes of the body where no user is asked for.
inline constexpr size_t kMaxOpenBody = 16 * 1024;
// From a request's first byte to its last.
inline constexpr int64_t kMaxRequestMs = 10'000;
// A connection may be idle this long between two requests, or for `timeout` if that is longer.
// Proxies keep connections for up to a minute. A peer may also take none of its output this long.
inline constexpr int64_t kLeastIdleMs = 75'000;

// After a refusal the rest of the request is read for this long before the connection is closed, so
// that the client can receive the response.
inline constexpr int64_t kLingerMs = 1000;

}  // namespace tally::server
