#include "server/dispatch/session.h"

#include <algorithm>
#include <array>
#include <span>

#include "core/bytes/str_cat.h"
#include "core/engine/engine.h"
#include "server/acl/acl_guard.h"
#include "server/acl/acl_users.h"
#include "server/command/command_context.h"
#include "server/config/config.h"
#include "server/interfaces/replication.h"
#include "server/log/log.h"
#include "server/state/blocked_clients.h"
#include "server/state/client_table.h"
#include "server/state/clock.h"
#include "server/state/key_tracking.h"
#include "server/state/pubsub.h"
#include "server/state/stats.h"
#include "server/state/watch_list.h"

namespace tally::server {
namespace {

// A drained buffer with more capacity than this is freed.
constexpr size_t kKeptCapacity = 32 * 1024;

// The most that is read of a long argument at once. It takes a fraction of a millisecond.
constexpr size_t kLongestRead = 1024 * 1024;

// The buffer of a long argument grows by this factor, because each growth may copy the bytes that
// it holds, and memory that was never written costs nothing yet. Its size still depends on the
// bytes received, whatever length the client declared.
constexpr size_t kLongArgumentGrowth = 8;

// Who has sent this much of an argument gets room for all of it: to copy more than this would stop
// everybody for milliseconds.
constexpr size_t kMostCopied = 4 * 1024 * 1024;

// A Run that leaves more output than this, or takes longer, is heavy.
constexpr size_t kHeavyBytes = 16 * 1024;
constexpr int64_t kHeavyMicros = 200;

// A longer argument, such as the text of a script, is hardly a key, and to hash it costs more than
// a cache miss.
constexpr size_t kMaxFetchedKey = 256;

// Where a call has its key if it is of the same command as the client's last one. In nearly every
// command it is the first argument, and for the others a useless look-up costs little.
size_t LikelyKeyPlace(const Client& client) {
  const CommandEntry* last = client.last_command;
  return last == nullptr ? 1 : static_cast<size_t>(std::max(1, last->command->keys.first));
}

std::optional<std::string_view> LikelyKey(Args args, size_t place) {
  if (args.size() <= place || args[place].size() > kMaxFetchedKey) return std::nullopt;
  return args[place];
}

}  // namespace

Session::Session(Services& server, Dispatcher& dispatcher)
    : server_(server), dispatcher_(dispatcher) {
  client_.created_ms = client_.last_active_ms = server.clock.elapsed_ms();
  LoginAsDefault(server.users, client_);
  server_.clients.Add(client_);
  ApplyLimits();
}

Session::~Session() {
  server_.watches.UnwatchAll(client_);
  server_.pubsub.Forget(client_);
  server_.tracking.Stop(client_);
  server_.blocked.Take(client_);
  if (client_.replica != nullptr) server_.replicas->Forget(client_);
  server_.clients.Remove(client_);
}

void Session::ApplyLimits() {
  ParserLimits limits;
  limits.max_bulk = static_cast<size_t>(server_.config.proto_max_bulk_len);
  limits.authenticated = client_.authenticated;
  parser_.set_limits(limits);
}

void Session::Take(std::string_view bytes) {
  if (finished()) return;
  client_.state.requests.Take();
  input_ = bytes;  // The common case: whole requests, run where they were read.
  if (!buffer_.empty()) {
    Buffer(bytes);
    input_ = buffer_;
  }
  ahead_ = parser_.NextBatch(input_);
}

std::span<char> Session::LongArgumentRoom(size_t most) {
  if (buffer_.empty() || !client_.state.requests.idle() || finished() || parser_.wanted() < most)
    return {};
  const size_t received = buffer_.size();
  if (buffer_.capacity() < received + most) {
    const size_t end = received + parser_.wanted();
    const size_t roomy = std::min(received * kLongArgumentGrowth, kMostCopied);
    buffer_.Reserve(received >= kMostCopied ? end
                                            : std::min(end, std::max(received + most, roomy)));
  }
  const size_t room = buffer_.capacity() - received;
  const size_t size = std::min({room, parser_.wanted(), kLongestRead});
  return {buffer_.Room(size), size};
}

void Session::TakeInRoom(size_t bytes) {
  client_.state.requests.Take();
  buffer_.Commit(bytes);
  input_ = buffer_;
  ahead_ = parser_.NextBatch(input_);
}

void Session::Buffer(std::string_view bytes) {
  MakeRoom(bytes.size());
  buffer_.Append(bytes);
}

// The end of a long argument is known. No room is reserved after it, because the argument may
// become a value together with its buffer, and the value would keep that room.
void Session::MakeRoom(size_t bytes) {
  const size_t needed = buffer_.size() + bytes;
  if (needed <= buffer_.capacity()) return;
  const size_t end = buffer_.size() + parser_.wanted();
  const size_t roomy = needed + needed / 2;
  buffer_.Reserve(end > needed ? std::min(end, roomy) : roomy);
}

std::optional<std::string_view> Session::first_key() const {
  if (!client_.state.requests.taken() || ahead_ != ParseStatus::kCommand) return std::nullopt;
  if (parser_.requests().size() != 1) return std::nullopt;
  return LikelyKey(parser_.args_of(parser_.requests().front()), LikelyKeyPlace(client_));
}

void Session::Run(const TurnShare& share) {
  if (finished()) return;
  std::optional<ParseStatus> ahead;
  if (client_.state.requests.taken()) {
    ahead = ahead_;
  } else {
    input_ = buffer_;
  }
  client_.state.requests.BeginRun();
  const Progress progress = RunCommands(input_, ahead, share);
  heavy_ = progress.left || client_.output.size() > kHeavyBytes ||
           dispatcher_.batch_micros() > kHeavyMicros;
  client_.state.requests.EndRun(progress.left);
  if (client_.needs_flush()) server_.clients.MarkPending(client_);
  Keep(finished() ? input_.size() : progress.done);
}

void Session::Hold() {
  if (!client_.state.requests.taken()) return;
  client_.state.requests.Hold();
  Keep(0);
}

void Session::Keep(size_t done) {
  if (input_.data() == buffer_.data()) {
    buffer_.DropFront(done);
    if (buffer_.empty() && buffer_.capacity() > kKeptCapacity) buffer_ = Text();
  } else {
    buffer_.Append(input_.substr(done));
  }
  input_ = {};
  client_.query_bytes = buffer_.size();
}

Session::Progress Session::RunCommands(std::string_view bytes, std::optional<ParseStatus> ahead,
                                       const TurnShare& share) {
  Progress all;
  size_t commands = 0;
  dispatcher_.BeginBatch();
  while (all.done < bytes.size() && !all.left && !finished()) {
    const ParseStatus status = ahead ? *ahead : parser_.NextBatch(bytes.substr(all.done));
    ahead.reset();
    if (status == ParseStatus::kNeedMore) {
      LimitQuery(bytes.size() - all.done);
      break;
    }
    if (status == ParseStatus::kError) {
      Fail(parser_.error());
      break;
    }
    commands += parser_.requests().size();
    const bool buffered = !buffer_.empty();
    const Progress batch = RunBatch(share);
    all.done += batch.done;
    if (client_.state.command.blocked()) {
      // The requests after a command that waits are run when it has got its reply.
      all.left = all.done < bytes.size();
      break;
    }
    all.left = batch.left || (commands >= share.commands && all.done < bytes.size());
    if (buffered && buffer_.empty()) {
      // A value has taken over the buffer, and the next command may change that value. So the rest
      // of the bytes is kept for a later turn.
      all.left = all.done < bytes.size();
      break;
    }
  }
  return all;
}

// Runs the requests that the parser holds.
Session::Progress Session::RunBatch(const TurnShare& share) {
  const std::span<const RequestParser::Request> requests = parser_.requests();
  if (requests.size() > 1) Prefetch();
  const bool was_authenticated = client_.authenticated;
  if (requests.size() == 1 && !buffer_.empty()) client_.request = &buffer_;
  Progress batch;
  for (const RequestParser::Request& request : requests) {
    // A postponed command, and everything after the share of output or time is used up, is parsed
    // again in a later turn.
    const bool is_full =
        client_.output.size() >= share.output_bytes && !client_.state.reads_beside_output;
    batch.left = is_full || dispatcher_.batch_micros() >= share.micros ||
                 !dispatcher_.Execute(client_, parser_.args_of(request));
    if (batch.left) break;
    batch.done += request.consumed;
    if (finished() || client_.state.command.blocked()) break;
  }
  client_.request = nullptr;
  client_.fetched_command = nullptr;
  if (client_.authenticated != was_authenticated) [[unlikely]]
    ApplyLimits();
  return batch;
}

// Looks up the keys of a batch together, so that their cache misses overlap.
void Session::Prefetch() {
  std::array<std::string_view, RequestParser::kMaxBatch> keys;
  size_t count = 0;
  const size_t place = LikelyKeyPlace(client_);
  for (const RequestParser::Request& request : parser_.requests()) {
    if (const auto key = LikelyKey(parser_.args_of(request), place)) keys[count++] = *key;
  }
  server_.engine.database(client_.database).Prefetch({keys.data(), count});
  FetchAhead();
}

// A client often repeats its last command. So all calls of that command in the batch are passed to
// its fetch_ahead at once.
void Session::FetchAhead() {
  const CommandEntry* last = client_.last_command;
  if (last == nullptr || last->command->fetch_ahead == nullptr) return;
  std::array<Args, RequestParser::kMaxBatch> calls;
  size_t count = 0;
  for (const RequestParser::Request& request : parser_.requests()) {
    const Args args = parser_.args_of(request);
    if (args.size() > 1 && IsWord(args[0], last->command->name)) calls[count++] = args;
  }
  const bool all =
      last->command->fetch_ahead(server_.engine.database(client_.database), {calls.data(), count});
  if (all) client_.fetched_command = last;
}

bool Session::CheckDeadlines() {
  const int64_t limit_ms = server_.config.timeout * int64_t{1000};
  return limit_ms > 0 && server_.clock.elapsed_ms() - client_.last_active_ms > limit_ms &&
         !client_.is_replica && !client_.subscribed() && !client_.monitor &&
         client_.blocked == nullptr;
}

void Session::LimitQuery(size_t unfinished) {
  if (unfinished <= static_cast<size_t>(server_.config.client_query_buffer_limit)) return;
  ++server_.stats.client_query_limit_disconnections;
  server_.log.Warning("Closing client that reached max query buffer length: ", client_.address);
  client_.state.end.Finish();
}

void Session::Fail(std::string_view error) {
  server_.stats.CountError("ERR");
  client_.reply.Error(StrCat("ERR ", error));
  client_.state.end.Finish();
  server_.clients.MarkPending(client_);
}

}  // namespace tally::server
