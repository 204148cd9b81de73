// Keeps the pages of other sites from driving this server through somebody's browser.
//
// Host: a name that an attacker owns may be made to lead here (DNS rebinding), so that only
// addresses, "localhost" and the names of `http-hosts` are answered. Origin and Sec-Fetch-Site: a
// browser says there which page asks.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "server/http/http_message.h"

namespace tally::server {

// Whether a request for this host, "name", "name:port" or "[address]:port", is meant for us.
// `names` are http-hosts, without ports.
bool IsOurHost(std::string_view authority, std::span<const std::string> names);

// Whether it comes from a page of another site.
bool IsFromAnotherSite(const HttpRequest& request);

}  // namespace tally::server
