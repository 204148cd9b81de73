#include "tests/differential/generator.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "core/bytes/str_cat.h"

namespace tally::differential {
namespace {

constexpr uint64_t kMutatedPercent = 4;
constexpr uint64_t kInlinePercent = 1;
constexpr uint64_t kEndTransactionPercent = 12;
constexpr uint64_t kMaxDeaths = 4;

// Whether the request may stand in a line as it is.
bool FitsInline(const Request& request) {
  return std::all_of(request.begin(), request.end(), [](const std::string& arg) {
    return !arg.empty() && std::all_of(arg.begin(), arg.end(), [](unsigned char c) {
      return absl::ascii_isalnum(c) || c == ':' || c == '.' || c == '-' || c == '*';
    });
  });
}

bool IsTracking(const Request& request) {
  return request.size() > 1 && absl::EqualsIgnoreCase(request[0], "CLIENT") &&
         absl::EqualsIgnoreCase(request[1], "TRACKING");
}

// What chooses at random is only in lines that know what it chose from, and a SCAN only where
// it is whole; the sets of equal scores stay so.
// What waits, or holds the server, must not do so for longer; SORT compares numbers only.
bool MayMutate(const Request& request) {
  const std::string name = absl::AsciiStrToUpper(request[0]);
  if (request.size() > 1 && request[1].starts_with("lex:")) return false;
  if (request.size() > 1 && request[1].starts_with("sort:")) return false;
  for (const std::string_view whole : {"WAIT", "DEBUG", "CLUSTER", "HELLO", "ACL", "PFMERGE"}) {
    if (name == whole) return false;
  }
  if (IsTracking(request)) return false;  // It must not track in phases in which nobody does.
  const bool waits = name[0] == 'B' && !name.starts_with("BIT");
  return !waits && name != "SPOP" && name.find("RAND") == std::string::npos &&
         !name.ends_with("SCAN");
}

// A value that replaces one of another type wakes nobody. If a transaction has created that other
// one, redis-server may wake who waits for the key. And what a transaction changes before it sets
// how its client is told, redis-server tells in the new way.
bool IsOpenInTransactions(Phase phase, const Request& request) {
  const std::string name = absl::AsciiStrToUpper(request[0]);
  if (phase == kWaiting) return name == "SORT" || (name[0] == 'Z' && name.ends_with("STORE"));
  return phase == kTracking && (name == "HELLO" || IsTracking(request));
}

constexpr std::string_view kCarried = "<request>";

}  // namespace

void Step::AppendTo(std::string& out) const {
  if (!is_inline) return AppendRequest(out, request);
  for (size_t i = 0; i < request.size(); ++i) StrAppend(out, i > 0 ? " " : "", request[i]);
  out += "\r\n";
}

Generator::Generator(uint64_t seed) : random_(seed) {
  int64_t sum = 0;
  for (const auto lines :
       {GenericLines(), StringLines(), ListLines(), HashLines(), SetLines(), ZSetLines(),
        WaitingLines(), ScriptLines(), TrackingLines(), ServerLines(), OtherLines()}) {
    for (const Line& line : lines) {
      sum += line.weight;
      lines_.push_back(&line);
      weights_.push_back(sum);
    }
  }
}

const Line& Generator::Choose(Phase phase) {
  for (;;) {
    const auto ticket = static_cast<int64_t>(random_.Below(static_cast<uint64_t>(weights_.back())));
    const auto chosen = std::upper_bound(weights_.begin(), weights_.end(), ticket);
    const Line& line = *lines_[static_cast<size_t>(chosen - weights_.begin())];
    if (line.phases & phase) return line;
  }
}

void Generator::Next(Phase phase, bool in_transaction, std::vector<Step>& steps) {
  if (in_transaction && random_.Percent(kEndTransactionPercent)) {
    steps.push_back({{random_.Percent(90) ? "EXEC" : "DISCARD"}});
    return;
  }
  const Line& line = Choose(phase);
  if (line.text.ends_with(kCarried)) {
    const std::string_view text = line.text.substr(0, line.text.size() - kCarried.size());
    Step step{Expand(text, random_, words_)[0], line.rule};
    AppendCarried(phase, step);
    steps.push_back(std::move(step));
    return;
  }
  std::vector<Request> requests = Expand(line.text, random_, words_);
  if (requests.size() == 1) {
    Step step{std::move(requests[0]), line.rule};
    if (random_.Percent(kMutatedPercent) && MayMutate(step.request)) Mutate(step.request);
    if (in_transaction && IsOpenInTransactions(phase, step.request)) return;
    step.is_inline = random_.Percent(kInlinePercent) && FitsInline(step.request);
    steps.push_back(std::move(step));
    return;
  }
  for (size_t i = 0; i < requests.size(); ++i) {
    const Rule rules[] = {Rule::kAnyOrder, line.rule, Rule::kExact};
    steps.push_back({std::move(requests[i]), rules[i]});
  }
}

void Generator::AppendCarried(Phase phase, Step& step) {
  for (;;) {
    const Line& line = Choose(phase);
    const bool is_script = line.text.find("EVAL") != std::string_view::npos;
    if (is_script || line.text.ends_with(kCarried)) continue;
    std::vector<Request> requests = Expand(line.text, random_, words_);
    if (requests.size() > 1) continue;
    Request& carried = requests[0];
    // In which order COMMAND GETKEYS finds the keys of a wrong command is nothing to rely on.
    const bool is_run = step.rule == Rule::kOfRequest;
    if (is_run && random_.Percent(kMutatedPercent) && MayMutate(carried)) Mutate(carried);
    step.request.insert(step.request.end(), carried.begin(), carried.end());
    if (is_run) step.rule = line.rule;
    return;
  }
}

Request Generator::NextEndless() {
  return Expand(random_.OneOf(EndlessLines()).text, random_, words_)[0];
}

Step Generator::NextBroadcast() {
  const Line& line = random_.OneOf(BroadcastLines());
  return {Expand(line.text, random_, words_)[0], line.rule};
}

void Generator::Mutate(Request& request) {
  if (request.size() == 1) return request.push_back(words_.Junk());
  const size_t place = 1 + random_.Below(request.size() - 1);
  const auto at = request.begin() + static_cast<ptrdiff_t>(place);
  switch (random_.Below(5)) {
    case 0:
      request.erase(at);
      return;
    case 1:
      request.insert(at, std::string(*at));
      return;
    case 2:
      *at = words_.Junk();
      return;
    case 3:
      request.push_back(words_.Junk());
      return;
    case 4:
      request.resize(place);
      return;
  }
}

void Generator::NextDeaths(std::vector<Step>& steps, std::vector<Step>& after) {
  std::set<std::string> keys;
  for (uint64_t i = 0; i <= random_.Below(kMaxDeaths); ++i) keys.insert(words_.AnyKey());
  for (const std::string& key : keys) {
    steps.push_back({{"PEXPIRE", key, std::to_string(random_.Between(15, 20))}});
    after.push_back({{random_.Percent(50) ? "EXISTS" : "TYPE", key}});
  }
}

}  // namespace tally::differential
