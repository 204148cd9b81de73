// How passwords are kept.
#pragma once

#include <string>
#include <string_view>

namespace tally::server {

// SHA-256 in hexadecimal, as ACL shows passwords.
std::string PasswordHash(std::string_view password);

}  // namespace tally::server
