// A row of the table of routes: what is served under a path, and who may have it.
#pragma once

#include <cstdint>
#include <string_view>

#include "server/http/http_message.h"

namespace tally::server {

enum class HttpAccess : uint8_t {
  kEverybody,  // no user is asked for
  kUser,       // a user that is logged in, or the default user if that needs no password
};

struct Route {
  uint8_t methods;        // HttpMethod; kHttpGet allows HEAD too
  std::string_view path;  // still encoded; one that ends with '*' is any path that begins so
  HttpHandler handler;
  HttpAccess access = HttpAccess::kUser;
  // The user needs the right to this command, "info" or "limit|take". Empty: no right is asked for
  // here; the handler runs commands that ask for theirs.
  std::string_view command = {};
  // Whether a GET changes something. What changes something is refused to the pages of other sites.
  bool get_changes = false;
};

}  // namespace tally::server
