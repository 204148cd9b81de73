#include "server/http/event_streams.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "server/command_harness.h"

namespace tally::server::event_streams_test {
namespace {

// How often each client was sent `text`; takes what they were sent.
std::map<const Client*, size_t> Taken(const std::vector<Client*>& clients, std::string_view text) {
  std::map<const Client*, size_t> counts;
  for (Client* client : clients) {
    const std::string output = client->output.Joined();
    client->output.Clear();
    size_t& count = counts[client];
    for (size_t at = output.find(text); at != output.npos; at = output.find(text, at + 1)) ++count;
  }
  return counts;
}

}  // namespace

TEST_CASE("event streams: an event reaches the first clients at once, and all in a few steps",
          "[http]") {
  CommandHarness harness;
  EventStreams streams(harness.state.clients);
  std::vector<Client*> clients;
  for (size_t i = 0; i < 3 * EventStreams::kLeastAtOnce; ++i) {
    clients.push_back(harness.Connect());
    streams.Add(*clients.back());
  }
  streams.Publish("figures", "1");
  size_t reached = 0;
  for (const auto& [client, count] : Taken(clients, "data: 1\n")) reached += count;
  CHECK(reached == EventStreams::kLeastAtOnce);
  for (size_t i = 1; i < EventStreams::kSteps; ++i) streams.Continue();
  for (const auto& [client, count] : Taken(clients, "data: 1\n")) reached += count;
  CHECK(reached == clients.size());
  // Who has not got an event before the next one gets only the next one.
  streams.Publish("figures", "2");
  streams.Publish("figures", "3");
  for (size_t i = 1; i < EventStreams::kSteps; ++i) streams.Continue();
  for (const auto& [client, count] : Taken(clients, "data: 3\n")) CHECK(count == 1);
}

TEST_CASE("event streams: who comes and goes meanwhile makes nobody miss an event or get it twice",
          "[http]") {
  std::mt19937 random(7);
  CommandHarness harness;
  EventStreams streams(harness.state.clients);
  std::vector<Client*> all;
  for (int i = 0; i < 1000; ++i) all.push_back(harness.Connect());
  std::vector<Client*> inside;
  const auto add = [&] {
    Client* const client = all[random() % all.size()];
    if (std::find(inside.begin(), inside.end(), client) != inside.end()) return;
    inside.push_back(client);
    streams.Add(*client);
  };
  while (inside.size() < 700) add();
  for (int event = 0; event < 50; ++event) {
    std::vector<Client*> stayed = inside;
    streams.Publish("figures", "now");
    for (size_t step = 1; step < 2 * EventStreams::kSteps; ++step) {
      for (int i = 0; i < 10; ++i) {
        Client* const client = inside[random() % inside.size()];
        std::erase(inside, client);
        std::erase(stayed, client);
        streams.Remove(*client);
        streams.Remove(*client);  // nothing is left to remove
      }
      streams.Continue();
    }
    while (inside.size() < 700) add();
    for (const auto& [client, count] : Taken(stayed, "data: now\n")) REQUIRE(count == 1);
    CHECK(streams.size() == inside.size());
    Taken(all, "");
  }
}

}  // namespace tally::server::event_streams_test
