// A row of the table of routes: the handler of a path, and who may use it.
#pragma once

#include <cstdint>
#include <string_view>

#include "server/http/http_message.h"

namespace tally::server {

enum class HttpAccess : uint8_t {
  kNoLogin,  // no user is asked for
  kUser,     // a user that is logged in, or the default user if that needs no password
};

struct Route {
  uint8_t methods;        // HttpMethod; kHttpGet allows HEAD too
  std::string_view path;  // still encoded; a '*' at the end matches any rest of a path
  HttpHandler handler;
  HttpAccess access = HttpAccess::kUser;
  // The user needs the right to run this command, such as "info" or "limit|take". Empty: no right
  // is checked here, because the commands that the handler runs are checked themselves.
  std::string_view command = {};
  // Whether a GET changes something. A request that changes something is refused if it comes from a
  // page of another site.
  bool get_changes = false;
};

}  // namespace tally::server
