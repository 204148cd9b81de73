#include "server/web/api.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/bytes/str_cat.h"
#include "server/http/http_response.h"
#include "server/http/json_text.h"
#include "server/interfaces/command_runner.h"
#include "server/web/api_request.h"
#include "server/web/command_call.h"
#include "server/web/reply_json.h"

namespace tally::server {
namespace {

// When the JSON of a batch's replies has more bytes than this, no further command of it is run. The
// whole response is copied to the output within one turn.
constexpr size_t kMaxBatchBytes = size_t{4} << 20;

constexpr std::string_view kTooMuch =
    "ERR not run: the replies before it are larger than the 4 MiB that HTTP may have";
constexpr std::string_view kClosed = "ERR not run: a command before it has closed the connection";

// Runs the commands of one body, in each turn as many as the turn's share allows.
class ApiAnswer final : public LongAnswer {
 public:
  explicit ApiAnswer(ApiRequest request) : request_(std::move(request)) {}

  bool Continue(const HttpCall& call, const TurnShare& share, HttpResponse& response) override {
    if (next_ == 0) call.client.database = 0;
    while (next_ < request_.commands()) {
      // Runs at least one command in each turn, so that the answer ends whatever the share is.
      if (!RunNext(call)) return false;
      // A client that is to be closed gets no further turn: it must be answered in this one.
      if (call.client.finished()) continue;
      if (next_ < request_.commands() && call.server.runner->MeasureBatch() >= share.micros) {
        return false;
      }
    }
    response.status = status_;
    response.content_type = kJsonType;
    body_ += request_.is_batch() ? "]\n" : "\n";
    response.body = std::move(body_);
    return true;
  }

 private:
  // Returns false if the command did not run because clients are paused.
  bool RunNext(const HttpCall& call) {
    CommandReply reply;
    if (call.client.finished()) {
      reply = CommandReply::Error(kClosed);
    } else if (body_.size() > kMaxBatchBytes) {
      reply = CommandReply::Error(kTooMuch);
    } else {
      auto run = RunCommand(call, request_.Command(next_, args_));
      if (!run) return false;
      reply = *std::move(run);
    }
    if (request_.is_batch()) body_ += next_ == 0 ? '[' : ',';
    AppendReplyJson(body_, reply.wire, reply.names);
    if (!request_.is_batch() && reply.is_error()) status_ = StatusOfError(reply.error());
    ++next_;
    return true;
  }

  const ApiRequest request_;
  size_t next_ = 0;  // index of the command to run next
  int status_ = 200;
  std::string body_;
  std::vector<std::string_view> args_;
};

}  // namespace

HttpResponse RunApi(const HttpCall& call) {
  ApiRequest request;
  const std::string error = request.Parse(call.request.body);
  if (!error.empty()) return ErrorResponse(400, StrCat("ERR ", error));
  HttpResponse response;
  response.long_answer = std::make_unique<ApiAnswer>(std::move(request));
  return response;
}

}  // namespace tally::server
