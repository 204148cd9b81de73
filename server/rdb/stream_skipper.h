// Goes over a stream (XADD), which has no type here. Nothing in it says how long it is, so all of
// its parts are read.
#pragma once

#include <cstdint>

#include "server/rdb/rdb_input.h"

namespace tally::rdb {

// `code` is one of the codes of streams.
void SkipStream(RdbInput& input, uint8_t code);

}  // namespace tally::rdb
