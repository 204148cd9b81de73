// What values are saved in: runs, each of some elements, which can be loaded one by one.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace tally {

// Gets the runs of a value. They are valid during the call.
using RunSink = std::function<void(std::string_view run)>;

// A run is passed on when it has this many bytes. One element may make it larger.
inline constexpr size_t kRunBytes = size_t{64} << 10;

}  // namespace tally
