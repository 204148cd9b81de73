#include "server/net/name_search.h"

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <atomic>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace tally::server {
namespace {

// So many threads search at a time, so that who asks again and again while a name server does not
// answer cannot take all threads of the machine.
constexpr int kMostSearches = 64;
std::atomic<int> searches = 0;  // that run, given up or not

NameSearch::Result Find(const std::string& name, uint16_t port) {
  asio::io_context io;
  asio::ip::tcp::resolver resolver(io);
  std::error_code error;
  const auto found =
      resolver.resolve(name, std::to_string(port), asio::ip::resolver_base::numeric_service, error);
  NameSearch::Result result;
  for (const auto& one : found) {
    const asio::ip::tcp::endpoint endpoint = one.endpoint();
    result.addresses.emplace_back(endpoint.data(), static_cast<socklen_t>(endpoint.size()));
  }
  if (error) result.error = error.message();
  return result;
}

}  // namespace

struct NameSearch::Shared {
  std::mutex mutex;
  std::optional<Result> result;
};

NameSearch::NameSearch(const std::string& name, uint16_t port)
    : shared_(std::make_shared<Shared>()) {
  if (++searches > kMostSearches) {
    --searches;
    shared_->result = Result{{}, "too many names are being searched for"};
    return;
  }
  try {
    std::thread([shared = shared_, name, port] {
      Result result = Find(name, port);
      --searches;
      const std::lock_guard lock(shared->mutex);
      shared->result = std::move(result);
    }).detach();
  } catch (const std::system_error& error) {  // the process may have no more threads
    --searches;
    shared_->result = Result{{}, error.what()};
  }
}

std::optional<NameSearch::Result> NameSearch::Take() {
  const std::lock_guard lock(shared_->mutex);
  return std::exchange(shared_->result, std::nullopt);
}

}  // namespace tally::server
