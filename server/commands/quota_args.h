// Arguments of the QUOTA commands.
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/quota_books.h"
#include "server/command/command_context.h"

namespace tally::server {

// Of SKUs, users, actions, limits or lines of an order in one call: so that no call stalls the
// loop.
inline constexpr size_t kMaxQuotaEntries = 1000;

// Reads the arguments after the book's key from left to right. Whatever is missing, malformed or
// out of range is replied as an error that names it, and the reader returns false.
class QuotaArgs {
 public:
  using Ids = absl::InlinedVector<QuotaId, 8>;

  explicit QuotaArgs(CommandContext& context);

  std::string_view book() const { return args_[1]; }
  // What the call is judged at: the server's clock, or the logged instant in a replay.
  int64_t now() const { return now_; }
  // Whether the call is read from a log.
  bool replaying() const { return context_.replaying; }
  // What a call that may change the book says of it.
  QuotaBooks::Call call() const { return {book(), now_, retention_}; }

  bool done() const { return next_ == args_.size(); }
  // Whether the next argument is this word, given in lower case, in any case.
  bool At(std::string_view word) const { return !done() && IsWord(args_[next_], word); }
  // As At(), and steps over it.
  bool Take(std::string_view word);

  // `name` is what an error calls the argument.
  [[nodiscard]] bool Read(std::string_view name, QuotaId& id);
  [[nodiscard]] bool ReadCount(std::string_view name, int32_t low, int32_t& value);
  [[nodiscard]] bool ReadWindow(int64_t& window_ms);
  [[nodiscard]] bool ReadInstant(int64_t& unix_ms);
  // One or more, up to the end or an `ACTIONS` or `AT`. An id that reads like these can be given if
  // it is the only one; a list that begins with them and goes on is one without ids.
  [[nodiscard]] bool ReadIds(std::string_view name, Ids& ids);
  // `[ACTIONS a …]` and the end.
  [[nodiscard]] bool ReadActionsToEnd(QuotaActions& actions);
  // Replies an error if there is an argument left.
  [[nodiscard]] bool End();
  // Whether a list of `count` may have one more; if not, replies an error.
  [[nodiscard]] bool HasRoom(std::string_view name, size_t count);
  // Replies what is wrong with the argument. Always false.
  bool Fail(std::string_view name, std::string_view what);
  // Replies what is wrong, with the command's usage. Always false.
  bool WrongSyntax(std::string_view what);
  bool Missing(std::string_view name);

  // Logs the call under this name and, if there is one, with another option.
  void LogAs(std::string_view name, std::string_view option = {}) {
    logged_name_ = name;
    logged_option_ = option;
  }
  // The call as it is logged: see quota_effects.h. `with_retention` if it changed the book's.
  void Log(bool with_retention);

 private:
  void TakeReplayWords();
  bool EndsIds(size_t place) const;

  CommandContext& context_;
  Args args_;  // without the words that only the log has
  size_t next_ = 2;
  std::string_view logged_name_;    // empty: the command's own
  std::string_view logged_option_;  // empty: none
  int64_t now_;
  std::optional<int64_t> retention_;  // nothing to leave the book's as it is
};

}  // namespace tally::server
