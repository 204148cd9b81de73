#include "server/commands/quota_writer.h"

namespace tally::server {

bool QuotaWriter::Open() {
  if (!context_.Write(args_.book(), book_)) return false;
  if (book_ == nullptr) {
    new_book_ = std::make_unique<QuotaBook>(context_.engine().seed());
    book_ = new_book_.get();
  }
  const int64_t retention_ms = args_.retention().value_or(book_->min_retention_ms());
  retention_changed_ = retention_ms != book_->min_retention_ms();
  if (retention_changed_) book_->SetMinRetention(retention_ms, args_.now());
  return true;
}

void QuotaWriter::Close(bool changed, std::string_view event) {
  if (new_book_ != nullptr) {
    if (!changed || book_->Empty()) return;
    context_.keyspace().SetHeap(args_.book(), new_book_.release(), kNoDeadline, context_.now);
  }
  if (!changed) {
    if (retention_changed_) args_.Log(true);
    return;
  }
  context_.Changed(kEventModule, event, args_.book());
  if (!book_->Empty()) return args_.Log(retention_changed_);
  context_.RemoveEmpty(args_.book());
  context_.LogInstead({"DEL", args_.book()});
}

}  // namespace tally::server
