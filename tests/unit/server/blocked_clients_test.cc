// Who waits for which key, by chance, against lists that are searched from the front.
#include "server/state/blocked_clients.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/keyspace/keyspace.h"
#include "core/keyspace/reclaimer.h"
#include "core/list/list.h"
#include "core/zset/zset.h"
#include "random_seed.h"

namespace tally::server::blocked_clients_test {
namespace {

struct Name {
  size_t database;
  Type type;
  std::string key;

  bool operator==(const Name&) const = default;
};

struct Waiter {
  Client* client;
  std::vector<Name> keys;
  int64_t deadline_ms;
};

class Model {
 public:
  explicit Model(test::SeededRandom& random) : random_(random), clients_(40) {
    for (auto& client : clients_) client = std::make_unique<Client>();
  }
  ~Model() {
    for (auto& client : clients_) blocked_.Take(*client);
  }

  void Step() {
    switch (random_.Below(8)) {
      case 0:
      case 1:
      case 2:
        return Block(*clients_[random_.Below(clients_.size())]);
      case 3:
        return Take(*clients_[random_.Below(clients_.size())]);
      case 4:
      case 5:
        return Create(AnyName());
      case 6:
        return random_.OneIn(10) ? Replace(random_.Below(2)) : Expire();
      default:
        return Serve();
    }
  }

  void Compare() const {
    REQUIRE(blocked_.clients() == waiters_.size());
    REQUIRE(blocked_.empty() == waiters_.empty());
    int64_t next = INT64_MAX;
    size_t with_deadline = 0;
    for (const Waiter& waiter : waiters_) {
      REQUIRE(waiter.client->blocked != nullptr);
      REQUIRE(waiter.client->state.command.blocked());
      next = std::min(next, waiter.deadline_ms);
      with_deadline += waiter.deadline_ms == INT64_MAX ? 0 : 1;
    }
    REQUIRE(blocked_.next_deadline_ms() == next);
    REQUIRE(blocked_.with_deadline() == with_deadline);
    REQUIRE(blocked_.has_ready() == !ready_.empty());
  }

 private:
  Name AnyName() {
    return {random_.Below(2), random_.OneIn(3) ? Type::kZSet : Type::kList,
            std::string(1 + random_.Below(3), static_cast<char>('a' + random_.Below(4)))};
  }

  void Block(Client& client) {
    if (client.blocked != nullptr) return;
    auto command = std::make_unique<BlockedCommand>();
    Waiter waiter{&client, {}, random_.OneIn(2) ? INT64_MAX : random_.Between(0, 50)};
    const Name first = AnyName();
    command->database = first.database;
    command->type = first.type;
    command->deadline_ms = waiter.deadline_ms;
    for (uint64_t i = random_.Below(5) + 1; i > 0; --i) {
      waiter.keys.push_back({first.database, first.type, AnyName().key});
    }
    const std::vector<std::string_view> keys = [&] {
      std::vector<std::string_view> views;
      for (const Name& name : waiter.keys) views.push_back(name.key);
      return views;
    }();
    client.state.command.Begin();
    blocked_.Block(client, std::move(command), keys);
    client.state.command.End();
    waiters_.push_back(waiter);
  }

  void Take(Client& client) {
    const auto it = std::find_if(waiters_.begin(), waiters_.end(),
                                 [&](const Waiter& one) { return one.client == &client; });
    REQUIRE((blocked_.Take(client) != nullptr) == (it != waiters_.end()));
    REQUIRE(client.blocked == nullptr);
    REQUIRE(!client.state.command.blocked());
    if (it == waiters_.end()) return;
    waiters_.erase(it);
    std::erase_if(ready_, [&](const Name& name) { return First(name) == nullptr; });
  }

  Client* First(const Name& name) const {
    for (const Waiter& waiter : waiters_) {
      if (std::find(waiter.keys.begin(), waiter.keys.end(), name) != waiter.keys.end()) {
        return waiter.client;
      }
    }
    return nullptr;
  }

  void NoteReady(const Name& name) {
    if (First(name) == nullptr) return;
    if (std::find(ready_.begin(), ready_.end(), name) == ready_.end()) ready_.push_back(name);
  }

  void Create(const Name& name) {
    blocked_.NoteCreated({name.database, name.type, name.key});
    NoteReady(name);
  }

  // The keys for which others wait longest come first; those of one client in the order of names.
  void Replace(size_t database) {
    Keyspace keyspace(1, reclaimer_);
    std::vector<Name> present;
    for (uint64_t i = random_.Below(6); i > 0; --i) {
      Name name = AnyName();
      name.database = database;
      if (keyspace.Peek(name.key)) continue;
      if (name.type == Type::kList) {
        keyspace.SetHeap(name.key, new List, kNoDeadline, 0);
      } else {
        keyspace.SetHeap(name.key, new ZSet(1), kNoDeadline, 0);
      }
      present.push_back(name);
    }
    blocked_.NoteReplaced(database, keyspace);
    for (const Waiter& waiter : waiters_) {
      std::vector<Name> own = waiter.keys;
      std::sort(own.begin(), own.end(),
                [](const Name& one, const Name& other) { return one.key < other.key; });
      for (const Name& name : own) {
        if (std::find(present.begin(), present.end(), name) != present.end()) NoteReady(name);
      }
    }
  }

  void Expire() {
    const int64_t now = random_.Between(0, 50);
    Client* const due = blocked_.FirstDue(now);
    const auto soonest = std::min_element(
        waiters_.begin(), waiters_.end(),
        [](const Waiter& one, const Waiter& other) { return one.deadline_ms < other.deadline_ms; });
    const bool any = soonest != waiters_.end() && soonest->deadline_ms <= now;
    REQUIRE(due == (any ? soonest->client : nullptr));
    if (due != nullptr) Take(*due);
  }

  void Serve() {
    if (ready_.empty()) return;
    const BlockedClients::Ready ready = blocked_.TakeReady();
    const Name name{ready.database, ready.type, ready.key};
    REQUIRE(name == ready_.front());
    ready_.erase(ready_.begin());
    for (uint64_t i = random_.Below(4); i > 0; --i) {
      Client* const first = blocked_.First(ready);
      REQUIRE(first == First(name));
      if (first != nullptr) Take(*first);
    }
  }

  test::SeededRandom& random_;
  Reclaimer reclaimer_;
  std::vector<std::unique_ptr<Client>> clients_;
  BlockedClients blocked_;
  std::vector<Waiter> waiters_;  // in the order in which they began
  std::vector<Name> ready_;
};

}  // namespace

TEST_CASE("blocked clients agree with lists that are searched") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (int round = 0; round < 40; ++round) {
    Model model(random);
    for (int step = 0; step < 500; ++step) {
      model.Step();
      model.Compare();
    }
  }
}

TEST_CASE("a client that waits for 100,000 keys leaves nothing behind") {
  BlockedClients blocked;
  Client client;
  std::vector<std::string> names;
  for (int i = 0; i < 100'000; ++i) names.push_back(std::to_string(i));
  client.state.command.Begin();
  blocked.Block(client, std::make_unique<BlockedCommand>(),
                std::vector<std::string_view>(names.begin(), names.end()));
  client.state.command.End();
  for (const std::string& name : names) blocked.NoteCreated({0, Type::kList, name});
  CHECK(blocked.TakeReady().key == "0");
  CHECK(blocked.Take(client)->keys.size() == 100'000);
  CHECK(blocked.empty());
  CHECK(!blocked.has_ready());
}

}  // namespace tally::server::blocked_clients_test
