#include "server/commands/quota_args.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/bytes/number.h"
#include "core/bytes/str_cat.h"
#include "core/limit/hold_record.h"
#include "core/words/word_list.h"
#include "server/arguments/time_args.h"
#include "server/command/usage.h"

namespace tally::server {

QuotaArgs::QuotaArgs(CommandContext& context)
    : context_(context),
      args_(context.args),
      now_ms_(context.now_ms),
      lag_ms_(context.engine().deletion_lag_ms()) {
  if (context.replaying) {
    TakeReplayWords();
  } else {
    retention_ms_ = context.host.limits.quota_retention_ms;
  }
}

void QuotaArgs::TakeReplayWords() {
  const auto take_last = [this](std::string_view word) -> std::optional<int64_t> {
    if (args_.size() < 4 || !IsWord(args_[args_.size() - 2], word)) return std::nullopt;
    const auto value = ParseInt64(args_.back());
    if (value) args_ = args_.first(args_.size() - 2);
    return value;
  };
  retention_ms_ = take_last("keep");
  if (retention_ms_ && *retention_ms_ <= 0) retention_ms_.reset();
  lag_ms_ = std::max<int64_t>(0, take_last("lag").value_or(0));
  now_ms_ = take_last("now").value_or(now_ms_);
}

void QuotaArgs::Log(bool with_retention) {
  WordList words(args_.begin(), args_.end());
  if (!logged_name_.empty()) words.front() = logged_name_;
  const Int64Text now(now_ms_);
  words.push_back("NOW");
  words.push_back(now.view());
  const Int64Text lag(lag_ms_);
  if (lag_ms_ != 0) AppendWords(words, {{"LAG", lag.view()}});
  const Int64Text retention(retention_ms_.value_or(0));
  if (with_retention) {
    words.push_back("KEEP");
    words.push_back(retention.view());
  }
  context_.LogInstead(Args(words));
}

bool QuotaArgs::Fail(std::string_view name, std::string_view what) {
  context_.reply.Error(StrCat("ERR ", name, what));
  return false;
}

bool QuotaArgs::WrongSyntax(std::string_view what) {
  ReplySyntaxError(context_, what);
  return false;
}

bool QuotaArgs::Missing(std::string_view name) { return WrongSyntax(StrCat(name, " is missing")); }

bool QuotaArgs::TooMuch(std::string_view name) {
  return Fail(name, StrCat(": those named have more than ", kMaxQuotaAnswer,
                           " limits or purchases, too many for one call; name fewer"));
}

bool QuotaArgs::HasRoom(std::string_view name, size_t count) {
  if (count < kMaxQuotaEntries) return true;
  return Fail(name, StrCat(": at most ", kMaxQuotaEntries, " in one call"));
}

bool QuotaArgs::Take(std::string_view word) {
  if (!At(word)) return false;
  ++next_;
  return true;
}

bool QuotaArgs::TakeOption(std::string_view word) {
  if (done() || !options_.Is(args_[next_], word)) return false;
  ++next_;
  return true;
}

bool QuotaArgs::ReadBook(const QuotaBook*& book) {
  QuotaBook* found = nullptr;
  if (!context_.Read(args_[1], found)) return false;
  if (found != nullptr) found->SetRetentionLag(lag_ms_);
  book = found;
  return true;
}

bool QuotaArgs::Read(std::string_view name, QuotaId& id) {
  if (done()) return Missing(name);
  if (!ReadQuotaId(args_[next_], id)) {
    return Fail(name, StrCat(" must be at most ", kMaxQuotaIdBytes, " bytes"));
  }
  ++next_;
  return true;
}

bool QuotaArgs::ReadCount(std::string_view name, int32_t low, int32_t& value) {
  if (done()) return Missing(name);
  const auto number = ParseInt64(args_[next_]);
  if (!number) return Fail(name, " is not an integer or out of range");
  constexpr int32_t kHigh = std::numeric_limits<int32_t>::max();
  if (*number < low || *number > kHigh) {
    return Fail(name, StrCat(" must be between ", low, " and ", kHigh));
  }
  value = static_cast<int32_t>(*number);
  ++next_;
  return true;
}

bool QuotaArgs::ReadWindow(int64_t& window_ms) {
  if (done()) return Missing("window");
  if (!ReadDuration({context_, args_}, next_, "window", window_ms)) return false;
  ++next_;
  return true;
}

bool QuotaArgs::ReadHold(int64_t& hold_ms) {
  if (done()) return Missing("HOLD");
  if (!ReadDuration({context_, args_}, next_, "HOLD", hold_ms)) return false;
  if (hold_ms > kMaxHoldMs) return Fail("HOLD", " must be at most 366d");
  ++next_;
  return true;
}

bool QuotaArgs::ReadInstant(int64_t& unix_ms) {
  if (done()) return Missing("AT");
  if (!server::ReadInstant({context_, args_}, next_, "AT", unix_ms)) return false;
  ++next_;
  return true;
}

bool QuotaArgs::ReadPastInstant(int64_t& unix_ms) {
  if (!ReadInstant(unix_ms)) return false;
  unix_ms = std::min(unix_ms, now_ms_);
  return true;
}

bool QuotaArgs::EndsIds(size_t place) const {
  return place >= args_.size() || IsWord(args_[place], "actions") || IsWord(args_[place], "at");
}

bool QuotaArgs::ReadIds(std::string_view name, Ids& ids) {
  const size_t first = next_;
  do {
    if (!HasRoom(name, ids.size()) || !Read(name, ids.emplace_back())) return false;
  } while (!EndsIds(next_));
  if (ids.size() > 1 && ids.front().is_text() && EndsIds(first)) return Missing(name);
  return true;
}

bool QuotaArgs::ReadActionsToEnd(QuotaActions& actions) {
  if (!Take("actions")) return End();
  std::vector<QuotaId> listed;
  // A log has lists without actions (see quota_effects.h).
  while (!replaying() || !done()) {
    if (!HasRoom("action", listed.size()) || !Read("action", listed.emplace_back())) return false;
    // As in a list of other ids, an id may be spelt so only if it is the only one.
    const bool again = At("actions") || (!done() && IsWord(args_[next_ - 1], "actions"));
    if (again) return WrongSyntax("ACTIONS is given twice");
    if (done()) break;
  }
  actions = QuotaActions(std::move(listed));
  return true;
}

bool QuotaArgs::End() {
  if (done()) return true;
  if (const std::string error = options_.Error(); !error.empty()) return WrongSyntax(error);
  constexpr size_t kShown = 128;
  return WrongSyntax(StrCat("syntax error near '", args_[next_].substr(0, kShown), "'"));
}

}  // namespace tally::server
