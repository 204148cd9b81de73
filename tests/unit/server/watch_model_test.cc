// WATCH by chance, against a model that knows only which keys live: a transaction is given up when
// a watched key was written, or began or ceased to live.
#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "random_seed.h"
#include "server/command_harness.h"

namespace tally::server::watch_model_test {
namespace {

constexpr size_t kDatabases = 2;
constexpr size_t kClients = 4;
constexpr size_t kKeys = 5;

struct Watched {
  size_t database;
  std::string key;
  bool lived;
};

struct Watcher {
  Client* client;
  std::vector<Watched> watched;
  bool touched = false;
};

class Model {
 public:
  explicit Model(test::SeededRandom& random) : random_(random) {
    h_.state.services.active_expire = false;
    for (Watcher& one : watchers_) one.client = h_.Connect();
  }

  void Step() {
    Watcher& one = watchers_[random_.Below(kClients)];
    switch (random_.Below(14)) {
      case 0:
      case 1:
      case 2:
        return Watch(one);
      case 3:
      case 4:
      case 5:
        return Write(one);
      case 6:
      case 7:
        return Execute(one);
      case 8:
        h_.Advance(static_cast<int64_t>(random_.Below(20)));
        return;
      case 9:
        return h_.ExpireDue();
      case 10:
        return Flush(one);
      case 11:
        return Swap(one);
      case 12:
        return Reconnect(one);
      default:
        h_.Run(*one.client, StrCat("GET ", SomeKey()));  // may find it dead
    }
  }

  bool NobodyWatches() const {
    return std::all_of(watchers_.begin(), watchers_.end(),
                       [](const Watcher& one) { return one.watched.empty(); });
  }
  bool IsForgotten() const { return h_.state.watches.empty(); }

 private:
  std::string SomeKey() { return StrCat("k", random_.Below(kKeys)); }

  bool Lives(size_t database, const std::string& key) const {
    const auto it = deadlines_[database].find(key);
    return it != deadlines_[database].end() && h_.now() < it->second;
  }

  void Watch(Watcher& one) {
    const size_t count = 1 + random_.Below(3);
    std::vector<std::string> words = {"WATCH"};
    for (size_t i = 0; i < count; ++i) words.push_back(SomeKey());
    REQUIRE(h_.Run(*one.client, words) == "+OK");
    const size_t database = one.client->database;
    for (size_t i = 1; i < words.size(); ++i) {
      const bool known =
          std::any_of(one.watched.begin(), one.watched.end(), [&](const Watched& watched) {
            return watched.database == database && watched.key == words[i];
          });
      if (!known) one.watched.push_back({database, words[i], Lives(database, words[i])});
    }
  }

  void Write(Watcher& one) {
    const size_t database = random_.Below(kDatabases);
    h_.Run(*one.client, StrCat("SELECT ", database));
    const std::string key = SomeKey();
    bool changes = true;
    if (random_.OneIn(3)) {
      changes = Lives(database, key);
      h_.Run(*one.client, StrCat("DEL ", key));
      deadlines_[database].erase(key);
    } else {
      const int64_t life = random_.OneIn(3) ? 1'000'000 : random_.Between(1, 15);
      h_.Run(*one.client, StrCat("SET ", key, " v PX ", life));
      deadlines_[database][key] = h_.now() + life;
    }
    ForEachWatched([&](Watcher& watcher, Watched& watched) {
      const bool same = watched.database == database && watched.key == key;
      watcher.touched |= same && (changes || watched.lived);
    });
  }

  void Execute(Watcher& one) {
    bool given_up = one.touched;
    for (const Watched& watched : one.watched) {
      given_up |= watched.lived && !Lives(watched.database, watched.key);
    }
    h_.Run(*one.client, "MULTI");
    h_.Run(*one.client, "PING");
    REQUIRE(h_.Run(*one.client, "EXEC") == (given_up ? "nil[]" : "[+PONG]"));
    Forget(one);
  }

  void Flush(Watcher& one) {
    const bool all = random_.OneIn(2);
    h_.Run(*one.client, all ? "FLUSHALL" : "FLUSHDB");
    for (size_t database = 0; database < kDatabases; ++database) {
      if (!all && database != one.client->database) continue;
      deadlines_[database].clear();
      ForEachWatched([&](Watcher& watcher, Watched& watched) {
        watcher.touched |= watched.database == database && watched.lived;
      });
    }
  }

  void Swap(Watcher& one) {
    h_.Run(*one.client, "SWAPDB 0 1");
    std::swap(deadlines_[0], deadlines_[1]);
    ForEachWatched([&](Watcher& watcher, Watched& watched) {
      watcher.touched |= watched.lived || Lives(watched.database, watched.key);
    });
  }

  void Reconnect(Watcher& one) {
    if (random_.OneIn(2)) {
      h_.Run(*one.client, "UNWATCH");
    } else {
      h_.Disconnect(one.client);
      one.client = h_.Connect();
    }
    Forget(one);
  }

  template <typename Visit>
  void ForEachWatched(Visit&& visit) {
    for (Watcher& watcher : watchers_) {
      for (Watched& watched : watcher.watched) visit(watcher, watched);
    }
  }

  static void Forget(Watcher& one) {
    one.watched.clear();
    one.touched = false;
  }

  CommandHarness h_;
  test::SeededRandom& random_;
  std::array<Watcher, kClients> watchers_;
  std::array<std::map<std::string, int64_t>, kDatabases> deadlines_;
};

}  // namespace

TEST_CASE("watch: expiry, flush, swap and writes in any order, as the model has it") {
  test::SeededRandom random;
  for (int round = 0; round < 20; ++round) {
    Model model(random);
    for (int step = 0; step < 2000; ++step) {
      INFO("round " << round << ", step " << step << ", seed " << random.seed());
      model.Step();
      REQUIRE(model.IsForgotten() == model.NobodyWatches());
    }
  }
}

TEST_CASE("watch: many keys by many clients, and each is forgotten") {
  CommandHarness h;
  std::vector<std::string> words = {"WATCH"};
  for (int i = 0; i < 100'000; ++i) words.push_back(StrCat("k", i / 2));
  std::vector<Client*> clients = {h.Connect(), h.Connect(), h.Connect()};
  for (Client* client : clients) {
    REQUIRE(h.Run(*client, words) == "+OK");
    CHECK(client->transaction.watched.size() == 50'000);
  }
  h.Run(*clients[0], "UNWATCH");
  h.Run("SET k49999 1");
  CHECK_FALSE(clients[0]->transaction.touched);
  CHECK(clients[1]->transaction.touched);
  h.Run(*clients[1], "MULTI");
  CHECK(h.Run(*clients[1], "EXEC") == "nil[]");
  CHECK_FALSE(h.state.watches.empty());
  h.Disconnect(clients[2]);
  CHECK(h.state.watches.empty());
}

}  // namespace tally::server::watch_model_test
