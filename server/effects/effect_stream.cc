#include "server/effects/effect_stream.h"

#include <algorithm>
#include <utility>

#include "core/bytes/recycle.h"

namespace tally::server {
namespace {

// An empty buffer with more capacity than this is freed.
constexpr size_t kKeptBytes = size_t{1} << 20;

}  // namespace

void EffectStream::Attach(EffectSink& sink) {
  DeliverAll();
  sinks_.push_back(&sink);
  ForgetDatabase();
}

void EffectStream::Detach(EffectSink& sink) {
  DeliverAll();
  std::erase(sinks_, &sink);
}

void EffectStream::Append(size_t database, Words args) {
  if (word_sink_ != nullptr) return word_sink_->ReceiveWords(args);
  if (sinks_.empty() || abandoned_) return;
  const size_t size = pending_.size();
  if (database != database_) {
    const Int64Text index(static_cast<int64_t>(database));
    const std::string_view select[] = {"SELECT", index.view()};
    AppendRespCommand(pending_, select);
    database_ = database;
    selects_.push_back({pending_.size(), database});
  }
  AppendRespCommand(pending_, args);
  if (in_block_) block_bytes_ += pending_.size() - size;
}

void EffectStream::AppendReceived(std::string_view effects, size_t before, size_t after) {
  if (sinks_.empty()) return;
  selects_.push_back({pending_.size(), before});
  pending_.append(effects);
  if (after != before) selects_.push_back({pending_.size(), after});
  database_ = after;
}

void EffectStream::set_offset(uint64_t offset) {
  DeliverAll();
  delivered_ = offset;
  ForgetDatabase();
}

void EffectStream::DeliverAll() {
  DeliverUntil(pending_.size());
  block_bytes_ = 0;
}

void EffectStream::DeliverUntil(size_t end) {
  if (end == 0) return;
  const bool whole = end == pending_.size();
  // What was received from elsewhere begins in a database of its own.
  if (!selects_.empty() && selects_.front().position == 0) {
    jumps_ = std::exchange(before_, selects_.front().database) != before_;
  }
  for (EffectSink* sink : sinks_) {
    if (whole && sink == sinks_.back()) {
      sink->ReceiveAndTake(delivered_, pending_);
      pending_.clear();
    } else {
      sink->Receive(delivered_, std::string_view(pending_).substr(0, end));
    }
  }
  jumps_ = false;
  delivered_ += end;
  ForgetSelects(end);
  if (!whole) pending_.erase(0, end);
  // One large turn must not keep its memory for ever.
  if (pending_.empty()) Recycle(pending_, kKeptBytes);
}

void EffectStream::ForgetSelects(size_t end) {
  size_t passed = 0;
  while (passed < selects_.size() && selects_[passed].position <= end) {
    before_ = selects_[passed++].database;
  }
  selects_.erase(selects_.begin(), selects_.begin() + static_cast<ptrdiff_t>(passed));
  for (Select& select : selects_) select.position -= end;
}

void EffectStream::EndBlock() {
  in_block_ = false;
  abandoned_ = false;
  block_bytes_ = 0;
}

void EffectStream::AbandonBlock() {
  pending_.resize(pending_.size() - block_bytes_);
  while (!selects_.empty() && selects_.back().position > pending_.size()) selects_.pop_back();
  block_bytes_ = 0;
  abandoned_ = true;
  ForgetDatabase();
}

}  // namespace tally::server
