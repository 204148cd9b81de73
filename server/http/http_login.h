// Says which user a request comes from, by its Authorization header:
//
//     Basic base64(user:password)     a user of ACL
//     Bearer user:password            the same
//     Bearer password                 the default user
//
// A request without the header comes from the default user, if that user needs no password. Each
// request is checked on its own. The last header that was accepted is kept, so that a connection
// which repeats it checks the password only once. When the ACL users change, it is checked again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/interfaces/services.h"
#include "server/state/client.h"

namespace tally::server {

class HttpLogin {
 public:
  // Logs the client in as the user of a request's Authorization header; empty: it has none. Returns
  // false, and leaves the client unauthenticated, if the user or password is wrong (ACL LOG records
  // this), if the header is malformed, or if there is no header and the default user needs a
  // password.
  bool Login(const Services& server, Client& client, std::string_view header);
  // Whether the users have changed since the last login.
  bool outdated(const Services& server) const;
  // Repeats the last login.
  bool Renew(const Services& server, Client& client);

 private:
  std::string accepted_;  // the header that was last checked; empty: there was none
  uint64_t version_ = 0;  // version of the users at that check
};

}  // namespace tally::server
