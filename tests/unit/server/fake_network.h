// A network between servers of one process: links whose bytes are delayed, come in pieces of any
// length, stop for a while, and are cut anywhere. It has no thread and no time of its own: what
// moves in a step is told by dice, so that a seed gives the same run again.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "random_seed.h"

namespace tally::test {

class FakeNetwork {
 public:
  explicit FakeNetwork(SeededRandom& random) : random_(random) {}

  // Who hears of connections to `port`: it gets a connected socket, which it owns. Null: nobody.
  void Listen(int64_t port, std::function<void(int socket)> accept) {
    listeners_[port] = std::move(accept);
  }
  // A connected socket from the server of port `from` to that of port `to`; -1 and errno if nobody
  // listens, or nothing gets there.
  int Dial(int64_t from, int64_t to) {
    const auto& accept = listeners_[to];
    if (accept == nullptr || IsParted(from, to)) {
      errno = accept == nullptr ? ECONNREFUSED : EHOSTUNREACH;
      return -1;
    }
    auto link = std::make_unique<Link>(from, to);
    const int caller = Pair(link->ends[0].socket);
    const int called = Pair(link->ends[1].socket);
    links_.push_back(std::move(link));
    accept(called);
    return caller;
  }

  // Some of the bytes that are under way arrive.
  void Step() {
    for (const auto& link : links_) {
      if (IsParted(link->from, link->to)) continue;
      for (size_t i = 0; i < 2; ++i) Move(*link, i);
      if (troubled_ && random_.OneIn(100)) Cut(*link);
    }
    std::erase_if(links_, [](const auto& link) { return link->is_closed(); });
  }
  // Links are cut at any byte, and are slow, unless it is not troubled.
  void set_troubled(bool troubled) { troubled_ = troubled; }
  // What is under way is lost, on all links.
  void CutAll() {
    for (const auto& link : links_) Cut(*link);
  }
  // Nothing comes from one to the other.
  void Part(int64_t a, int64_t b) { parted_.emplace_back(std::min(a, b), std::max(a, b)); }
  void Heal() { parted_.clear(); }
  uint64_t cuts() const { return cuts_; }

 private:
  struct End {
    ~End() { Close(); }
    void Close() {
      if (socket >= 0) ::close(std::exchange(socket, -1));
    }
    int socket = -1;     // the network's half of the pair
    std::string coming;  // to this end
    bool ended = false;  // it sends no more
  };
  struct Link {
    Link(int64_t from_in, int64_t to_in) : from(from_in), to(to_in) {}
    bool is_closed() const { return ends[0].socket < 0 && ends[1].socket < 0; }

    const int64_t from;
    const int64_t to;
    std::array<End, 2> ends;
  };

  // Returns the far end of a new pair.
  static int Pair(int& near) {
    std::array<int, 2> sockets{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, sockets.data()) ==
            0);
    near = sockets[0];
    return sockets[1];
  }
  bool IsParted(int64_t a, int64_t b) const {
    return std::find(parted_.begin(), parted_.end(), std::pair(std::min(a, b), std::max(a, b))) !=
           parted_.end();
  }

  // From end `i` to the other one.
  void Move(Link& link, size_t i) {
    End& from = link.ends[i];
    End& to = link.ends[1 - i];
    if (from.socket >= 0 && !from.ended && to.coming.size() < kMostHeld) Take(from, to.coming);
    if (troubled_ && random_.OneIn(3)) return;
    size_t size = to.coming.size();
    if (troubled_ && size > 0 && random_.OneIn(2)) size = random_.Below(size + 1);
    if (to.socket >= 0 && size > 0) {
      const ssize_t sent = ::send(to.socket, to.coming.data(), size, MSG_NOSIGNAL);
      if (sent > 0) to.coming.erase(0, static_cast<size_t>(sent));
      if (sent < 0 && errno != EAGAIN) to.Close();
    }
    // The end of the stream comes after all that was sent.
    if (from.ended && (to.coming.empty() || to.socket < 0)) from.Close(), to.Close();
    if (to.socket < 0) from.Close();
  }
  static void Take(End& from, std::string& into) {
    std::array<char, 64 * 1024> some;
    const ssize_t size = ::recv(from.socket, some.data(), some.size(), 0);
    if (size > 0) into.append(some.data(), static_cast<size_t>(size));
    from.ended = size == 0 || (size < 0 && errno != EAGAIN);
  }
  // What is under way is lost.
  void Cut(Link& link) {
    ++cuts_;
    for (End& end : link.ends) end.Close();
  }

  static constexpr size_t kMostHeld = size_t{1} << 18;

  SeededRandom& random_;
  std::map<int64_t, std::function<void(int socket)>> listeners_;
  std::vector<std::unique_ptr<Link>> links_;
  std::vector<std::pair<int64_t, int64_t>> parted_;
  bool troubled_ = true;
  uint64_t cuts_ = 0;
};

}  // namespace tally::test
