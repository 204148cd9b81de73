// DUMP and RESTORE: what one server has written the other reads.
#pragma once

#include <string>

#include "tests/differential/client.h"
#include "tests/differential/generator.h"

namespace tally::differential {

// A key of each server's is dumped, and restored on the other one. False, and a report, when they
// answer otherwise. The client is in no transaction. That the values are the same is seen later.
bool ExchangePayloads(Pair& pair, Generator& generator, std::string& report);

}  // namespace tally::differential
