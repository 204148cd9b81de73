#include <cstdio>
#include <cstdlib>

#include "server/server.h"

int main(int argc, char** argv) {
  tally::server::Config config;
  if (argc == 3) config.port = std::atoi(argv[2]);
  auto log = tally::server::Logger::Open("", config.loglevel);
  tally::server::Server server(config, **log);
  if (const absl::Status status = server.Start(); !status.ok()) {
    std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
    return 1;
  }
  return server.Run();
}
