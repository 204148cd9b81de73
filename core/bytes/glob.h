// Glob patterns of KEYS, SCAN, PSUBSCRIBE, CONFIG GET and ACL rules.
#pragma once

#include <cstdint>
#include <string_view>

namespace tally {

enum class GlobCase : uint8_t { kSensitive, kInsensitive };

// Returns whether the whole of `text` matches `pattern`: `*` any bytes, `?` one byte, `[abc]`,
// `[a-z]` and `[^a]` a class, `\x` the byte x itself. As in Redis's stringmatchlen, a class that is
// not closed ends with the pattern, a range may be written backwards, a backslash at the end stands
// for itself, and an empty text matches only the empty pattern. Bytes compare unsigned; only ASCII
// letters are folded.
//
// Every element but `*` takes exactly one byte, so after a mismatch it is enough to retry from the
// last `*`. The work is therefore at most |pattern| * |text|, and needs no recursion, whatever a
// client sends.
[[nodiscard]] bool GlobMatch(std::string_view pattern, std::string_view text,
                             GlobCase fold = GlobCase::kSensitive);

}  // namespace tally
