// The form in which passwords are kept: as a hash, never as plain text.
#pragma once

#include <string>
#include <string_view>

namespace tally::server {

// Returns the SHA-256 in lower-case hexadecimal, 64 characters, as ACL shows passwords.
std::string PasswordHash(std::string_view password);

}  // namespace tally::server
