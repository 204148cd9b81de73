#include "server/replication/data_position.h"

#include "core/bytes/str_cat.h"
#include "core/engine/engine.h"
#include "server/effects/effect_stream.h"
#include "server/effects/stream_id.h"

namespace tally::server {

void DataPosition::Set(const UpstreamPosition& upstream) {
  is_lost_ = false;
  if (upstream_ == upstream) return;
  upstream_ = upstream;
  is_noted_ = false;
}

void DataPosition::Lose() {
  Set({});
  is_lost_ = true;
}

std::optional<PrimaryHandshake::From> DataPosition::End() const {
  if (is_lost_) return std::nullopt;
  if (upstream_.known()) return PrimaryHandshake::From{upstream_.replid, upstream_.offset};
  const StreamId& id = server_.stream_id;
  if (id.id() == StreamId::None()) return std::nullopt;
  return PrimaryHandshake::From{id.id(), server_.effects.offset()};
}

std::optional<PrimaryHandshake::From> DataPosition::EarlierEnd() const {
  const StreamId& id = server_.stream_id;
  if (is_lost_ || upstream_.known() || !id.has_previous()) return std::nullopt;
  return PrimaryHandshake::From{id.previous(), id.previous_end()};
}

void DataPosition::AppendAll(std::string& out) {
  is_noted_ = true;
  if (server_.role.is_replica && upstream_.known()) upstream_.AppendNote(out);
}

void DataPosition::AppendChanged(std::string& out) {
  // What a primary writes is in no stream that it has followed before.
  if (!server_.role.is_replica && upstream_.known()) Set({});
  if (is_noted_) return;
  is_noted_ = true;
  upstream_.AppendNote(out);
}

absl::Status DataPosition::Load(Args note) {
  const auto position = UpstreamPosition::ReadNote(note);
  if (!position.ok()) return position.status();
  if (position->database >= server_.engine.databases()) {
    return absl::DataLossError(StrCat("database ", position->database, " is not here"));
  }
  upstream_ = *position;
  is_noted_ = true;
  return absl::OkStatus();
}

}  // namespace tally::server
