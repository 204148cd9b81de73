// What a log says of the stream of effects where it begins, and where its id changes: which history
// this is, how many bytes came before, and which database is selected. So each place in a log is a
// place in the stream. It is written as a command, which Redis takes for one without effect.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "server/command/command.h"

namespace tally::server {

struct StreamNote {
  std::string id;
  uint64_t offset = 0;
  size_t database = 0;

  void AppendTo(std::string& out) const;
  // Whether the command is such a note, right or wrong.
  static bool Is(Args command);
  // nullopt if it is a wrong one.
  static std::optional<StreamNote> Read(Args command);
};

// The bytes of the command in a log, and in the stream.
uint64_t BytesOf(Args command);

}  // namespace tally::server
