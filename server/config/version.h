// What the server says it is.
#pragma once

#include <string_view>

namespace tally::server {

inline constexpr std::string_view kTallydVersion = TALLYD_VERSION;
// The version whose replies are given, for clients that choose their commands by it.
inline constexpr std::string_view kRedisVersion = "7.0.15";

}  // namespace tally::server
