// Reads what a request to /check asks for, from its path, its query and its fields.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/http/http_message.h"

namespace tally::server {

struct CheckArgs {
  struct Take {
    std::string policy;
    std::string key;
  };
  std::vector<Take> takes;
  std::string cost = "1";
  int deny = 429;
};

// Fills `args`, whose takes all have keys then. Returns an empty text, or the error; if that is
// that no policy is named, there are no takes. A key is in the query, or in the field X-Limit-Key
// (of the second policy X-Limit-Key-2, and so on), never in both. A field that no policy waits for
// is an error: a limit that its sender wanted would not be asked.
std::string_view ReadCheck(const HttpRequest& request, CheckArgs& args);

}  // namespace tally::server
