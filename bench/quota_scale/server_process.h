// A tallyd of our own: a child process on a loopback port, with a directory of its own.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

namespace tally::bench {

class ServerProcess {
 public:
  // `binary` is the server's; its files go into a new directory under `parent_directory`.
  ServerProcess(std::string binary, const std::string& parent_directory);
  // Kills the server and removes its files.
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // Returns the seconds until it answers PING.
  double Start();
  // Asks it to end, and waits until it has.
  void Stop();

  int port() const { return port_; }
  size_t ResidentBytes() const;
  // User and system time since it was started.
  double CpuSeconds() const;

 private:
  std::string binary_;
  std::string directory_;
  int port_ = 0;
  pid_t pid_ = -1;
};

}  // namespace tally::bench
