#include "server/state/effect_log.h"

#include "core/bytes/number.h"

namespace tally::server {
namespace {

char* PutHeader(char* out, char type, size_t value) {
  *out++ = type;
  out = WriteInt64(out, static_cast<int64_t>(value));
  *out++ = '\r';
  *out++ = '\n';
  return out;
}

}  // namespace

void AppendRespCommand(std::string& out, Args args) {
  char header[kMaxInt64Chars + 3];
  out.append(header, static_cast<size_t>(PutHeader(header, '*', args.size()) - header));
  for (const std::string_view arg : args) {
    out.append(header, static_cast<size_t>(PutHeader(header, '$', arg.size()) - header));
    out.append(arg);
    out.append("\r\n", 2);
  }
}

void EffectLog::Append(size_t database, Args args) {
  if (buffer_ == nullptr || abandoned_) return;
  const size_t size = buffer_->size();
  if (database != database_) {
    const Int64Text index(static_cast<int64_t>(database));
    const std::string_view select[] = {"SELECT", index.view()};
    AppendRespCommand(*buffer_, select);
    database_ = database;
  }
  AppendRespCommand(*buffer_, args);
  if (in_block_) block_bytes_ += buffer_->size() - size;
}

void EffectLog::EndBlock() {
  in_block_ = false;
  abandoned_ = false;
  block_bytes_ = 0;
}

void EffectLog::AbandonBlock() {
  if (buffer_ != nullptr) buffer_->resize(buffer_->size() - block_bytes_);
  block_bytes_ = 0;
  abandoned_ = true;
  ForgetDatabase();
}

}  // namespace tally::server
