#include "server/process/program.h"

#include <absl/functional/function_ref.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/str_cat.h"
#include "server/acl/acl_file.h"
#include "server/admin/families.h"
#include "server/aof/backup.h"
#include "server/aof/check_aof.h"
#include "server/config/config_file.h"
#include "server/config/environment.h"
#include "server/config/renamed_commands.h"
#include "server/config/setting_conflicts.h"
#include "server/durability/move_options.h"
#include "server/memory/memory_usage.h"
#include "server/net/descriptors.h"
#include "server/net/tls/tls_context.h"
#include "server/process/out_of_memory.h"
#include "server/process/ping.h"
#include "server/process/server.h"
#include "server/process/signals.h"
#include "server/process/supervisor.h"

namespace tally::server {
namespace {

constexpr char kUsage[] =
    "Usage: tallyd [conf] [--directive value ...]\n"
    "       tallyd --check-config [conf] [--directive value ...]\n"
    "       tallyd --ping [conf] [--directive value ...]\n"
    "       tallyd --import FILE|DIR [conf] [--directive value ...]\n"
    "       tallyd --export FILE [--version 10] [conf] [--directive value ...]\n"
    "       tallyd --check-aof DIR [--fix]\n"
    "       tallyd --backup DIR TO\n"
    "       tallyd --help | --version\n"
    "\n"
    "conf is a file in redis.conf's syntax, or - for standard input. Directives on the\n"
    "command line come after those of the file:\n"
    "       tallyd conf/tallyd.conf --port 7777 --dir /var/lib/tallyd\n"
    "--export writes the data of a server that is stopped as an RDB for Redis and Valkey.\n"
    "A redis.conf of Redis 7.0 or later may be given: it says what has no effect here.\n"
    "In Redis's own dir tallyd starts with Redis's data. What has no type here stops that:\n"
    "       --skip-unknown      leaves it out\n"
    "       --drop-field-ttl    keeps fields of hashes without their deadlines\n";

std::string TextOf(const absl::Status& status) { return std::string(status.message()); }

// Prints each line of the reason as a message. Returns the exit code.
int Fail(std::string_view reason) {
  while (!reason.empty()) {
    const std::string_view line = reason.substr(0, reason.find('\n'));
    std::fprintf(stderr, "tallyd: %.*s\n", static_cast<int>(line.size()), line.data());
    reason.remove_prefix(std::min(line.size() + 1, reason.size()));
  }
  return 1;
}

int CheckFiles(const std::vector<std::string>& arguments) {
  const bool fix = arguments.size() == 3 && arguments[2] == "--fix";
  if (arguments.size() < 2 || (arguments.size() == 3 && !fix) || arguments.size() > 3) {
    return Fail("--check-aof takes a directory, and --fix after it");
  }
  PosixFileSystem files;
  const auto result = CheckAof(files, arguments[1], fix);
  std::fputs(result.report.c_str(), stdout);
  using Verdict = CheckAofResult::Verdict;
  return result.verdict == Verdict::kWhole || result.verdict == Verdict::kFixed ? 0 : 1;
}

int BackUpFiles(const std::vector<std::string>& arguments) {
  if (arguments.size() != 3) return Fail("--backup takes a server's dir, and an empty directory");
  // What is in the copy is its owner's alone, whatever the owner's shell says.
  ::umask(077);
  PosixFileSystem files;
  const auto report = Backup(files, arguments[1], arguments[2]);
  if (!report.ok()) return Fail(StrCat("the backup failed: ", TextOf(report.status())));
  return std::fputs(report->c_str(), stdout) < 0;
}

// Call before any other path is used: relative paths are relative to `dir`.
absl::Status EnterDirectory(const Config& config) {
  if (::chdir(config.dir.c_str()) == 0) return absl::OkStatus();
  return absl::UnavailableError(
      StrCat("cannot enter dir ", config.dir, ": ", std::strerror(errno)));
}

// What only the table of commands can tell: whether renames and users name commands that exist.
absl::Status CheckCommandNames(const Config& config) {
  CommandTable commands(CommandFamilies(config.scripting));
  const absl::Status renamed = RenameCommands(config, commands);
  if (!renamed.ok()) return renamed;
  AclUsers users(commands, config);
  return LoadUsers(config, users);
}

int CheckConfig(const LoadedConfig& loaded) {
  // What is checked here may be for another machine: only relative paths need `dir`.
  EnterDirectory(loaded.config).IgnoreError();
  const absl::Status status = CheckTls(loaded.config);
  if (!status.ok()) return Fail(TextOf(status));
  const absl::Status names = CheckCommandNames(loaded.config);
  if (!names.ok()) return Fail(TextOf(names));
  for (const std::string& warning : loaded.warnings) std::puts(warning.c_str());
  for (const std::string& conflict : SettingConflicts(loaded.config)) {
    std::puts(conflict.c_str());
  }
  return std::puts("The configuration is valid.") < 0;
}

int PingServer(const Config& config) {
  const absl::Status status = EnterDirectory(config);
  if (!status.ok()) return Fail(TextOf(status));
  const auto reply = Ping(config);
  if (!reply.ok()) return Fail(TextOf(reply.status()));
  return std::puts(reply->c_str()) < 0;
}

// Under systemd the process stays in the foreground whatever `daemonize` says, as redis-server
// does.
absl::Status GoToBackground(const Config& config, const Supervisor& supervisor) {
  return config.daemonize && !supervisor.present() ? Daemonize() : absl::OkStatus();
}

bool IsLoopback(std::string_view address) {
  if (address.starts_with('-')) address.remove_prefix(1);
  return address.starts_with("127.") || address == "::1";
}

// Whether clients of other machines will be refused. The log warns of that, because otherwise a
// user who starts the server in a container would learn it only from the refused clients.
bool RefusesOtherMachines(const Config& config) {
  const bool is_open = config.requirepass.empty() && config.users.empty() && config.aclfile.empty();
  return config.protected_mode && is_open &&
         !std::all_of(config.bind.begin(), config.bind.end(), IsLoopback);
}

void WarnOfSettings(const LoadedConfig& loaded, const Supervisor& supervisor, const Logger& log) {
  const Config& config = loaded.config;
  for (const std::string& warning : loaded.warnings) log.Warning(warning);
  if (config.supervised == Supervision::kSystemd && !supervisor.present()) {
    log.Warning("supervised systemd: there is no NOTIFY_SOCKET, so nobody is notified");
  }
  if (RefusesOtherMachines(config)) {
    log.Warning(
        "Clients of other machines, and of other containers, are refused: nobody needs a password. "
        "Set requirepass, or TALLYD_PASSWORD or TALLYD_PASSWORD_FILE in the environment.");
  }
  for (const std::string& conflict : SettingConflicts(config)) log.Warning(conflict);
}

// A pid file that cannot be written is no reason to stop.
void WritePidFile(const std::string& path, const Logger& log) {
  if (path.empty()) return;
  // Without waiting: the path may be a FIFO that nobody reads.
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK;
  const int descriptor = ::open(path.c_str(), kFlags, 0644);
  if (descriptor < 0 || ::dprintf(descriptor, "%d\n", ::getpid()) < 0) {
    log.Warning("Failed to write the pidfile ", path, ": ", std::strerror(errno));
  }
  if (descriptor >= 0) ::close(descriptor);
}

MoveOptions MoveOptionsOf(const CommandLine& line) {
  return {.skip_unknown = line.skip_unknown,
          .drop_field_deadlines = line.drop_field_ttl,
          .import_path = line.import_path.value_or("")};
}

// Lets a server without clients do its `work` with a file, and end. The path is relative to where
// the command was given, not to `dir`.
int MoveData(LoadedConfig& loaded, std::string_view work, const std::string& path,
             absl::FunctionRef<absl::Status(Server&, const std::string& path)> move) {
  std::error_code error;
  const std::string absolute = std::filesystem::absolute(path, error).string();
  if (error) return Fail(StrCat("cannot find ", path, ": ", error.message()));
  if (const absl::Status status = EnterDirectory(loaded.config); !status.ok()) {
    return Fail(TextOf(status));
  }
  auto log = Logger::Open("", loaded.config.loglevel);
  if (!log.ok()) return Fail(TextOf(log.status()));
  auto supervisor = Supervisor::FromEnvironment(Supervision::kNo);
  Server server(loaded.config, **log, supervisor, loaded.path);
  if (const absl::Status status = move(server, absolute); !status.ok()) {
    return Fail(StrCat("the ", work, " failed: ", TextOf(status)));
  }
  (*log)->Notice("The ", work, " is done: ", absolute, ", dir ", loaded.config.dir);
  return 0;
}

int Import(LoadedConfig& loaded, MoveOptions options) {
  return MoveData(loaded, "import", options.import_path,
                  [&](Server& server, const std::string& path) {
                    options.import_path = path;
                    return server.Import(options);
                  });
}

int Export(LoadedConfig& loaded, const std::string& export_path) {
  return MoveData(loaded, "export", export_path,
                  [](Server& server, const std::string& path) { return server.Export(path); });
}

int Serve(LoadedConfig& loaded, const MoveOptions& options) {
  Config& config = loaded.config;
  if (const absl::Status status = EnterDirectory(config); !status.ok()) {
    return Fail(TextOf(status));
  }
  BlockSignals();
  auto log = Logger::Open(config.logfile, config.loglevel);
  if (!log.ok()) return Fail(TextOf(log.status()));
  EndWhenOutOfMemory(**log);
  auto supervisor = Supervisor::FromEnvironment(config.supervised);
  if (const absl::Status status = GoToBackground(config, supervisor); !status.ok()) {
    return Fail(TextOf(status));
  }
  if (const absl::Status status = LimitClients(config, **log); !status.ok()) {
    (*log)->Warning("Cannot start: ", TextOf(status));
    return 1;
  }
  PurgeInBackground(kPurgeWhileLoading);
  (*log)->Notice("tallyd ", TALLYD_VERSION, " starting, pid ", ::getpid());
  WarnOfSettings(loaded, supervisor, **log);
  Server server(config, **log, supervisor, loaded.path);
  if (const absl::Status status = server.Start(options); !status.ok()) {
    (*log)->Warning("Cannot start: ", TextOf(status));
    return 1;
  }
  WritePidFile(config.pidfile, **log);
  for (const std::string& address : server.addresses()) (*log)->Notice("Listening on ", address);
  const int code = server.Run();
  if (!config.pidfile.empty()) ::unlink(config.pidfile.c_str());
  return code;
}

}  // namespace

int RunProgram(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments[0] == "--check-aof") return CheckFiles(arguments);
  if (!arguments.empty() && arguments[0] == "--backup") return BackUpFiles(arguments);
  auto line = ParseCommandLine(arguments);
  if (!line.ok()) return Fail(TextOf(line.status()));
  if (line->action == CommandLine::Action::kHelp) return std::fputs(kUsage, stdout) < 0;
  if (line->action == CommandLine::Action::kVersion) {
    return std::printf("tallyd %s\n", TALLYD_VERSION) < 0;
  }
  const absl::Status environment = AddEnvironment(*line);
  if (!environment.ok()) return Fail(TextOf(environment));
  auto loaded = LoadConfig(*line);
  if (!loaded.ok()) return Fail(TextOf(loaded.status()));
  if (line->action == CommandLine::Action::kCheckConfig) return CheckConfig(*loaded);
  if (line->action == CommandLine::Action::kPing) return PingServer(loaded->config);
  if (line->action == CommandLine::Action::kImport) return Import(*loaded, MoveOptionsOf(*line));
  if (line->action == CommandLine::Action::kExport) return Export(*loaded, *line->export_path);
  return Serve(*loaded, MoveOptionsOf(*line));
}

}  // namespace tally::server
