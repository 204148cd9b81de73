// The table of CLIENT TRACKING by chance, against a map of sets.
#include "server/state/tracked_keys.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "random_seed.h"

namespace tally::server::tracked_keys_test {
namespace {

class Model {
 public:
  explicit Model(test::SeededRandom& random) : random_(random), table_(random.Next()) {}

  void Step() {
    switch (random_.Below(20)) {
      case 0:
        clients_.push_back(random_.Below(2) == 0 ? clients_.back() + 1
                                                 : clients_.back() + random_.Below(1 << 30));
        return;
      case 1:
        // The ids of clients that are gone may stay or go.
        gone_.insert(AnyClient());
        return;
      case 2:
      case 3:
      case 4:
      case 5:
        return TakeAny();
      case 6:
        if (random_.Below(200) == 0) Clear();
        return;
      default:
        return Add(AnyKey(), AnyClient());
    }
  }

  // Forgets every key that is left.
  void Finish() {
    while (!read_.empty()) Take(read_.begin()->first);
    CHECK(table_.keys() == 0);
    CHECK(table_.items() == 0);
  }

 private:
  uint64_t AnyClient() { return clients_[random_.Below(clients_.size())]; }
  // Few keys are read by many clients, and many by few. Some are long, and one is empty.
  std::string AnyKey() {
    const uint64_t number = random_.Below(3) == 0 ? random_.Below(3) : random_.Below(3000);
    return number == 0 ? "" : std::string(number % 50 == 0 ? 300 : 1, 'k') + std::to_string(number);
  }

  void Add(const std::string& key, uint64_t client) {
    table_.Add(key, client, [this](uint64_t id) { return !gone_.contains(id); });
    gone_.erase(client);  // only clients that are there read
    read_[key].insert(client);
    CheckCounts();
  }

  void TakeAny() {
    const std::string key =
        table_.keys() > 0 && random_.Below(4) == 0 ? table_.Sample(random_.Next()) : AnyKey();
    Take(key);
  }

  void Take(const std::string& key) {
    std::vector<uint64_t> taken = {7};
    table_.Take(key, taken);
    CHECK(taken.front() == 7);
    taken.erase(taken.begin());
    std::sort(taken.begin(), taken.end());
    CHECK(std::adjacent_find(taken.begin(), taken.end()) == taken.end());
    const std::set<uint64_t> held(taken.begin(), taken.end());
    const std::set<uint64_t>& expected = read_[key];
    CHECK(std::includes(expected.begin(), expected.end(), held.begin(), held.end()));
    for (const uint64_t client : expected) {
      if (!ever_gone_.contains(client) && !gone_.contains(client)) CHECK(held.contains(client));
    }
    read_.erase(key);
    CheckCounts();
  }

  void Clear() {
    table_.Clear();
    read_.clear();
    CheckCounts();
  }

  void CheckCounts() {
    ever_gone_.insert(gone_.begin(), gone_.end());
    CHECK(table_.keys() == read_.size());
    size_t most = 0;
    for (const auto& [key, clients] : read_) most += clients.size();
    CHECK(table_.items() <= most);
    if (ever_gone_.empty()) CHECK(table_.items() == most);
  }

  test::SeededRandom& random_;
  TrackedKeys table_;
  std::vector<uint64_t> clients_ = {1};
  std::set<uint64_t> gone_;
  std::set<uint64_t> ever_gone_;  // those that may have been dropped from some key
  std::map<std::string, std::set<uint64_t>> read_;
};

TEST_CASE("tracked keys: by chance as a map of sets") {
  test::SeededRandom random;
  for (size_t round = 0; round < 5; ++round) {
    Model model(random);
    for (size_t step = 0; step < 4000; ++step) model.Step();
    model.Finish();
  }
}

TEST_CASE("tracked keys: a key that never changes does not gather the clients that are gone") {
  TrackedKeys table(1);
  constexpr uint64_t kLiving = 3;
  for (uint64_t client = 1; client <= 100'000; ++client) {
    table.Add("hot", client, [&](uint64_t id) { return id + kLiving > client; });
  }
  CHECK(table.items() <= 40);
  std::vector<uint64_t> clients;
  table.Take("hot", clients);
  for (uint64_t id = 100'001 - kLiving; id <= 100'000; ++id) {
    CHECK(std::find(clients.begin(), clients.end(), id) != clients.end());
  }
}

TEST_CASE("tracked keys: all of many clients are told") {
  TrackedKeys table(1);
  for (uint64_t client = 1; client <= 10'000; ++client) {
    table.Add("hot", client, [](uint64_t) { return true; });
    table.Add("hot", client, [](uint64_t) { return true; });
  }
  CHECK(table.items() == 10'000);
  std::vector<uint64_t> clients;
  table.Take("hot", clients);
  CHECK(clients.size() == 10'000);
  table.Add("hot", 1, [](uint64_t) { return true; });
  CHECK(table.items() == 1);
}

}  // namespace
}  // namespace tally::server::tracked_keys_test
