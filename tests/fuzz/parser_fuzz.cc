// A stream must parse the same whole and in pieces, under any limits. The first bytes of the input
// choose the limits and where to cut; the rest is the stream.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/check.h"
#include "server/resp/parser.h"

namespace {

using tally::Check;
using tally::server::ParserLimits;
using tally::server::ParseStatus;
using tally::server::RequestParser;

constexpr size_t kPrologue = 4;

struct Transcript {
  std::vector<std::vector<std::string>> commands;
  std::string error;
  size_t consumed = 0;

  bool operator==(const Transcript&) const = default;
};

// Takes everything that `buffer` completes; returns the bytes of it that were consumed.
size_t Drain(RequestParser& parser, std::string_view buffer, Transcript& transcript) {
  size_t at = 0;
  for (;;) {
    const ParseStatus status = parser.Next(buffer.substr(at));
    if (status == ParseStatus::kError) transcript.error = parser.error();
    if (status == ParseStatus::kNeedMore) Check(parser.wanted() > 0, "more bytes are wanted");
    if (status != ParseStatus::kCommand) return at;
    Check(parser.consumed() > 0 && parser.consumed() <= buffer.size() - at,
          "a request consumes bytes of the buffer");
    transcript.commands.emplace_back(parser.args().begin(), parser.args().end());
    at += parser.consumed();
  }
}

Transcript ParseAtOnce(std::string_view stream, const ParserLimits& limits) {
  RequestParser parser(limits);
  Transcript transcript;
  transcript.consumed = Drain(parser, stream, transcript);
  return transcript;
}

// Each piece comes at a new address, in a buffer without a spare byte.
Transcript ParseInPieces(std::string_view stream, const ParserLimits& limits, uint32_t seed) {
  RequestParser parser(limits);
  Transcript transcript;
  size_t end = 0;
  while (end < stream.size() && transcript.error.empty()) {
    seed = seed * 1664525 + 1013904223;
    end = std::min(stream.size(), end + 1 + (seed >> 16) % 17);
    const std::vector<char> buffer(stream.begin() + static_cast<ptrdiff_t>(transcript.consumed),
                                   stream.begin() + static_cast<ptrdiff_t>(end));
    transcript.consumed += Drain(parser, {buffer.data(), buffer.size()}, transcript);
  }
  Check(parser.memory_usage() < 4096 + 64 * stream.size(), "memory follows the bytes received");
  return transcript;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < kPrologue) return 0;
  ParserLimits limits;
  if (data[0] != 0) limits.max_args = data[0];
  if (data[1] != 0) limits.max_bulk = data[1];
  if (data[2] != 0) limits.max_inline = data[2];
  limits.authenticated = data[3] % 2 == 0;
  const std::string_view stream(reinterpret_cast<const char*>(data) + kPrologue, size - kPrologue);
  const Transcript whole = ParseAtOnce(stream, limits);
  Check(ParseInPieces(stream, limits, data[3]) == whole, "pieces parse as the whole does");
  return 0;
}
