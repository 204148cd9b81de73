#include "server/net/descriptors.h"

#include <sys/resource.h>

#include <algorithm>

#include "core/bytes/str_cat.h"

namespace tally::server {
namespace {

// How many descriptors are not for clients. Half of them are open before the first client comes and
// have the lowest numbers; the other half are the highest numbers, for files that are opened later.
constexpr int64_t kReserved = 32;

int64_t DescriptorLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > INT64_MAX) return INT64_MAX;
  return static_cast<int64_t>(limit.rlim_cur);
}

// Raises the limit as far as the process is allowed to. Returns the limit that then holds.
int64_t RaiseDescriptorLimit(int64_t clients) {
  const auto needed = static_cast<rlim_t>(clients + kReserved);
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < needed) {
    const rlim_t allowed = limit.rlim_max;
    limit = {needed, std::max(allowed, needed)};
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) {
      limit = {std::min(allowed, needed), allowed};
      static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
    }
  }
  return DescriptorLimit();
}

}  // namespace

absl::Status LimitClients(Config& config, const Logger& log) {
  const int64_t limit = RaiseDescriptorLimit(config.maxclients);
  const int64_t needed = config.maxclients + kReserved;
  if (limit >= needed) return absl::OkStatus();
  if (limit <= kReserved) {
    return absl::ResourceExhaustedError(
        StrCat("Your current 'ulimit -n' of ", limit,
               " is not enough for the server to start. Please increase your open file limit to at "
               "least ",
               needed, "."));
  }
  log.Warning("You requested maxclients of ", config.maxclients, " requiring at least ", needed,
              " max file descriptors.");
  config.maxclients = limit - kReserved;
  log.Warning("Current maximum open files is ", limit, ". maxclients has been reduced to ",
              config.maxclients,
              " to compensate for low ulimit. If you need higher maxclients increase 'ulimit -n'.");
  return absl::OkStatus();
}

absl::Status MakeRoomForClients(int64_t clients) {
  const int64_t most = RaiseDescriptorLimit(clients) - kReserved;
  if (clients <= most) return absl::OkStatus();
  return absl::ResourceExhaustedError(StrCat(
      "The operating system is not able to handle the specified number of clients, try with ",
      most));
}

bool IsReserved(int socket) { return socket >= DescriptorLimit() - kReserved / 2; }

}  // namespace tally::server
