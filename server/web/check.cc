#include "server/web/check.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/engine/engine.h"
#include "core/limit/policy_table.h"
#include "server/http/http_response.h"
#include "server/http/json_text.h"
#include "server/web/check_args.h"
#include "server/web/command_call.h"
#include "server/web/rate_limit_fields.h"
#include "server/web/reply_json.h"

namespace tally::server {
namespace {

struct Decision {
  LimitAnswer answer;
  int64_t rule;  // the place of the rule that denied; 0 when allowed
};

// Parses a reply of LIMIT.TAKE, an array of six integers. Returns nullopt for any other reply.
std::optional<Decision> ParseDecision(std::string_view wire) {
  int64_t fields[6];
  ReplyReader reply(wire);
  const ReplyPart whole = reply.Next();
  if (whole.type != ReplyType::kArray || whole.number != std::ssize(fields)) return std::nullopt;
  for (int64_t& field : fields) {
    const ReplyPart part = reply.Next();
    if (part.type != ReplyType::kInteger) return std::nullopt;
    field = part.number;
  }
  return Decision{{fields[0] == 1, fields[1], fields[2], fields[3], fields[4]}, fields[5]};
}

bool HasLimit(std::span<const LimitRule> rules, int64_t limit) {
  return std::any_of(rules.begin(), rules.end(), [limit](const LimitRule& rule) {
    return rule.counts() && rule.limit == limit;
  });
}

// The fields name the policy that denied. When allowed they name the first policy that has a rule
// with the limit of the answer: LIMIT.TAKE does not say which rule is the tightest.
std::string FieldsOf(Engine& engine, std::span<const CheckArgs::Take> takes,
                     const Decision& decision) {
  std::vector<LimitRule> rules;
  const std::string* named = nullptr;
  for (const CheckArgs::Take& take : takes) {
    const Policy* policy = engine.policies().Find(take.policy);
    if (policy == nullptr) continue;
    const std::span<const LimitRule> own = policy->rules();  // the decision has compiled them
    rules.insert(rules.end(), own.begin(), own.end());
    const bool denied = decision.rule > 0 && rules.size() >= static_cast<size_t>(decision.rule);
    if (denied) return RateLimitFields(take.policy, own, decision.answer);
    if (named == nullptr && HasLimit(own, decision.answer.limit)) named = &take.policy;
  }
  if (named == nullptr) named = &takes.front().policy;
  return RateLimitFields(*named, rules, decision.answer);
}

class CheckAnswer final : public LongAnswer {
 public:
  explicit CheckAnswer(CheckArgs args) : args_(std::move(args)) {}

  bool Continue(const HttpCall& call, const TurnShare&, HttpResponse& response) override {
    std::vector<std::string_view> words = {"LIMIT.TAKE"};
    for (const CheckArgs::Take& take : args_.takes) {
      if (words.size() > 1) words.push_back("AND");
      words.insert(words.end(), {take.key, "POLICY", take.policy});
    }
    words.insert(words.end(), {"COST", args_.cost});
    call.client.database = 0;
    const auto reply = RunCommand(call, words);
    if (!reply) return false;
    response = ResponseTo(call, *reply);
    return true;
  }

 private:
  HttpResponse ResponseTo(const HttpCall& call, const CommandReply& reply) const {
    Engine& engine = call.server.engine;
    if (reply.is_error()) {
      HttpResponse response = ErrorResponse(StatusOfError(reply.error()), reply.error());
      const bool is_unknown =
          std::any_of(args_.takes.begin(), args_.takes.end(), [&](const CheckArgs::Take& take) {
            return engine.policies().Find(take.policy) == nullptr;
          });
      if (response.status == 400 && is_unknown) response.status = 404;
      return response;
    }
    const auto decision = ParseDecision(reply.wire);
    if (!decision) return ErrorResponse(500, "ERR LIMIT.TAKE answered something else");
    HttpResponse response;
    response.status = decision->answer.allowed ? 200 : args_.deny;
    response.content_type = kJsonType;
    response.headers = FieldsOf(engine, args_.takes, *decision);
    AppendReplyJson(response.body, reply.wire, reply.names);
    response.body += '\n';
    return response;
  }

  const CheckArgs args_;
};

}  // namespace

HttpResponse CheckLimit(const HttpCall& call) {
  CheckArgs args;
  const std::string_view wrong = ReadCheck(call.request, args);
  // Without a policy the proxy asks wrongly, whoever the visitor is: as with one that there is not.
  if (!wrong.empty()) return ErrorResponse(args.takes.empty() ? 404 : 400, wrong);
  HttpResponse response;
  response.long_answer = std::make_unique<CheckAnswer>(std::move(args));
  return response;
}

}  // namespace tally::server
