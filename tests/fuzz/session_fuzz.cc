// Whole sessions without sockets and files: any bytes, cut anywhere, before and after AUTH. What
// comes back must be replies and nothing else, a client that is not logged in must leave no trace
// and take little memory, and the logged effects must give the same keys again.
//
// The first two bytes of the input choose the password, the circumstances and where to cut; the
// rest is sent. Circumstances are memory that is used up, a client that does not read, and a
// subscriber beside it that does not read either.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/check.h"
#include "core/bytes/byte_blocks.h"
#include "core/bytes/number.h"
#include "core/engine/engine.h"
#include "core/tzdata/tzdata_zones.h"
#include "server/admin/families.h"
#include "server/dispatch/dispatcher.h"
#include "server/dispatch/session.h"
#include "server/loop/keyspace_observer.h"
#include "server/process/server_state.h"
#include "server/replication/replica_links.h"
#include "server/resp/parser.h"
#include "server/script/script_engine.h"
#include "tests/fuzz/no_files.h"
#include "tests/no_primary.h"
#include "tests/unit/server/no_migrations.h"

namespace {

using tally::ByteBlocks;
using tally::Check;
using tally::Engine;
using tally::fuzz::kNow;
using tally::fuzz::NoFiles;
using namespace tally::server;

constexpr size_t kPrologue = 2;
// A password that no input guesses.
constexpr std::string_view kUnknown = "9c1e7a52d0b34f68a7e1c5d2f09b6384";
// What a session may hold of a request before AUTH: ten arguments, see ParserLimits.
constexpr size_t kStrangersBytes = 10 * (16384 + 64) + 64;
// Backlogs are resumed as the loop does, but a paused client's never ends.
constexpr int kTurns = 64;

// A client that is served while a script keeps busy would end it.
class EndsScripts : public tally::fuzz::NoProcess {
 public:
  explicit EndsScripts(Services& server) : server_(server) {}

  bool ServeOthers() override {
    server_.scripts->watch().Kill();
    return true;
  }

 private:
  Services& server_;
};

const CommandTable& Commands() {
  static const CommandTable table{CommandFamilies()};
  return table;
}

class World : private EffectSink {
 public:
  explicit World(const Config& config)
      : config_(config),
        engine(static_cast<size_t>(config.databases), 42, zones_),
        log_(Logger::Open("/dev/null", LogLevel::kWarning).value()),
        state(Commands(), engine, config_, *log_),
        dispatcher(state.services) {
    state.clock.Set(kNow);
    state.services.persistence.Fill(files_);
    state.services.process.Fill(process_);
    state.effects.Attach(*this);
  }

 private:
  void Receive(uint64_t, std::string_view received) override { effects += received; }

  Config config_;
  tally::TzdataZones zones_;

 public:
  Engine engine;

 private:
  std::unique_ptr<Logger> log_;
  NoFiles files_;

 public:
  ServerState state;
  Dispatcher dispatcher;
  std::string effects;

