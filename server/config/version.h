// The versions that the server reports about itself.
#pragma once

#include <string_view>

namespace tally::server {

inline constexpr std::string_view kTallydVersion = TALLYD_VERSION;
// The version of Redis that clients are told, because some choose their commands by it.
inline constexpr std::string_view kRedisVersion = "7.0.15";

}  // namespace tally::server
