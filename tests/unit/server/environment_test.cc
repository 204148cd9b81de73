// A password of the environment, alone and beside others.
#include "server/config/environment.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/bytes/str_cat.h"
#include "server/config/config_file.h"

namespace tally::server::environment_test {
namespace {

// The variables as long as it lives, and a configuration file.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    ::setenv(name_, value.c_str(), 1);
  }
  ~Environment() {
    ::unsetenv(name_);
    std::filesystem::remove(path_);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  // The password that a start has, or why there is none.
  std::string Start(const std::string& file, std::vector<DirectiveWords> directives = {}) const {
    std::ofstream(path_) << file;
    CommandLine line;
    line.config_path = path_.string();
    line.directives = std::move(directives);
    if (const absl::Status status = AddEnvironment(line); !status.ok()) {
      return StrCat("refused: ", std::string(status.message()));
    }
    const auto loaded = LoadConfig(line);
    return loaded.ok() ? loaded->config.requirepass
                       : StrCat("refused: ", std::string(loaded.status().message()));
  }

 private:
  const char* name_;
  const std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / StrCat("tallyd-environment-", ::getpid(), ".conf");
};

TEST_CASE("environment: its password is that of the server, whatever else the file says") {
  const Environment environment("TALLYD_PASSWORD", "secret");
  CHECK(environment.Start("") == "secret");
  CHECK(environment.Start("port 7000\n") == "secret");
  CHECK(environment.Start("requirepass secret\n") == "secret");
  CHECK(environment.Start("requirepass secret\n", {{"requirepass", "secret"}}) == "secret");
}

TEST_CASE(
    "environment: another password beside it is refused, in the file as on the command line") {
  const Environment environment("TALLYD_PASSWORD", "secret");
  CHECK(environment.Start("requirepass other\n").starts_with("refused: requirepass in the conf"));
  CHECK(environment.Start("requirepass a\nnonsense 1\n").find("nonsense") != std::string::npos);
  CHECK(environment.Start("", {{"requirepass", "other"}}).starts_with("refused: --requirepass"));
  CHECK(environment.Start("", {{"REQUIREPASS", ""}}).starts_with("refused: --requirepass"));
}

TEST_CASE("environment: an empty password, and one in a file that is not there") {
  CHECK(Environment("TALLYD_PASSWORD", "").Start("").starts_with("refused: TALLYD_PASSWORD is"));
  CHECK(Environment("TALLYD_PASSWORD_FILE", "/nonexistent/file").Start("").starts_with("refused"));
}

}  // namespace
}  // namespace tally::server::environment_test
