// Who a client is: passwords and the state that a connection begins with.
#pragma once

#include <string>
#include <string_view>

#include "server/config/config.h"
#include "server/state/client.h"

namespace tally::server {

inline constexpr std::string_view kDefaultUser = "default";
inline constexpr std::string_view kWrongPasswordError =
    "WRONGPASS invalid username-password pair or user is disabled.";

// SHA-256 in hexadecimal, as ACL shows passwords.
std::string PasswordHash(std::string_view password);

bool UserExists(const Config& config, std::string_view user);
// Whether the password is the user's; takes as long whatever part of it is right. A default user
// without a password has every password.
bool PasswordFits(const Config& config, std::string_view user, std::string_view password);

// Makes the client the user's if the password fits; otherwise nothing changes.
bool Login(const Config& config, Client& client, std::string_view user, std::string_view password);
// The user that a client is before it has said a word.
void LoginAsDefault(const Config& config, Client& client);

}  // namespace tally::server
