// What is freed of large users (large_user.h): what is out of retention, oldest chunks first. Lives
// for one call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/quota/book_data.h"
#include "core/quota/large_store.h"

namespace tally {

class LargeExpiry {
 public:
  explicit LargeExpiry(BookData& book) : book_(book), store_(book) {}

  // Frees what is out of retention in the chunks that are due first, after a change of the user. If
  // little is left, the user is not large any more, and `user` is gone. Returns whether anything
  // has changed.
  bool Expire(std::string_view key, LargeUser& user, int64_t now_ms);
  // Frees what is out of retention in chunks that hold lines of the order. If its id comes again,
  // it is another order, whose returns are not those of the first.
  void DropOrder(std::string_view key, LargeUser& user, const QuotaId& order,
                 const Retention::Moment& at);
  // Stores the user as the others are.
  void Pack(std::string_view large_key);
  // Expires one user after the other. Returns false when the round is complete.
  bool Sweep(int64_t now_ms, size_t& budget, QuotaExpired* expired);

 private:
  static constexpr size_t kChunksAtOnce = 2;

  // Frees what the growths of the retention have left, which no clock brings back.
  void Settle(std::string_view key, LargeUser& user);
  void DropFromChunk(std::string_view key, LargeUser& user, uint32_t number,
                     const Retention::Moment& at);

  BookData& book_;
  LargeStore store_;
};

}  // namespace tally
