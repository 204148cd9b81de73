// Payloads of the module's types, as RESTORE and an RDB bring them: what is loaded can be used,
// copied, saved and freed. The first byte chooses the type.
#include <cstddef>
#include <cstdint>
#include <string>

#include "server/module/value_codec.h"
#include "tests/unit/module/fake_server.h"

namespace {

using tally::module::FakeServer;

FakeServer& Server() {
  static FakeServer* const kServer = [] {
    auto* server = new FakeServer;
    server->Load({});
    return server;
  }();
  return *kServer;
}

void Use(FakeServer& server) {
  server.Run({"LIMIT.TAKE", "k", "FIXED", "3", "1m", "SLIDING", "3", "1m", "CALENDAR", "3", "day"});
  server.Run({"LIMIT.SHOW", "k"});
  server.Run({"LIMIT.GIVE", "k"});
  server.Run({"HITS.ADD", "k", "1m"});
  server.Run({"HITS.UNDO", "k", "2"});
  server.Run({"ACTIVE.TOUCH", "k", "ann"});
  server.Run({"ACTIVE.DAY", "k", "DAYS", "3"});
  server.Run({"ACTIVE.SCAN", "k", "0"});
  server.Run({"QUOTA.BUY", "k", "ann", "order", "ITEMS", "1", "0", "1"});
  server.Run({"QUOTA.RETURN", "k", "ann", "order", "ITEMS", "1", "1"});
  server.Run({"QUOTA.HISTORY", "k", "ann"});
  server.Run({"QUOTA.LEFTBYUSER", "k", "ann"});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  FakeServer& server = Server();
  tally::redis::Type* type = server.TypeAt(data[0] % 4);
  tally::redis::Io io{std::string(reinterpret_cast<const char*>(data + 1), size - 1)};
  void* value = type->methods.rdb_load(&io, tally::module::kEncodingVersion);
  if (value == nullptr) return 0;
  server.Erase("k");
  server.keys["k"] = {type, value};
  void* copy = type->methods.copy(nullptr, nullptr, value);
  tally::redis::Io saved;
  type->methods.rdb_save(&saved, copy);
  type->methods.mem_usage(copy);
  type->methods.free(copy);
  Use(server);
  server.Erase("k");
  return 0;
}
