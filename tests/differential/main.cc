// The differential test's binary; tests/differential/run starts the servers for it.
//
//   differential stream   TALLYD_PORT REDIS_PORT COMMANDS SEED [MAX_DIFFERENCES]
//   differential keyspace TALLYD_PORT REDIS_PORT
//
// Exits with 0 when the servers agree, 1 when they differ, 2 when something else went wrong.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <string_view>
#include <vector>

#include "core/bytes/number.h"
#include "tests/differential/keyspace_diff.h"
#include "tests/differential/stream.h"

int main(int argc, char** argv) {
  using namespace tally::differential;
  std::vector<uint64_t> numbers;
  for (int i = 2; i < argc; ++i) {
    const auto number = tally::ParseInt64(argv[i]);
    if (!number || *number < 0) break;
    numbers.push_back(static_cast<uint64_t>(*number));
  }
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (mode == "keyspace" && argc == 4 && numbers.size() == 2) {
    return SameKeyspaces(static_cast<uint16_t>(numbers[0]), static_cast<uint16_t>(numbers[1])) ? 0
                                                                                               : 1;
  }
  if (mode != "stream" || argc < 6 || numbers.size() + 2 != static_cast<size_t>(argc)) {
    std::fprintf(stderr,
                 "usage: differential stream TALLYD_PORT REDIS_PORT COMMANDS SEED [MAX]\n"
                 "       differential keyspace TALLYD_PORT REDIS_PORT\n");
    return 2;
  }
  Options options;
  options.ports = {static_cast<uint16_t>(numbers[0]), static_cast<uint16_t>(numbers[1])};
  options.commands = numbers[2];
  options.seed = numbers[3];
  if (numbers.size() > 4) options.max_differences = numbers[4];
  Stream stream(options);
  try {
    return stream.Run() ? 0 : 1;
  } catch (const std::exception& failed) {
    std::printf("seed %llu: %s, after these commands:\n",
                static_cast<unsigned long long>(options.seed), failed.what());
    stream.ShowLast();
    return 2;
  }
}
