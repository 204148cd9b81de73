// Why writes are refused as the files cannot be written.
#pragma once

#include <string>

namespace tally::server {

class Persistence;
struct Config;

// Whether writes are allowed. Is asked for each write.
bool MayWrite(const Persistence& persistence, const Config& config);
// The error of a write while the log cannot be written or needed snapshots fail; empty if writes
// are allowed.
std::string WriteRefusal(const Persistence& persistence, const Config& config);

}  // namespace tally::server
