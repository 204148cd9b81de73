#include "bench/quota_scale/server_process.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include "bench/quota_scale/connection.h"

namespace tally::bench {
namespace {

// A port that nobody listens on.
int FreePort() {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (descriptor < 0 || ::bind(descriptor, generic, size) != 0 ||
      ::getsockname(descriptor, generic, &size) != 0) {
    Die("cannot choose a port");
  }
  ::close(descriptor);
  return ntohs(address.sin_port);
}

std::string NewDirectory(const std::string& parent) {
  std::string path = parent + "/quota_scale.XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) Die("cannot make " + path);
  return path;
}

}  // namespace

ServerProcess::ServerProcess(std::string binary, const std::string& parent_directory)
    : binary_(std::move(binary)), directory_(NewDirectory(parent_directory)), port_(FreePort()) {}

ServerProcess::~ServerProcess() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

double ServerProcess::Start() {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const std::string port = std::to_string(port_);
  const std::string log = directory_ + "/tallyd.log";
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) Die("fork");
  if (pid_ == 0) {
    // The server must not outlive the benchmark, however that ends.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    ::execl(binary_.c_str(), "tallyd", "--port", port.c_str(), "--bind", "127.0.0.1", "--dir",
            directory_.c_str(), "--logfile", log.c_str(), "--appendonly", "yes", "--appendfsync",
            "everysec", "--auto-aof-rewrite-percentage", "0", nullptr);
    ::_exit(127);
  }
  while (true) {
    Connection probe(port_, /*may_fail=*/true);
    if (probe.connected() && probe.Call({"PING"}) == "+PONG\r\n") break;
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_) {
      pid_ = -1;
      Die("the server has not started: see its arguments");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void ServerProcess::Stop() {
  ::kill(pid_, SIGTERM);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

size_t ServerProcess::ResidentBytes() const {
  std::ifstream file("/proc/" + std::to_string(pid_) + "/statm");
  size_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

double ServerProcess::CpuSeconds() const {
  std::ifstream file("/proc/" + std::to_string(pid_) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace tally::bench
