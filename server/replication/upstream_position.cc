#include "server/replication/upstream_position.h"

#include <absl/strings/numbers.h>

#include "core/bytes/number.h"
#include "core/bytes/str_cat.h"
#include "server/effects/effect_stream.h"
#include "server/effects/stream_id.h"

namespace tally::server {
namespace {

constexpr std::string_view kNoteName = "UPSTREAM";
constexpr std::string_view kNoUpstream = "none";

}  // namespace

void UpstreamPosition::AppendNote(std::string& out) const {
  if (!known()) {
    const std::string_view words[] = {"REPLCONF", kNoteName, kNoUpstream};
    return AppendRespCommand(out, words);
  }
  const std::string at = StrCat(offset);
  const std::string selected = StrCat(database);
  const std::string_view words[] = {"REPLCONF", kNoteName, replid, at, selected};
  AppendRespCommand(out, words);
}

absl::StatusOr<UpstreamPosition> UpstreamPosition::ReadNote(Args note) {
  UpstreamPosition position;
  const bool is_note = note.size() >= 3 && note[1] == kNoteName;
  if (is_note && note.size() == 3 && note[2] == kNoUpstream) return position;
  const bool fits =
      is_note && note.size() == 5 && StreamId::IsId(note[2]) &&
      absl::SimpleAtoi(absl::string_view(note[3].data(), note[3].size()), &position.offset) &&
      absl::SimpleAtoi(absl::string_view(note[4].data(), note[4].size()), &position.database);
  if (!fits) return absl::DataLossError("a note that says nothing of replication");
  position.replid = note[2];
  return position;
}

}  // namespace tally::server
