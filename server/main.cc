// The command line, and what comes before and after the server.
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "core/bytes/str_cat.h"
#include "server/aof/check_aof.h"
#include "server/config/config_file.h"
#include "server/descriptors.h"
#include "server/server.h"

namespace {

using tally::StrCat;
using tally::server::CommandLine;
using tally::server::Config;
using tally::server::LoadedConfig;
using tally::server::Logger;

constexpr char kUsage[] =
    "Usage: tallyd [conf] [--directive value ...]\n"
    "       tallyd --check-config [conf] [--directive value ...]\n"
    "       tallyd --check-aof DIR [--fix]\n"
    "       tallyd --help | --version\n"
    "\n"
    "conf is a file in redis.conf's syntax, or - for standard input. Directives on the\n"
    "command line come after those of the file:\n"
    "       tallyd conf/tallyd.conf --port 7777 --appendonly yes\n";

std::string TextOf(const absl::Status& status) { return std::string(status.message()); }

int Fail(const std::string& reason) {
  std::fprintf(stderr, "tallyd: %s\n", reason.c_str());
  return 1;
}

int CheckFiles(const std::vector<std::string>& arguments) {
  const bool fix = arguments.size() == 3 && arguments[2] == "--fix";
  if (arguments.size() < 2 || (arguments.size() == 3 && !fix) || arguments.size() > 3) {
    return Fail("--check-aof takes a directory, and --fix behind it");
  }
  tally::server::PosixFileSystem files;
  const auto result = tally::server::CheckAof(files, arguments[1], fix);
  std::fputs(result.report.c_str(), stdout);
  using Verdict = tally::server::CheckAofResult::Verdict;
  return result.verdict == Verdict::kWhole || result.verdict == Verdict::kFixed ? 0 : 1;
}

int Serve(LoadedConfig& loaded) {
  Config& config = loaded.config;
  auto log = Logger::Open(config.logfile, config.loglevel);
  if (!log.ok()) return Fail(TextOf(log.status()));
  if (::chdir(config.dir.c_str()) != 0) return Fail(StrCat("cannot enter dir ", config.dir));
  if (const absl::Status status = tally::server::LimitClients(config, **log); !status.ok()) {
    (*log)->Warning("Cannot start: ", TextOf(status));
    return 1;
  }
  (*log)->Notice("tallyd ", TALLYD_VERSION, " starting, pid ", ::getpid());
  tally::server::Server server(config, **log, loaded.path);
  if (const absl::Status status = server.Start(); !status.ok()) {
    (*log)->Warning("Cannot start: ", TextOf(status));
    return 1;
  }
  if (!config.pidfile.empty()) std::ofstream(config.pidfile) << ::getpid() << '\n';
  for (const std::string& address : server.addresses()) (*log)->Notice("Listening on ", address);
  const int code = server.Run();
  if (!config.pidfile.empty()) ::unlink(config.pidfile.c_str());
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (!arguments.empty() && arguments[0] == "--check-aof") return CheckFiles(arguments);
  const auto line = tally::server::ParseCommandLine(arguments);
  if (!line.ok()) return Fail(TextOf(line.status()));
  if (line->action == CommandLine::Action::kHelp) return std::fputs(kUsage, stdout) < 0;
  if (line->action == CommandLine::Action::kVersion) {
    return std::printf("tallyd %s\n", TALLYD_VERSION) < 0;
  }
  auto loaded = tally::server::LoadConfig(*line);
  if (!loaded.ok()) return Fail(TextOf(loaded.status()));
  if (line->action == CommandLine::Action::kCheckConfig) {
    return std::puts("The configuration is valid.") < 0;
  }
  return Serve(*loaded);
}
