#include "server/durability/stream_note.h"

#include "core/bytes/number.h"
#include "core/bytes/str_cat.h"
#include "server/effects/effect_stream.h"
#include "server/effects/stream_id.h"

namespace tally::server {
namespace {

constexpr std::string_view kCommand = "REPLCONF";
constexpr std::string_view kWord = "STREAM";

// Of "*3\r\n" or "$3\r\n".
uint64_t HeadBytes(size_t number) {
  uint64_t digits = 1;
  for (; number >= 10; number /= 10) ++digits;
  return digits + 3;
}

}  // namespace

void StreamNote::AppendTo(std::string& out) const {
  const std::string at = StrCat(offset);
  const std::string selected = StrCat(database);
  const std::string_view words[] = {kCommand, kWord, id, at, selected};
  AppendRespCommand(out, words);
}

bool StreamNote::Is(Args command) {
  return command.size() > 1 && command[0] == kCommand && command[1] == kWord;
}

std::optional<StreamNote> StreamNote::Read(Args command) {
  if (command.size() != 5 || !StreamId::IsId(command[2])) return std::nullopt;
  const auto offset = ParseInt64(command[3]);
  const auto database = ParseInt64(command[4]);
  if (!offset || *offset < 0 || !database || *database < 0) return std::nullopt;
  return StreamNote{std::string(command[2]), static_cast<uint64_t>(*offset),
                    static_cast<size_t>(*database)};
}

uint64_t BytesOf(Args command) {
  uint64_t bytes = HeadBytes(command.size());
  for (const std::string_view word : command) bytes += HeadBytes(word.size()) + word.size() + 2;
  return bytes;
}

}  // namespace tally::server
