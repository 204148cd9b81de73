#include "server/http/http_session.h"

#include <algorithm>
#include <utility>

#include "core/bytes/recycle.h"
#include "core/bytes/str_cat.h"
#include "server/acl/acl_check.h"
#include "server/acl/acl_guard.h"
#include "server/acl/acl_users.h"
#include "server/command/command_table.h"
#include "server/config/config.h"
#include "server/http/http_limits.h"
#include "server/http/same_site.h"
#include "server/interfaces/command_runner.h"
#include "server/state/client_table.h"
#include "server/state/clock.h"
#include "server/state/pubsub.h"
#include "server/state/stats.h"
#include "server/state/watch_list.h"

namespace tally::server {
namespace {

// A Run is heavy if it leaves more bytes of output than this, or takes longer than this.
constexpr size_t kHeavyBytes = 16 * 1024;
constexpr int64_t kHeavyMicros = 200;

constexpr std::string_view kOtherHost =
    "ERR this server has no such name; http-hosts lists those that it has";

bool Matches(const Route& route, std::string_view path) {
  if (!route.path.ends_with('*')) return path == route.path;
  return path.starts_with(route.path.substr(0, route.path.size() - 1));
}

bool Allows(const Route& route, HttpMethod method) {
  const bool head = method == kHttpHead && (route.methods & kHttpGet) != 0;
  return head || (route.methods & method) != 0;
}

HttpResponse MethodError(uint8_t methods) {
  HttpResponse response = ErrorResponse(405, "ERR this path has no such method");
  response.headers = StrCat("Allow: ", (methods & kHttpGet) != 0 ? "GET, HEAD" : "",
                            (methods & kHttpGet) != 0 && (methods & kHttpPost) != 0 ? ", " : "",
                            (methods & kHttpPost) != 0 ? "POST" : "", "\r\n");
  return response;
}

size_t MostBody(const Route& route) {
  return route.access == HttpAccess::kNoLogin ? kMaxOpenBody : SIZE_MAX;
}

HttpResponse LoginError() {
  HttpResponse response = ErrorResponse(401, "NOAUTH Authentication required.");
  response.headers = "WWW-Authenticate: Basic realm=\"tallyd\", charset=\"UTF-8\"\r\n";
  return response;
}

}  // namespace

HttpSession::HttpSession(const Services& server, HttpSite& site) : server_(server), site_(site) {
  client_.created_ms = client_.last_active_ms = server.clock.elapsed_ms();
  client_.reply.set_protocol(3);
  client_.library_name = "http";
  LoginAsDefault(server.users, client_);
  server_.clients.Add(client_);
  ++site_.sessions;
}

HttpSession::~HttpSession() {
  site_.events.Remove(client_);
  server_.watches.UnwatchAll(client_);
  server_.pubsub.Forget(client_);
  server_.clients.Remove(client_);
  --site_.sessions;
}

int64_t HttpSession::now_ms() const { return server_.clock.now_ms(); }

HttpCall HttpSession::Call() const {
  return {.server = server_, .client = client_, .request = reader_.request(), .now_ms = now_ms()};
}

void HttpSession::Take(std::string_view bytes) {
  if (finished()) return;
  client_.state.requests.Take();
  input_ = bytes;
}

void HttpSession::Hold() {
  if (!client_.state.requests.taken()) return;
  client_.state.requests.Hold();
  buffer_.append(input_);
  input_ = {};
}

void HttpSession::Run(const TurnShare& share) {
  if (client_.finished()) return;
  if (refused_ms_ != 0) return Discard();
  std::string held;
  std::string_view bytes = input_;
  if (!buffer_.empty()) {
    held = std::exchange(buffer_, {});
    held.append(input_);
    bytes = held;
  }
  client_.state.requests.BeginRun();
  server_.runner->BeginBatch();
  const bool left = RunRequests(bytes, share);
  heavy_ =
      left || client_.output.size() > kHeavyBytes || server_.runner->MeasureBatch() > kHeavyMicros;
  client_.state.requests.EndRun(left);
  if (client_.needs_flush()) server_.clients.MarkPending(client_);
  if (!finished()) buffer_ = bytes;
  input_ = {};
  client_.query_bytes = buffered();
}

// Drops the bytes that arrive after a refusal.
void HttpSession::Discard() {
  client_.state.requests.BeginRun();
  client_.state.requests.EndRun(false);
  Recycle(buffer_);
  client_.query_bytes = buffered();
  input_ = {};
}

// Runs requests until the share is used up. Returns whether requests, or a part of one, are left to
// run.
bool HttpSession::RunRequests(std::string_view& bytes, const TurnShare& share) {
  for (size_t requests = 0; !finished(); ++requests) {
    if (client_.takes_events) bytes = {};
    if (bytes.empty() && long_answer_ == nullptr) return false;
    const bool used_up = requests >= share.commands ||
                         client_.output.size() >= share.output_bytes ||
                         server_.runner->MeasureBatch() >= share.micros;
    if (used_up && requests > 0) return true;
    if (long_answer_ == nullptr) ReadRequest(bytes);
    if (long_answer_ != nullptr && !ContinueAnswer(share)) return true;
  }
  return false;
}

// Takes bytes of the next request. If it is whole, answers it or begins a long answer.
void HttpSession::ReadRequest(std::string_view& bytes) {
  if (reader_.idle()) reader_.set_max_body(static_cast<size_t>(server_.config.http_max_body));
  switch (reader_.Read(bytes)) {
    case HttpRequestReader::Status::kNeedMore:
      if (begun_ms_ == 0 && !reader_.idle()) begun_ms_ = server_.clock.steady_ms();
      if (reader_.awaits_body() && !admitted_) AwaitBody();
      return;
    case HttpRequestReader::Status::kError:
      return Refuse(ReadError());
    case HttpRequestReader::Status::kRequest:
      begun_ms_ = 0;
      admitted_ = false;
      client_.last_active_ms = server_.clock.elapsed_ms();
      return Answer();
  }
}

// Judges a request whose body has not come with its head. What will be refused is refused at once,
// so that no memory is held for its body.
void HttpSession::AwaitBody() {
  HttpResponse refusal;
  const Route* route = RouteFor(refusal);
  if (route == nullptr) return Refuse(refusal);
  if (!reader_.LimitBody(MostBody(*route))) {
    return Refuse(ReadError());
  }
  admitted_ = true;
  if (reader_.expects_continue()) AppendContinue(client_.output);
}

HttpResponse HttpSession::ReadError() const {
  return ErrorResponse(reader_.error_status(), StrCat("ERR ", reader_.error_text()));
}

void HttpSession::Answer() {
  HttpResponse response = Respond();
  if (response.long_answer != nullptr) {
    long_answer_ = std::move(response.long_answer);
  } else {
    Send(response);
  }
}

HttpResponse HttpSession::Respond() {
  HttpRequest& request = reader_.request();
  HttpResponse refusal;
  route_ = RouteFor(refusal);
  if (route_ == nullptr) return refusal;
  if (!reader_.LimitBody(MostBody(*route_))) {
    return ReadError();
  }
  if (route_->path.ends_with('*')) {
    auto rest = PercentDecoded(request.path.substr(route_->path.size() - 1));
    if (!rest) return ErrorResponse(400, "ERR the path is not well encoded");
    request.rest = *std::move(rest);
  }
  return route_->handler(Call());
}

const Route* HttpSession::RouteFor(HttpResponse& refusal) {
  const HttpRequest& request = reader_.request();
  const bool old_and_silent = request.is_http_1_0 && request.authority.empty();
  if (!old_and_silent && !IsOurHost(request.authority, server_.config.http_hosts)) {
    refusal = ErrorResponse(421, kOtherHost);
    return nullptr;
  }
  uint8_t others = 0;
  for (const Route& route : site_.routes) {
    if (!Matches(route, request.path)) continue;
    others |= route.methods;
    if (Allows(route, request.method)) return Admit(route, refusal) ? &route : nullptr;
  }
  refusal = others == 0 ? ErrorResponse(404, "ERR there is nothing under this path")
                        : MethodError(others);
  return nullptr;
}

bool HttpSession::Admit(const Route& route, HttpResponse& refusal) {
  const HttpRequest& request = reader_.request();
  const bool changes = request.method == kHttpPost || route.get_changes;
  if (changes && IsFromAnotherSite(request)) {
    refusal = ErrorResponse(403, "NOPERM a page of another site may not do this");
    return false;
  }
  if (route.access == HttpAccess::kNoLogin) return true;
  if (!login_.Login(server_, client_, request.Header("authorization").value_or(""))) {
    refusal = LoginError();
    return false;
  }
  return MayUse(route, refusal);
}

// Whether the user has the right that the route asks for.
bool HttpSession::MayUse(const Route& route, HttpResponse& refusal) {
  if (route.command.empty()) return true;
  const CommandEntry* entry = server_.commands.FindFullName(route.command);
  if (entry == nullptr) return true;
  const std::string_view words[] = {route.command};
  const AclVerdict verdict = server_.guard.Check(client_, *entry, words, "toplevel");
  if (verdict.denial == AclDenial::kNone) return true;
  refusal = ErrorResponse(403, DenialError(verdict));
  return false;
}

bool HttpSession::ContinueAnswer(const TurnShare& share) {
  HttpResponse response;
  if (!long_answer_->Continue(Call(), share, response)) return false;
  long_answer_ = nullptr;
  Send(response);
  return true;
}

void HttpSession::Send(const HttpResponse& response) {
  const HttpRequest& request = reader_.request();
  const ResponseForm form{.body = request.method != kHttpHead,
                          .keep_alive = request.keep_alive && !response.streams,
                          .is_http_1_0 = request.is_http_1_0,
                          .date = site_.date.At(now_ms())};
  AppendResponse(client_.output, response, form);
  if (response.streams && form.body) {
    site_.events.Add(client_);
  } else if (!form.keep_alive) {
    client_.state.end.Finish();
  }
  reader_.Clear();
}

// Refuses a request that is malformed, too slow, or not admitted before its body has come. The rest
// of it is still read for kLingerMs: closing a socket that has unread bytes could make the client
// lose the response.
void HttpSession::Refuse(const HttpResponse& response) {
  const ResponseForm form{.body = reader_.request().method != kHttpHead,
                          .keep_alive = false,
                          .date = site_.date.At(now_ms())};
  AppendResponse(client_.output, response, form);
  reader_.Clear();
  refused_ms_ = server_.clock.steady_ms();
  server_.clients.MarkPending(client_);
}

bool HttpSession::CheckDeadlines() {
  if (TakesNothing() || (client_.takes_events && !MayTakeEvents())) return true;
  if (refused_ms_ != 0) return server_.clock.steady_ms() - refused_ms_ > kLingerMs;
  if (client_.finished() || client_.takes_events || long_answer_ != nullptr) return false;
  if (begun_ms_ != 0) {
    if (server_.clock.steady_ms() - begun_ms_ > kMaxRequestMs) {
      Refuse(ErrorResponse(408, "ERR the request took too long to come"));
    }
    return false;
  }
  if (unsent_ > 0) return false;
  const int64_t limit_ms = std::max(server_.config.timeout * 1000, kLeastIdleMs);
  return server_.clock.elapsed_ms() - client_.last_active_ms > limit_ms;
}

// Whether the client may still read the events that it gets. They end when its password has
// changed, or its user has lost the right to them. Until the users change nothing is checked.
bool HttpSession::MayTakeEvents() {
  if (!login_.outdated(server_)) return true;
  HttpResponse refusal;
  return login_.Renew(server_, client_) && MayUse(*route_, refusal);
}

// Whether output has waited for more than kLeastIdleMs while the peer took none of it.
bool HttpSession::TakesNothing() {
  const size_t before = std::exchange(unsent_, client_.output.size());
  if (unsent_ == 0) {
    unsent_since_ms_ = 0;
    return false;
  }
  const int64_t steady_ms = server_.clock.steady_ms();
  if (unsent_ < before || unsent_since_ms_ == 0) {
    unsent_since_ms_ = steady_ms;
    client_.last_active_ms =
        server_.clock.elapsed_ms();  // a client that takes its response is not idle
  }
  return steady_ms - unsent_since_ms_ > kLeastIdleMs;
}

}  // namespace tally::server
