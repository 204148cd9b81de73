// tallyd --check-aof DIR [--fix]: examines a stopped server's append-only file and says for each
// part what it holds and at which offset it is first bad.
#pragma once

#include <string>

#include "server/aof/file_system.h"

namespace tally::server {

struct CheckAofResult {
  // kTorn: whole except for a torn tail, which --fix truncates (then kFixed) and which
  // aof-load-truncated permits. kDamaged: the server will not start from it, or it could not be
  // examined.
  enum class Verdict { kWhole, kTorn, kFixed, kDamaged };
  Verdict verdict = Verdict::kWhole;
  std::string report;  // lines of text for the operator
};

// `path` is the server's `dir`, the directory of the append-only file, or its manifest. With `fix`
// the directory is locked meanwhile, so the server must not be running.
CheckAofResult CheckAof(FileSystem& files, const std::string& path, bool fix);

}  // namespace tally::server
