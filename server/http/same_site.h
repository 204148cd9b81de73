// Prevents pages of other sites from using this server through a user's browser.
//
// Host: an attacker can make a name of their own point to this server (DNS rebinding), so requests
// are answered only for addresses, "localhost" and the names in `http-hosts`. Origin and
// Sec-Fetch-Site: in these headers a browser says which page sends the request.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "server/http/http_message.h"

namespace tally::server {

// Whether this server answers requests for the host `authority`, which is "name", "name:port" or
// "[address]:port". `names` is http-hosts, without ports.
bool IsOurHost(std::string_view authority, std::span<const std::string> names);

// Whether the request comes from a page of another site.
bool IsFromAnotherSite(const HttpRequest& request);

}  // namespace tally::server
