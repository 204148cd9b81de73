#include "server/web/check_args.h"

#include <optional>

#include "core/bytes/number.h"
#include "core/words/word.h"

namespace tally::server {
namespace {

constexpr std::string_view kField = "x-limit-key";

constexpr std::string_view kNoPolicy =
    "ERR no policy is named: /check/POLICY?key=…, or /check?take=POLICY&key=…";
constexpr std::string_view kNoKey = "ERR a key is missing: ?key=…, or the field X-Limit-Key";
constexpr std::string_view kTwoKeys = "ERR a policy has two keys";
constexpr std::string_view kSpareKey = "ERR a field X-Limit-Key has no policy";
constexpr std::string_view kQuery =
    "ERR the query has take= and key= for each policy, or key= alone if the path names the policy, "
    "and may have cost= and deny= once";

// Puts a key where none is yet. Returns an empty text, or the error.
std::string_view PutKey(std::string& place, std::string_view key) {
  if (key.empty()) return kNoKey;
  if (!place.empty()) return kTwoKeys;
  place = key;
  return "";
}

std::string_view ReadDeny(std::string_view text, int& deny) {
  const auto status = ParseInt64(text);
  if (!status || *status < 400 || *status > 599) {
    return "ERR deny must be a status from 400 to 599";
  }
  deny = static_cast<int>(*status);
  return "";
}

// Reads the query. `args` has the policy of the path, if that names one.
std::string_view ReadQuery(const HttpRequest& request, CheckArgs& args) {
  const bool may_take = args.takes.empty();
  bool has_cost = false;
  bool has_deny = false;
  for (const auto& [name, value] : request.query) {
    std::string_view wrong;
    if (name == "take" && may_take) {
      args.takes.push_back({value, {}});
    } else if (name == "key" && !args.takes.empty()) {
      wrong = PutKey(args.takes.back().key, value);
    } else if (name == "cost" && !has_cost) {
      has_cost = true;
      args.cost = value;
    } else if (name == "deny" && !has_deny) {
      has_deny = true;
      wrong = ReadDeny(value, args.deny);
    } else {
      wrong = kQuery;
    }
    if (!wrong.empty()) return wrong;
  }
  return "";
}

// Returns the place of the policy whose key a field of this name has, counted from 1; nullopt if it
// is another field. 0: it cannot have a place.
std::optional<size_t> PlaceOf(std::string_view name) {
  const std::string_view rest = name.substr(std::min(kField.size(), name.size()));
  if (!IsWord(name.substr(0, kField.size()), kField)) return std::nullopt;
  if (rest.empty()) return 1;
  if (rest[0] != '-') return std::nullopt;
  const auto place = ParseInt64(rest.substr(1));
  return place && *place >= 2 ? static_cast<size_t>(*place) : 0;
}

std::string_view ReadFields(const HttpRequest& request, CheckArgs& args) {
  for (const HttpHeader& header : request.headers) {
    const auto place = PlaceOf(header.name);
    if (!place) continue;
    if (*place == 0 || *place > args.takes.size()) return kSpareKey;
    const std::string_view wrong = PutKey(args.takes[*place - 1].key, header.value);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

}  // namespace

std::string_view ReadCheck(const HttpRequest& request, CheckArgs& args) {
  if (!request.rest.empty()) args.takes.push_back({request.rest, {}});
  std::string_view wrong = ReadQuery(request, args);
  if (args.takes.empty()) return kNoPolicy;
  if (wrong.empty()) wrong = ReadFields(request, args);
  for (const CheckArgs::Take& take : args.takes) {
    if (wrong.empty() && take.key.empty()) wrong = kNoKey;
  }
  return wrong;
}

}  // namespace tally::server