 private:
  EndsScripts process_{state.services};
  KeyspaceObserver observer_{state.services};
  NoPrimary primary_{state.services};
  tally::test::NoMigrations migrations_{state.services};
  ReplicaLinks replicas_{state.services, [] { return std::string(StreamId::kDigits, 'e'); }};
};

// A client's view of the wire: takes one reply off the front of `rest`, false when there is none.
bool TakeReply(std::string_view& rest, int depth = 0) {
  const size_t end = rest.find("\r\n");
  if (end == std::string_view::npos || end == 0 || depth > 64) return false;
  const char type = rest[0];
  const std::string_view head = rest.substr(1, end - 1);
  rest.remove_prefix(end + 2);
  constexpr std::string_view kLines = "+-:,#_(";
  if (kLines.find(type) != std::string_view::npos) return true;
  if (head == "-1") return type == '$' || type == '*';
  const auto count = tally::ParseInt64(head);
  if (!count || *count < 0) return false;
  if (type == '$' || type == '=') {
    const auto size = static_cast<size_t>(*count);
    if (rest.size() < size + 2 || rest.substr(size, 2) != "\r\n") return false;
    rest.remove_prefix(size + 2);
    return true;
  }
  constexpr std::string_view kAggregates = "*%~>";
  if (kAggregates.find(type) == std::string_view::npos) return false;
  const int64_t elements = type == '%' ? 2 * *count : *count;
  for (int64_t i = 0; i < elements; ++i) {
    if (!TakeReply(rest, depth + 1)) return false;
  }
  return true;
}

// What a replica gets is the stream.
void CheckReplies(Client& client) {
  ByteBlocks& output = client.output;
  if (client.is_replica) return output.Clear();
  const std::string joined = output.Joined();
  std::string_view rest = joined;
  while (!rest.empty()) Check(TakeReply(rest), "the output is whole replies");
  output.Clear();
}

struct Circumstances {
  bool full;         // maxmemory is used up
  bool reads_late;   // the client reads at the end
  bool is_listened;  // another client hears of all that is published, and reads at the end
  size_t longest;    // a piece that is sent
};

// Sends the stream in pieces.
void MakeConversation(World& world, std::string_view stream, const Circumstances& circumstances) {
  const size_t longest = circumstances.longest;
  Session listener(world.state.services, world.dispatcher);
  if (circumstances.is_listened) {
    listener.Take("PSUBSCRIBE *\r\n");
    listener.Run();
  }
  Session session(world.state.services, world.dispatcher);
  size_t seed = longest;
  while (!stream.empty() && !session.finished()) {
    seed = seed * 1664525 + 1013904223;
    const size_t size = std::min(stream.size(), 1 + (seed >> 16) % longest);
    session.Take(stream.substr(0, size));
    session.Run();
    world.state.effects.Deliver();
    stream.remove_prefix(size);
    for (int turn = 0; turn < kTurns && session.has_backlog(); ++turn) {
      if (!circumstances.reads_late) CheckReplies(session.client());
      session.Run();
    }
    if (!circumstances.reads_late) CheckReplies(session.client());
    if (world.state.services.config.requirepass != kUnknown) continue;
    Check(!session.client().authenticated, "a stranger stays one");
    Check(session.buffered() <= kStrangersBytes, "a stranger's request takes little memory");
    Check(world.effects.empty(), "a stranger changes nothing");
  }
  for (int turn = 0; turn < kTurns && session.has_backlog(); ++turn) {
    CheckReplies(session.client());
    session.Run();
  }
  CheckReplies(session.client());
  CheckReplies(listener.client());
  world.state.effects.Deliver();
}

void Replay(World& world, std::string_view effects) {
  Client client;
  client.authenticated = true;
  world.engine.set_expiry(tally::Expiry::kIgnore);
  RequestParser parser;
  while (!effects.empty()) {
    Check(parser.Next(effects) == ParseStatus::kCommand, "the log is whole commands");
    const CommandEntry* entry = world.state.services.commands.Resolve(parser.args());
    Check(entry != nullptr && ArityFits(*entry->command, parser.args().size()),
          "an effect is a command");
    client.output.Clear();
    world.dispatcher.Replay(client, *entry, parser.args());
    Check(client.output.empty() || client.output[0] != '-',
          "an effect is replayed without an error");
    effects.remove_prefix(parser.consumed());
  }
  world.engine.set_expiry(tally::Expiry::kRemove);
}

void CheckSameKeys(World& original, World& replayed) {
  for (size_t i = 0; i < original.engine.databases(); ++i) {
    tally::Keyspace& keyspace = original.engine.database(i);
    tally::Keyspace& copy = replayed.engine.database(i);
    Check(keyspace.size() == copy.size(), "the log gives as many keys");
    uint64_t cursor = 0;
    do {
      cursor = keyspace.Scan(cursor, 100, [&](const tally::Keyspace::Entry& entry) {
        if (entry.expired(kNow)) return;
        const tally::Keyspace::Entry other = copy.Peek(entry.key(), kNow);
        Check(other && other.type() == entry.type(), "the log gives the same keys");
        Check(other.deadline_ms() == entry.deadline_ms(), "the log gives the same deadlines");
        const bool same_number = !entry.is_integer() || other.integer() == entry.integer();
        Check(entry.is_integer() == other.is_integer() && same_number,
              "the log gives the same numbers");
      });
    } while (cursor != 0);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < kPrologue) return 0;
  Config config;
  constexpr std::string_view kPasswords[] = {"", "secret", kUnknown};
  config.requirepass = kPasswords[data[0] % std::size(kPasswords)];
  config.databases = 2;
  config.busy_reply_threshold = 50;
  config.proto_max_bulk_len = tally::server::kMib;
  const unsigned bits = data[0] / std::size(kPasswords);
  const Circumstances circumstances{(bits & 1) != 0, (bits & 2) != 0,
                                    (bits & 4) != 0 && config.requirepass.empty(),
                                    size_t{1} << data[1] % 12};
  if (circumstances.full) config.maxmemory = 1;
  const std::string_view stream(reinterpret_cast<const char*>(data) + kPrologue, size - kPrologue);
  World world(config);
  MakeConversation(world, stream, circumstances);
  World replayed(config);
  Replay(replayed, world.effects);
  CheckSameKeys(world, replayed);
  return 0;
}
