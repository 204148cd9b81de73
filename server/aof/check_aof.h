// tallyd --check-aof DIR [--fix]: examines a stopped server's append-only file and says, for each
// part, what it holds and where it is first bad.
#pragma once

#include <string>

#include "server/aof/file_system.h"

namespace tally::server {

struct CheckAofResult {
  // kTorn: whole but for a torn tail, which --fix truncates (kFixed) and aof-load-truncated
  // forgives. kDamaged: the server will not start from it.
  enum class Verdict { kWhole, kTorn, kFixed, kDamaged };
  Verdict verdict = Verdict::kWhole;
  std::string report;  // lines of text for the operator
};

// `path` is the server's `dir`, the directory of the append-only file, or its manifest. The server
// must not be running when `fix` is set: the directory is locked meanwhile.
CheckAofResult CheckAof(FileSystem& files, const std::string& path, bool fix);

}  // namespace tally::server
