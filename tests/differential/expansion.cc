// From a line of the grammar to requests.
#include <absl/strings/ascii.h>

#include "core/base/check.h"
#include "tests/differential/generator.h"

namespace tally::differential {
namespace {

constexpr uint64_t kOptionPercent = 45;
constexpr uint64_t kMaxRepeats = 5;

class Expansion {
 public:
  Expansion(std::string_view line, Random& random, Words& words)
      : line_(line), random_(random), words_(words) {}

  std::vector<Request> Run() {
    requests_.emplace_back();
    Items(true);
    Check(AtEnd(), "a line of the grammar closes what it opens and nothing else");
    return std::move(requests_);
  }

 private:
  bool AtEnd() {
    while (at_ < line_.size() && line_[at_] == ' ') ++at_;
    return at_ == line_.size();
  }

  bool Take(char sign) {
    if (AtEnd() || line_[at_] != sign) return false;
    ++at_;
    return true;
  }

  std::string_view Word() {
    const size_t begin = at_;
    at_ = line_.find_first_of(" [](){}|;", at_);
    if (at_ == std::string_view::npos) at_ = line_.size();
    return line_.substr(begin, at_ - begin);
  }

  // Up to the end or to what closes the group. Without `emit` nothing is made of it.
  void Items(bool emit) {
    while (!AtEnd() && std::string_view("])}|").find(line_[at_]) == std::string_view::npos) {
      if (Take('[')) {
        Items(emit && random_.Percent(kOptionPercent));
        Check(Take(']'), "a [ is closed");
      } else if (Take('(')) {
        Choice(emit);
      } else if (Take('{')) {
        Repeat(emit);
      } else if (Take(';')) {
        requests_.emplace_back();
      } else if (Take('$')) {
        if (emit) requests_.back().push_back(requests_[0][1]);
      } else {
        Argument(Word(), emit);
      }
    }
  }

  void Argument(std::string_view word, bool emit) {
    if (!emit) return;
    if (word.size() > 2 && word.starts_with('<')) {
      words_.Append(word.substr(1, word.size() - 2), requests_.back());
    } else {
      const bool lower = random_.Percent(20);
      requests_.back().push_back(lower ? absl::AsciiStrToLower(std::string(word))
                                       : std::string(word));
    }
  }

  void Choice(bool emit) {
    const size_t begin = at_;
    uint64_t choices = 0;
    do {
      Items(false);
      ++choices;
    } while (Take('|'));
    const size_t end = at_;
    at_ = begin;
    for (uint64_t left = random_.Below(choices); left > 0; --left) {
      Items(false);
      Take('|');
    }
    Items(emit);
    at_ = end;
    Check(Take(')'), "a ( is closed");
  }

  void Repeat(bool emit) {
    const size_t begin = at_;
    Items(emit);
    for (uint64_t more = emit ? random_.Below(kMaxRepeats) : 0; more > 0; --more) {
      at_ = begin;
      Items(true);
    }
    Check(Take('}'), "a { is closed");
  }

  std::string_view line_;
  Random& random_;
  Words& words_;
  size_t at_ = 0;
  std::vector<Request> requests_;
};

}  // namespace

std::vector<Request> Expand(std::string_view line, Random& random, Words& words) {
  return Expansion(line, random, words).Run();
}

}  // namespace tally::differential
