// Says which user a request comes from, by its Authorization header:
//
//     Basic base64(user:password)     a user of ACL
//     Bearer user:password            the same
//     Bearer password                 the default user
//
// Without the header it is the default user, if that needs no password. Each request is judged by
// itself. What was last found right is kept, so that the requests of one connection cost one look
// at the passwords; when the users change it is judged again.
#pragma once

#include <cstdint>
#include <string>

#include "server/http/http_message.h"
#include "server/state/client.h"
#include "server/state/services.h"

namespace tally::server {

class HttpLogin {
 public:
  // Makes the client the user of the request. False if there is none: the password is wrong, and
  // ACL LOG says so, or one is needed.
  bool Login(Services& server, Client& client, const HttpRequest& request);

 private:
  std::string accepted_;  // the header that made the client what it is; empty: there was none
  uint64_t version_ = 0;  // of the users, then
};

}  // namespace tally::server
