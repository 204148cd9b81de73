#include "bench/quota_scale/load.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <random>
#include <vector>

#include "bench/quota_scale/connection.h"

namespace tally::bench {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kAskEvery = 5'000'000;

int64_t Now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

class Load {
 public:
  Load(const LoadOptions& options, const std::function<void(std::string&)>& append)
      : options_(options), append_(append), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    for (size_t i = 0; i < options.connections; ++i) {
      clients_.push_back(std::make_unique<Client>(options.port));
      clients_.back()->connection.Select(options.database);
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.ptr = clients_.back().get();
      ::epoll_ctl(epoll_, EPOLL_CTL_ADD, clients_.back()->connection.descriptor(), &event);
      idle_.push_back(clients_.back().get());
    }
  }
  ~Load() { ::close(epoll_); }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  LoadResult Run(const std::function<bool(double)>& go_on) {
    const int64_t begin = Now();
    next_due_ = begin;
    int64_t asked = 0;
    while (true) {
      const int64_t now = Now();
      if (now - asked >= kAskEvery) {
        asked = now;
        if (!go_on(static_cast<double>(now - begin) / kSecond)) break;
      }
      SendDue(now);
      Wait(now);
    }
    result_.seconds = static_cast<double>(Now() - begin) / kSecond;
    while (idle_.size() < clients_.size()) Wait(Now());
    return std::move(result_);
  }

 private:
  struct Client {
    explicit Client(int port) : connection(port) {}
    Connection connection;
    int64_t due = 0;
    size_t awaited = 0;
  };

  void Send(Client& client, int64_t due) {
    client.due = due;
    client.awaited = options_.pipeline;
    for (size_t i = 0; i < options_.pipeline; ++i) append_(client.connection.output());
    client.connection.Flush();
    if (!client.connection.flushed()) Die("a batch does not fit into the socket's buffer");
  }

  void SendDue(int64_t now) {
    while (!idle_.empty() && (options_.rate == 0 || next_due_ <= now)) {
      Client* client = idle_.back();
      idle_.pop_back();
      Send(*client, options_.rate == 0 ? now : next_due_);
      if (options_.rate > 0) {
        const double gap = gap_(random_) * static_cast<double>(options_.pipeline) / options_.rate;
        next_due_ += static_cast<int64_t>(gap * kSecond);
      }
    }
  }

  void Wait(int64_t now) {
    int64_t nanos = kAskEvery;
    if (options_.rate > 0 && !idle_.empty()) nanos = std::clamp<int64_t>(next_due_ - now, 0, nanos);
    const timespec timeout{0, nanos};
    epoll_event events[64];
    const int ready = ::epoll_pwait2(epoll_, events, std::size(events), &timeout, nullptr);
    if (ready < 0 && errno != EINTR) Die("epoll_pwait2");
    for (int i = 0; i < ready; ++i) Receive(*static_cast<Client*>(events[i].data.ptr));
  }

  void Receive(Client& client) {
    if (!client.connection.Receive()) Die("the server has closed a connection");
    const int64_t now = Now();
    while (client.awaited > 0) {
      const std::string_view reply = client.connection.NextReply();
      if (reply.empty()) return;
      --client.awaited;
      ++result_.calls;
      result_.latencies.Add(now - client.due);
      if (reply[0] == '-' && result_.errors++ == 0) result_.first_error = reply;
    }
    idle_.push_back(&client);
  }

  const LoadOptions options_;
  const std::function<void(std::string&)>& append_;
  int epoll_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<Client*> idle_;
  int64_t next_due_ = 0;
  std::mt19937_64 random_{7};
  std::exponential_distribution<double> gap_{1.0};
  LoadResult result_;
};

}  // namespace

LoadResult RunLoad(const LoadOptions& options, const std::function<void(std::string&)>& append,
                   const std::function<bool(double)>& go_on) {
  return Load(options, append).Run(go_on);
}

}  // namespace tally::bench
