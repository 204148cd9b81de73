#include "server/replication/rdb_sender.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "core/bytes/printable.h"
#include "core/bytes/str_cat.h"
#include "server/interfaces/persistence.h"
#include "server/log/log.h"
#include "server/state/client_table.h"
#include "server/state/clock.h"

namespace tally::server {
namespace {

constexpr const char* kPath = "temp-sent.rdb";

}  // namespace

void RdbSender::RemoveLeftOver() { server_.persistence->RemoveRdb(kPath); }

void RdbSender::Serve() {
  const bool waits = std::any_of(links_.begin(), links_.end(), [](const auto& link) {
    return link->waits_for_rdb() && !link->client().finished();
  });
  if (!waits || is_writing_) return;
  is_writing_ = true;
  const absl::Status asked =
      server_.persistence->WriteRdb({.path = kPath,
                                     .begun = [this] { NoteBegun(); },
                                     .done = [this](const absl::Status& status) { Send(status); },
                                     .then = {}});
  if (!asked.ok()) Send(asked);
}

void RdbSender::NoteBegun() {
  for (const auto& link : links_) {
    if (link->waits_for_rdb()) link->NoteRdbBegun();
  }
}

void RdbSender::Send(const absl::Status& written) {
  is_writing_ = false;
  auto opened =
      written.ok() ? server_.persistence->TakeRdb(kPath) : absl::StatusOr<SyncBase>(written);
  const auto rdb = opened.ok() ? std::make_shared<const SyncBase>(std::move(*opened)) : nullptr;
  for (const auto& link : links_) {
    if (!link->waits_for_rdb() || link->client().finished()) continue;
    if (rdb == nullptr) {
      Refuse(*link, std::string(opened.status().message()));
    } else if (link->rdb_begun()) {
      link->SendBase(rdb, server_.clock.steady_ms());
      server_.clients.MarkPending(link->client());
      server_.log.Notice(link->name(), " is sent an RDB of ", rdb->bytes, " bytes");
    }
  }
}

void RdbSender::Refuse(ReplicaLink& link, std::string_view why) {
  Client& client = link.client();
  server_.log.Warning(link.name(), " gets no RDB: ", why);
  client.output.Append(StrCat("-ERR the RDB cannot be written: ", Printable(why), "\r\n"));
  client.state.end.Finish();
  server_.clients.MarkPending(client);
}

}  // namespace tally::server
