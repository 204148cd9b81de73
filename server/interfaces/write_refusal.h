// Why writes are refused as the files cannot be written.
#pragma once

#include <string>

namespace tally::server {

class Persistence;

// The error of a write while the log cannot be written or needed snapshots fail; empty if writes
// are allowed (Persistence::accepts_writes).
std::string WriteRefusal(const Persistence& persistence);

}  // namespace tally::server
