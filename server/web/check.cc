#include "server/web/check.h"

#include <absl/container/inlined_vector.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/bytes/number.h"
#include "core/engine/engine.h"
#include "core/limit/rule_words.h"
#include "server/http/http_response.h"
#include "server/http/json_text.h"
#include "server/web/command_call.h"
#include "server/web/rate_limit_fields.h"
#include "server/web/reply_json.h"

namespace tally::server {
namespace {

constexpr int kDenied = 429;

struct CheckArgs {
  std::string key;
  std::string cost = "1";
  int deny = kDenied;
};

// Reads the query into `args`. Returns an empty text, or what is wrong with the query.
std::string_view ReadQuery(const HttpRequest& request, CheckArgs& args) {
  bool has_key = false;
  bool has_cost = false;
  bool has_deny = false;
  for (const auto& [name, value] : request.query) {
    if (name == "key" && !has_key) {
      has_key = true;
      args.key = value;
    } else if (name == "cost" && !has_cost) {
      has_cost = true;
      args.cost = value;
    } else if (name == "deny" && !has_deny) {
      has_deny = true;
      const auto status = ParseInt64(value);
      if (!status || *status < 400 || *status > 599) return "deny must be a status from 400 to 599";
      args.deny = static_cast<int>(*status);
    } else {
      return "the query is key=…, and may have cost= and deny=; each once";
    }
  }
  return has_key && !args.key.empty() ? "" : "a key is missing: ?key=…";
}

// Parses a reply of LIMIT.TAKE, an array of six integers. Returns nullopt for any other reply.
std::optional<LimitAnswer> ParseAnswer(std::string_view wire) {
  constexpr size_t kFields = 6;
  int64_t fields[kFields];
  if (!wire.starts_with("*6\r\n")) return std::nullopt;
  wire.remove_prefix(4);
  for (int64_t& field : fields) {
    const size_t end = wire.find("\r\n");
    if (end == std::string_view::npos || !wire.starts_with(':')) return std::nullopt;
    const auto number = ParseInt64(wire.substr(1, end - 1));
    if (!number) return std::nullopt;
    field = *number;
    wire.remove_prefix(end + 2);
  }
  return LimitAnswer{fields[0] == 1, fields[1], fields[2], fields[3], fields[4]};
}

std::string FieldsOf(Engine& engine, std::string_view policy, const LimitAnswer& answer) {
  RuleList list;
  std::string error;
  std::vector<std::string_view> words;
  if (const PolicyTable::Words* stored = engine.policies().Find(policy)) {
    words.assign(stored->begin(), stored->end());
    const WordReader reader(words, WordOrigin::kStored, error);
    if (!RuleParser(engine.zones(), engine.policies()).ReadPlain(reader, list)) list.rules.clear();
  }
  return RateLimitFields(policy, {list.rules.data(), list.rules.size()}, answer);
}

// Returns the response for an error reply of the command. Status 503 means that nothing was
// decided.
HttpResponse CommandError(std::string_view text) {
  HttpResponse response = ErrorResponse(StatusOfError(text), {});
  response.body.clear();
  AppendErrorJson(response.body, text);
  response.body += '\n';
  return response;
}

class CheckAnswer final : public LongAnswer {
 public:
  explicit CheckAnswer(CheckArgs args) : args_(std::move(args)) {}

  bool GoOn(const HttpCall& call, const TurnShare&, HttpResponse& response) override {
    const std::string_view policy = call.request.rest;
    const std::string_view words[] = {"LIMIT.TAKE", args_.key, "POLICY",
                                      policy,       "COST",    args_.cost};
    call.client.database = 0;
    const auto reply = RunCommand(call, words);
    if (!reply) return false;
    response = ResponseTo(call, policy, *reply);
    return true;
  }

 private:
  HttpResponse ResponseTo(const HttpCall& call, std::string_view policy,
                          const CommandReply& reply) const {
    if (reply.is_error()) {
      HttpResponse response = CommandError(reply.error());
      const bool is_unknown =
          response.status == 400 && call.server.engine.policies().Find(policy) == nullptr;
      if (is_unknown) response.status = 404;
      return response;
    }
    const auto answer = ParseAnswer(reply.wire);
    if (!answer) return ErrorResponse(500, "LIMIT.TAKE answered something else");
    HttpResponse response;
    response.status = answer->allowed ? 200 : args_.deny;
    response.content_type = kJsonType;
    response.headers = FieldsOf(call.server.engine, policy, *answer);
    AppendReplyJson(response.body, reply.wire, reply.names);
    response.body += '\n';
    return response;
  }

  const CheckArgs args_;
};

}  // namespace

HttpResponse CheckLimit(const HttpCall& call) {
  CheckArgs args;
  const std::string_view wrong = ReadQuery(call.request, args);
  if (!wrong.empty()) return ErrorResponse(400, wrong);
  if (call.request.rest.empty()) return ErrorResponse(404, "the path is /check/ and a policy");
  HttpResponse response;
  response.long_answer = std::make_unique<CheckAnswer>(std::move(args));
  return response;
}

}  // namespace tally::server
