// Arguments of the QUOTA commands.
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/number.h"
#include "core/engine/quota_books.h"
#include "core/words/option_words.h"
#include "server/command/command_context.h"

namespace tally::server {

// The most SKUs, users, actions, limits or lines of an order in one call, so that no call stalls
// the loop.
inline constexpr size_t kMaxQuotaEntries = 1000;

// Reads the arguments after the book's key from left to right. If an argument is missing, malformed
// or out of range, a reading function replies an error that names it and returns false.
class QuotaArgs {
 public:
  using Ids = absl::InlinedVector<QuotaId, 8>;

  explicit QuotaArgs(CommandContext& context);

  std::string_view book() const { return args_[1]; }
  // The instant (unix ms) at which the call is judged: the server's clock, or in a replay the
  // logged instant.
  int64_t now_ms() const { return now_ms_; }
  // Whether the call is read from a log.
  bool replaying() const { return context_.replaying; }
  // What QuotaBooks must know of a call that may change the book.
  QuotaBooks::WriteArgs write_args() const { return {book(), now_ms_, retention_ms_, lag_ms_}; }

  bool done() const { return next_ == args_.size(); }
  // Whether the next argument is this word, in any case; `word` must be in lower case.
  bool At(std::string_view word) const { return !done() && IsWord(args_[next_], word); }
  // Whether the next argument is the option HOLD rather than a sku of that name, which has an
  // integer as its third word.
  bool AtHold() const {
    return At("hold") && !(next_ + 2 < args_.size() && ParseInt64(args_[next_ + 2]));
  }
  // As At(); if true, also steps over the word.
  bool Take(std::string_view word);
  // The same for an option, which is taken only once; End() then replies that it is given twice.
  bool TakeOption(std::string_view word);
  // Sets `book` to the book that the call reads, null if it is absent. Returns false after replying
  // WRONGTYPE.
  [[nodiscard]] bool ReadBook(const QuotaBook*& book);

  // Each function reads the next argument; errors call it `name`.
  [[nodiscard]] bool Read(std::string_view name, QuotaId& id);
  [[nodiscard]] bool ReadCount(std::string_view name, int32_t low, int32_t& value);
  [[nodiscard]] bool ReadWindow(int64_t& window_ms);
  [[nodiscard]] bool ReadHold(int64_t& hold_ms);
  [[nodiscard]] bool ReadInstant(int64_t& unix_ms);
  // The same for an instant that is judged: after now it is now.
  [[nodiscard]] bool ReadPastInstant(int64_t& unix_ms);
  // Reads one or more ids, up to the end or to the word ACTIONS or AT. An id may be spelt like one
  // of these words only if it is the only id. A longer list that begins with such a word counts as
  // a list without ids, which is an error.
  [[nodiscard]] bool ReadIds(std::string_view name, Ids& ids);
  // Reads `[ACTIONS a …]` and expects the end after it.
  [[nodiscard]] bool ReadActionsToEnd(QuotaActions& actions);
  // Replies an error and returns false if there is an argument left.
  [[nodiscard]] bool End();
  // Whether a list of `count` entries may have one more; replies an error if not.
  [[nodiscard]] bool HasRoom(std::string_view name, size_t count);
  // Replies the error `name` followed by `what`. Always returns false.
  bool Fail(std::string_view name, std::string_view what);
  // Replies the error `what` with the command's usage. Always returns false.
  bool WrongSyntax(std::string_view what);
  bool Missing(std::string_view name);
  // Replies that what several of `name` have is too much for one call. Always returns false.
  bool TooMuch(std::string_view name);

  // Makes Log() use this name for the command.
  void LogAs(std::string_view name) { logged_name_ = name; }
  // Logs the call as quota_effects.h describes. `with_retention` says whether the call has changed
  // the retention of the book.
  void Log(bool with_retention);

 private:
  void TakeReplayWords();
  bool EndsIds(size_t place) const;

  CommandContext& context_;
  Args args_;  // without the words that only the log has
  size_t next_ = 2;
  std::string_view logged_name_;  // empty: the command's own
  int64_t now_ms_;
  int64_t lag_ms_;
  OptionWords options_;
  std::optional<int64_t> retention_ms_;  // if nothing, the book keeps its own
};

}  // namespace tally::server
