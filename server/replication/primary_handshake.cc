#include "server/replication/primary_handshake.h"

#include <absl/strings/numbers.h>

#include <algorithm>

#include "core/bytes/str_cat.h"
#include "server/effects/effect_stream.h"
#include "server/effects/stream_id.h"
#include "server/log/quoted.h"

namespace tally::server {
namespace {

constexpr size_t kMostShownLine = 128;
// Only a replica says so whose history is the one that it is asked to go on with.
constexpr std::string_view kLacksData = "-ERR PSYNC FAILOVER offset is beyond mine";
// Valkey needs a version from 9.0.0 on to write hashes whose fields have deadlines. From 9.2 on it
// may send commands within the snapshot.
constexpr std::string_view kVersion = "9.1.0";

absl::Status Unexpected(std::string_view request, std::string_view line) {
  return absl::FailedPreconditionError(
      StrCat("the primary answers ", request, " with ", Quoted(line.substr(0, kMostShownLine))));
}

bool StartsWithAny(std::string_view line, std::initializer_list<std::string_view> begins) {
  return std::any_of(begins.begin(), begins.end(),
                     [&](std::string_view begin) { return line.starts_with(begin); });
}

// The words of a line, which single blanks part.
std::vector<std::string_view> WordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const size_t end = std::min(line.find(' '), line.size());
    words.push_back(line.substr(0, end));
    if (end == line.size()) return words;
    line.remove_prefix(end + 1);
  }
}

std::optional<uint64_t> OffsetOf(std::string_view text) {
  uint64_t offset = 0;
  const bool is_number = absl::SimpleAtoi(absl::string_view(text.data(), text.size()), &offset);
  if (!is_number || offset > static_cast<uint64_t>(INT64_MAX)) return std::nullopt;
  return offset;
}

}  // namespace

PrimaryHandshake::PrimaryHandshake(const Request& request) : has_data_(request.from.has_value()) {
  Add(Step::kPing, {"PING"});
  if (!request.password.empty() && request.user.empty()) {
    Add(Step::kAuth, {"AUTH", request.password});
  } else if (!request.password.empty()) {
    Add(Step::kAuth, {"AUTH", request.user, request.password});
  }
  const std::string port = StrCat(request.listening_port);
  Add(Step::kOption, {"REPLCONF", "listening-port", port});
  if (!request.announced_ip.empty()) {
    Add(Step::kOption, {"REPLCONF", "ip-address", request.announced_ip});
  }
  Add(Step::kOption, {"REPLCONF", "capa", "eof", "capa", "psync2", "capa", "tallyd"});
  Add(Step::kOption, {"REPLCONF", "version", kVersion});
  if (request.earlier) {
    const std::string earlier = StrCat(request.earlier->replid, ":", request.earlier->offset);
    Add(Step::kOption, {"REPLCONF", "earlier", earlier});
  }
  if (request.from) {
    from_ = *request.from;
    // What is asked for is the first byte that is missing.
    const std::string next = StrCat(from_.offset + 1);
    std::vector<std::string_view> words = {"PSYNC", from_.replid, next};
    if (request.hands_over) words.push_back("FAILOVER");
    if (request.hands_over && request.by_force) words.push_back("FORCE");
    Add(Step::kSync, words);
  } else {
    Add(Step::kSync, {"PSYNC", "?", "-1"});
  }
}

void PrimaryHandshake::Add(Step step, const std::vector<std::string_view>& words) {
  requests_.push_back({step, {}});
  AppendRespCommand(requests_.back().bytes, words);
}

absl::StatusOr<PrimaryHandshake::Answer> PrimaryHandshake::Take(std::string_view line,
                                                                std::string& out) {
  const Step step = requests_[next_].step;
  // A primary that takes its time keeps the connection alive with empty lines.
  if (step == Step::kSync && line.empty()) return Answer::kNotYet;
  if (!StartsWithAny(line, {"+", "-"})) return Unexpected("the handshake", line);
  if (step == Step::kSync) return JudgeSync(line);
  if (step == Step::kPing) {
    if (absl::Status status = JudgePing(line); !status.ok()) return status;
  }
  if (step == Step::kAuth && line.front() == '-') return Unexpected("AUTH", line);
  // An option that the primary does not know is no reason to give up.
  ++next_;
  out += requests_[next_].bytes;
  return Answer::kNotYet;
}

// One that asks for a password says so here.
absl::Status PrimaryHandshake::JudgePing(std::string_view line) const {
  if (StartsWithAny(line, {"+PONG", "-NOAUTH", "-NOPERM", "-ERR operation not permitted"})) {
    return absl::OkStatus();
  }
  absl::Status status = Unexpected("PING", line);
  const bool may_change = StartsWithAny(line, {"-LOADING", "-MASTERDOWN", "-BUSY", "-MISCONF"});
  return may_change ? absl::UnavailableError(std::string(status.message())) : status;
}

absl::StatusOr<PrimaryHandshake::Answer> PrimaryHandshake::JudgeSync(std::string_view line) {
  answered_ = true;
  refused_ = line.starts_with(kLacksData);
  if (StartsWithAny(line, {"-NOMASTERLINK", "-LOADING"})) {
    return absl::UnavailableError(
        StrCat("the primary has no data to send yet: ", Quoted(line.substr(0, kMostShownLine))));
  }
  const std::vector<std::string_view> words = WordsOf(line);
  if (words[0] == "+FULLRESYNC" && words.size() == 3 && StreamId::IsId(words[1])) {
    if (const auto offset = OffsetOf(words[2])) {
      from_ = {std::string(words[1]), *offset};
      return Answer::kFullSync;
    }
  }
  const bool goes_on = words[0] == "+CONTINUE" && has_data_ && words.size() <= 2;
  if (goes_on && (words.size() == 1 || StreamId::IsId(words[1]))) {
    if (words.size() == 2) from_.replid = words[1];
    return Answer::kContinue;
  }
  return Unexpected("PSYNC", line);
}

}  // namespace tally::server
