// Whole HTTP sessions without sockets and files: any bytes, cut anywhere. What comes back must be
// whole responses and nothing else, the session must hold no more than the limits of a request, and
// a stranger must change nothing.
//
// The first two bytes of the input choose the password, the size of a body and where to cut; the
// rest is sent.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/base/check.h"
#include "core/engine/engine.h"
#include "core/tzdata/tzdata_zones.h"
#include "server/admin/families.h"
#include "server/dispatch/dispatcher.h"
#include "server/http/http_limits.h"
#include "server/http/http_session.h"
#include "server/process/server_state.h"
#include "server/replication/replica_links.h"
#include "server/web/routes.h"
#include "tests/fuzz/no_files.h"
#include "tests/no_primary.h"
#include "tests/unit/server/no_migrations.h"

namespace {

using tally::Check;
using tally::Engine;
using tally::fuzz::kNow;
using tally::fuzz::NoFiles;
using tally::fuzz::NoProcess;
using namespace tally::server;

constexpr size_t kPrologue = 2;
// A password that no input guesses.
constexpr std::string_view kUnknown = "9c1e7a52d0b34f68a7e1c5d2f09b6384";
constexpr size_t kMaxBody = 4096;
// Beside the limits of one request: what a string takes more than it holds, and one read.
constexpr size_t kMostHeld = 2 * (kMaxHttpHead + kMaxBody) + 8192;
constexpr int kTurns = 64;

// Without scripts, which the sessions of RESP are fuzzed with.
const CommandTable& Commands() {
  static const CommandTable table{CommandFamilies(false)};
  return table;
}

class World : private EffectSink {
 public:
  explicit World(const Config& config)
      : config_(config),
        engine_(static_cast<size_t>(config.databases), 42, zones_),
        log_(Logger::Open("/dev/null", LogLevel::kWarning).value()),
        state(Commands(), engine_, config_, *log_),
        dispatcher_(state.services) {
    state.clock.Set(kNow);
    state.services.persistence.Fill(files_);
    state.services.process.Fill(process_);
    state.effects.Attach(*this);
  }

  std::string effects;

 private:
  void Receive(uint64_t, std::string_view received) override { effects += received; }

  Config config_;
  tally::TzdataZones zones_;
  Engine engine_;
  std::unique_ptr<Logger> log_;
  NoFiles files_;
  NoProcess process_;

 public:
  ServerState state;

 private:
  Dispatcher dispatcher_;
  NoPrimary primary_{state.services};
  tally::test::NoMigrations migrations_{state.services};
  ReplicaLinks replicas_{state.services, [] { return std::string(StreamId::kDigits, 'e'); }};
};

// Some responses never have a body: 204, 304, and that of a HEAD of the events, which have no end.
bool HasNoBody(std::string_view head) {
  return head.starts_with("HTTP/1.1 204 ") || head.starts_with("HTTP/1.1 304 ") ||
         head.find("\r\nContent-Type: text/event-stream\r\n") != std::string_view::npos;
}

size_t LengthOf(std::string_view head) {
  constexpr std::string_view kName = "\r\nContent-Length: ";
  const size_t at = head.find(kName);
  Check((at == std::string_view::npos) == HasNoBody(head), "a response with a body has a length");
  return HasNoBody(head) ? 0 : std::stoul(std::string(head.substr(at + kName.size(), 12)));
}

// A client's view of the wire: takes one response off the front.
void TakeResponse(std::string_view& rest) {
  const size_t end = rest.find("\r\n\r\n");
  Check(rest.starts_with("HTTP/1.1 ") && end != std::string_view::npos, "a response begins");
  const std::string_view head = rest.substr(0, end + 2);
  rest.remove_prefix(end + 4);
  if (head.starts_with("HTTP/1.1 100 ")) return;
  const size_t size = LengthOf(head);
  // That of a HEAD has no body.
  const bool bodiless = rest.size() < size || rest.substr(0, 9) == "HTTP/1.1 ";
  if (bodiless) return;
  const bool json = head.find("Content-Type: application/json") != std::string_view::npos;
  Check(!json || nlohmann::json::accept(rest.substr(0, size)), "what is called JSON is JSON");
  rest.remove_prefix(size);
}

void CheckResponses(HttpSession& session) {
  const std::string joined = session.client().output.Joined();
  session.client().output.Clear();
  if (session.client().takes_events) return;
  std::string_view rest = joined;
  while (!rest.empty()) TakeResponse(rest);
}

void MakeConversation(World& world, HttpSite& site, std::string_view stream, size_t longest) {
  HttpSession session(world.state.services, site);
  size_t seed = longest;
  while (!stream.empty() && !session.finished()) {
    seed = seed * 1664525 + 1013904223;
    const size_t size = std::min(stream.size(), 1 + (seed >> 16) % longest);
    const std::string piece(stream.substr(0, size));
    session.Take(piece);
    session.Run();
    stream.remove_prefix(size);
    for (int turn = 0; turn < kTurns && session.client().state.requests.has_backlog(); ++turn) {
      CheckResponses(session);
      session.Run();
    }
    CheckResponses(session);
    Check(session.buffered() <= kMostHeld + longest, "a request takes little memory");
    Check(!session.CheckDeadlines(), "nobody was silent");
    if (session.client().state.command.postponed()) return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < kPrologue) return 0;
  Config config;
  constexpr std::string_view kPasswords[] = {"", "secret", kUnknown};
  config.requirepass = kPasswords[data[0] % std::size(kPasswords)];
  config.databases = 2;
  config.http_max_body = kMaxBody;
  const std::string_view stream(reinterpret_cast<const char*>(data) + kPrologue, size - kPrologue);
  World world(config);
  world.state.clock.SetSteady(1);
  HttpSite site(Routes(), world.state.clients);
  MakeConversation(world, site, stream, size_t{1} << data[1] % 12);
  Check(config.requirepass != kUnknown || world.effects.empty(), "a stranger changes nothing");
  return 0;
}
