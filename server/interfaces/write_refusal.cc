#include "server/interfaces/write_refusal.h"

#include <string_view>

#include "core/bytes/str_cat.h"
#include "server/interfaces/persistence.h"

namespace tally::server {
namespace {

constexpr std::string_view kSnapshotError =
    "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to "
    "disk. Commands that may modify the data set are disabled, because this instance is configured "
    "to report errors during writes if RDB snapshotting fails (stop-writes-on-bgsave-error "
    "option). "
    "Please check the Redis logs for details about the RDB error.";

}  // namespace

std::string WriteRefusal(const Persistence& persistence) {
  if (persistence.accepts_writes()) return {};
  const absl::Status& error = persistence.write_error();
  if (error.ok()) return std::string(kSnapshotError);
  return StrCat("MISCONF Errors writing to the AOF file: ", std::string(error.message()));
}

}  // namespace tally::server
