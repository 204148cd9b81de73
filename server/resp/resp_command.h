// Writes a command as clients and the log do: as an array of bulk strings.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/bytes/number.h"

namespace tally::server {

// The most bytes that WriteHeader writes.
inline constexpr size_t kMaxHeaderBytes = 1 + kMaxInt64Chars + 2;

// Writes "<type><value>\r\n"; `to` has room for kMaxHeaderBytes. Returns the end.
inline char* WriteHeader(char* to, char type, int64_t value) {
  *to++ = type;
  if (value >= 0 && value <= 9) [[likely]] {
    *to++ = static_cast<char>('0' + value);
  } else {
    to = WriteInt64(to, value);
  }
  *to++ = '\r';
  *to++ = '\n';
  return to;
}

inline void AppendRespCommand(std::string& out, std::span<const std::string_view> args) {
  char header[kMaxHeaderBytes];
  const auto append = [&](char type, size_t value) {
    out.append(header, WriteHeader(header, type, static_cast<int64_t>(value)));
  };
  append('*', args.size());
  for (const std::string_view arg : args) {
    append('$', arg.size());
    out.append(arg);
    out.append("\r\n", 2);
  }
}

}  // namespace tally::server
