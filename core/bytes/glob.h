// Glob patterns of KEYS, SCAN, PSUBSCRIBE, CONFIG GET and ACL rules.
#pragma once

#include <cstdint>
#include <string_view>

namespace tally {

enum class GlobCase : uint8_t { kSensitive, kInsensitive };

// Whether the whole of `text` matches `pattern`: `*` any bytes, `?` one byte, `[abc]`, `[a-z]` and
// `[^a]` a class, `\x` the byte x itself. A class that is not closed ends with the pattern, a range
// written backwards is taken forwards, a backslash at the end is itself, and an empty text matches
// the empty pattern only, all as in Redis's stringmatchlen. Bytes compare unsigned; case folding is
// of ASCII letters only.
//
// Every element but `*` takes exactly one byte, so a mismatch needs to be retried from the last `*`
// alone. That bounds the work by |pattern| * |text| with no recursion, whatever a client sends.
[[nodiscard]] bool GlobMatch(std::string_view pattern, std::string_view text,
                             GlobCase fold = GlobCase::kSensitive);

}  // namespace tally
