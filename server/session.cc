#include "server/session.h"

#include "core/bytes/str_cat.h"
#include "server/command/login.h"

namespace tally::server {
namespace {

// Above this a drained buffer is given back.
constexpr size_t kKeptCapacity = 32 * 1024;
// A client that does not read its replies gets no more of them.
constexpr size_t kOutputHighWater = 1024 * 1024;

}  // namespace

Session::Session(ServerState& server, Dispatcher& dispatcher)
    : server_(server), dispatcher_(dispatcher) {
  client_.created_ms = client_.last_active_ms = server.clock.now_ms();
  LoginAsDefault(server.config, client_);
  server_.clients.Add(client_);
  ApplyLimits();
}

Session::~Session() {
  server_.watches.UnwatchAll(client_);
  server_.pubsub.Forget(client_);
  server_.clients.Remove(client_);
}

void Session::ApplyLimits() {
  ParserLimits limits;
  limits.max_bulk = static_cast<size_t>(server_.config.proto_max_bulk_len);
  limits.authenticated = client_.authenticated;
  parser_.set_limits(limits);
}

void Session::Receive(std::string_view bytes) {
  if (finished()) return;
  if (buffer_.empty()) {
    // The common case: whole requests, run where they were read.
    const size_t done = RunCommands(bytes);
    Keep(bytes.substr(done));
    return;
  }
  buffer_.append(bytes);
  if (!backlog_) Resume();
}

bool Session::Resume() {
  if (finished()) return false;
  std::string taken = std::move(buffer_);
  buffer_.clear();
  const size_t done = RunCommands(taken);
  taken.erase(0, done);
  buffer_ = std::move(taken);
  if (buffer_.empty() && buffer_.capacity() > kKeptCapacity) buffer_.shrink_to_fit();
  client_.query_bytes = buffer_.size();
  return backlog_;
}

void Session::Keep(std::string_view rest) {
  if (!rest.empty() && !finished()) buffer_.assign(rest);
  client_.query_bytes = buffer_.size();
}

size_t Session::RunCommands(std::string_view bytes) {
  size_t done = 0;
  backlog_ = false;
  dispatcher_.BeginBatch();
  for (size_t commands = 0; done < bytes.size(); ++commands) {
    if (commands == kCommandsAtOnce || client_.output.size() >= kOutputHighWater) {
      backlog_ = true;
      break;
    }
    const ParseStatus status = parser_.Next(bytes.substr(done));
    if (status == ParseStatus::kNeedMore) {
      if (bytes.size() - done > static_cast<size_t>(server_.config.client_query_buffer_limit)) {
        ++server_.stats.client_query_limit_disconnections;
        server_.log.Warning("Closing client that reached max query buffer length: ",
                            client_.address);
        client_.close_after_reply = true;
      }
      break;
    }
    if (status == ParseStatus::kError) {
      Fail(parser_.error());
      return bytes.size();
    }
    const bool was_authenticated = client_.authenticated;
    if (!dispatcher_.Execute(client_, parser_.args())) {
      backlog_ = true;  // postponed by CLIENT PAUSE
      break;
    }
    done += parser_.consumed();
    if (client_.authenticated != was_authenticated) [[unlikely]]
      ApplyLimits();
    if (client_.close_after_reply) {
      done = bytes.size();
      break;
    }
  }
  if (!client_.output.empty() || client_.close_after_reply) server_.clients.MarkPending(client_);
  return done;
}

void Session::Fail(std::string_view error) {
  server_.stats.CountError("ERR");
  client_.reply.Error(StrCat("ERR ", error));
  client_.close_after_reply = true;
  server_.clients.MarkPending(client_);
}

}  // namespace tally::server
