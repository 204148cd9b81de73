#include "server/state/client_text.h"

#include "core/bytes/str_cat.h"

namespace tally::server {
namespace {

std::string FlagsOf(const Client& client) {
  std::string flags;
  if (client.monitor) flags += 'O';
  if (client.subscribed()) flags += 'P';
  if (client.transaction.active) flags += 'x';
  if (client.state.command.blocked() || client.state.command.postponed()) flags += 'b';
  if (client.tracking != nullptr) {
    flags += 't';
    if (client.tracking->redirect_broken) flags += 'R';
    if (client.tracking->mode == TrackingMode::kBroadcast) flags += 'B';
  }
  if (client.transaction.touched) flags += 'd';
  if (client.finished()) flags += 'c';
  if (client.address.ends_with(":0")) flags += 'U';  // only unix sockets have no port
  if (client.no_evict) flags += 'e';
  if (client.no_touch) flags += 'T';
  return flags.empty() ? "N" : flags;
}

int64_t RedirectOf(const Client& client) {
  return client.tracking == nullptr ? -1 : static_cast<int64_t>(client.tracking->redirect);
}

// The bytes in the block that the output begins with; 0 if it begins with a long value, which is
// held as it is.
size_t FirstBlock(const ByteBlocks& output) {
  std::string_view first;
  output.Front({&first, 1});
  return first.size() > ByteBlocks::kBlockBytes ? 0 : first.size();
}

// The pieces after that block.
size_t ListedPieces(const ByteBlocks& output) {
  return output.pieces() - (FirstBlock(output) > 0 ? 1 : 0);
}

}  // namespace

size_t ListedOutput(const Client& client) {
  const ByteBlocks& output = client.output;
  return ListedPieces(output) == 0 ? 0 : output.heap_bytes() - FirstBlock(output);
}

size_t ClientMemory(const Client& client) {
  return sizeof(Client) + client.output.heap_bytes() + client.query_bytes +
         client.transaction.queued_bytes + (client.blocked == nullptr ? 0 : client.blocked->bytes);
}

void AppendClientLine(std::string& out, const Client& client, int64_t elapsed_ms) {
  const Transaction& transaction = client.transaction;
  const size_t listed = ListedOutput(client);
  StrAppend(out, "id=", client.id, " addr=", client.address, " laddr=", client.local_address,
            " fd=", client.descriptor, " name=", client.name,
            " age=", (elapsed_ms - client.created_ms) / 1000,
            " idle=", (elapsed_ms - client.last_active_ms) / 1000, " flags=", FlagsOf(client));
  StrAppend(out, " db=", client.database, " sub=", client.channels.size(),
            " psub=", client.patterns.size(), " ssub=", client.shard_channels.size(), " multi=",
            transaction.active ? static_cast<int64_t>(transaction.queue.size()) : int64_t{-1});
  StrAppend(
      out, " qbuf=", client.query_bytes,
      " qbuf-free=0 argv-mem=0 multi-mem=", transaction.queued_bytes,
      " rbs=", client.output.heap_bytes() - listed, " rbp=", client.output.heap_bytes() - listed,
      " obl=", FirstBlock(client.output), " oll=", ListedPieces(client.output), " omem=", listed,
      " tot-mem=", ClientMemory(client),
      " events=r cmd=", client.last_command == nullptr ? "NULL" : client.last_command->full_name,
      " user=", client.user, " redir=", RedirectOf(client), " resp=", client.reply.protocol(),
      " lib-name=", client.library_name, " lib-ver=", client.library_version, '\n');
}

}  // namespace tally::server
