// A command as a client sends it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/resp/resp_command.h"

namespace tally::server {

inline std::string RequestText(const std::vector<std::string>& words) {
  std::string text;
  AppendRespCommand(text, std::vector<std::string_view>(words.begin(), words.end()));
  return text;
}

}  // namespace tally::server
