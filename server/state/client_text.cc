#include "server/state/client_text.h"

#include <algorithm>
#include <string_view>

#include "core/bytes/str_cat.h"

namespace tally::server {
namespace {

std::string FlagsOf(const Client& client) {
  std::string flags;
  if (client.monitor) flags += 'O';
  if (client.subscribed()) flags += 'P';
  if (client.transaction.active) flags += 'x';
  if (client.transaction.touched) flags += 'd';
  if (client.finished()) flags += 'c';
  if (client.address.ends_with(":0")) flags += 'U';  // only unix sockets have no port
  if (client.no_evict) flags += 'e';
  if (client.no_touch) flags += 'T';
  return flags.empty() ? "N" : flags;
}

size_t FirstBlock(const ByteBlocks& output) {
  std::string_view first;
  output.Front({&first, 1});
  return first.size();
}

}  // namespace

size_t ListedOutput(const Client& client) {
  return client.output.pieces() <= 1 ? 0 : client.output.heap_bytes() - FirstBlock(client.output);
}

size_t ClientMemory(const Client& client) {
  return sizeof(Client) + client.output.heap_bytes() + client.query_bytes +
         client.transaction.queued_bytes;
}

void AppendClientLine(std::string& out, const Client& client, int64_t now_ms) {
  const Transaction& transaction = client.transaction;
  const size_t listed = ListedOutput(client);
  const size_t pieces = client.output.pieces();
  StrAppend(out, "id=", client.id, " addr=", client.address, " laddr=", client.local_address,
            " fd=", client.descriptor, " name=", client.name,
            " age=", (now_ms - client.created_ms) / 1000,
            " idle=", (now_ms - client.last_active_ms) / 1000, " flags=", FlagsOf(client));
  StrAppend(out, " db=", client.database, " sub=", client.channels.size(),
            " psub=", client.patterns.size(), " ssub=0 multi=",
            transaction.active ? static_cast<int64_t>(transaction.queue.size()) : int64_t{-1});
  StrAppend(
      out, " qbuf=", client.query_bytes,
      " qbuf-free=0 argv-mem=0 multi-mem=", transaction.queued_bytes,
      " rbs=", client.output.heap_bytes() - listed, " rbp=", client.output.heap_bytes() - listed,
      " obl=", FirstBlock(client.output), " oll=", pieces - std::min<size_t>(pieces, 1),
      " omem=", listed, " tot-mem=", ClientMemory(client),
      " events=r cmd=", client.last_command == nullptr ? "NULL" : client.last_command->full_name,
      " user=", client.user, " redir=-1 resp=", client.reply.protocol(),
      " lib-name=", client.library_name, " lib-ver=", client.library_version, '\n');
}

}  // namespace tally::server
