// Places in the order of a sorted set, and the ranges between them.
//
// Members are ordered by score, and by their bytes (memcmp) where scores are equal. Every range
// that a client can ask for (by score, by member, by rank) comes down to an interval of ranks.
#pragma once

#include <cstddef>
#include <string_view>

namespace tally {

// Ranks begin <= rank < end, counted from 0 at the lowest score.
struct RankRange {
  size_t begin = 0;
  size_t end = 0;

  size_t size() const { return end - begin; }
  bool empty() const { return begin == end; }
  friend bool operator==(const RankRange&, const RankRange&) = default;
};

// One end of a range of scores: `5`, `(5`, `-inf`, `+inf`.
struct ScoreBound {
  double score;
  bool exclusive = false;
};

// One end of a range of members: `-`, `+`, `[member`, `(member`.
struct LexBound {
  enum class Kind { kLowest, kHighest, kInclusive, kExclusive };

  Kind kind;
  std::string_view member = {};
};

// A gap between two neighbours in the order.
struct Position {
  enum class Tie { kBeforeScore, kAfterScore, kBeforeMember, kAfterMember };

  static Position Before(double score) { return {score, Tie::kBeforeScore}; }
  static Position After(double score) { return {score, Tie::kAfterScore}; }
  static Position Before(double score, std::string_view member) {
    return {score, Tie::kBeforeMember, member};
  }
  // By member alone, for sets whose scores are all equal.
  static Position BeforeMember(std::string_view member) {
    return {0, Tie::kBeforeMember, member, true};
  }
  static Position AfterMember(std::string_view member) {
    return {0, Tie::kAfterMember, member, true};
  }

  double score;
  Tie tie;
  std::string_view member = {};
  bool any_score = false;
};

// Whether an element lies before `position`. `compare_member` compares the element's member with
// the text it is given, as memcmp does, and is only called if scores do not decide.
template <class CompareMember>
bool Precedes(double score, const CompareMember& compare_member, const Position& position) {
  if (!position.any_score && score != position.score) return score < position.score;
  switch (position.tie) {
    case Position::Tie::kBeforeScore:
      return false;
    case Position::Tie::kAfterScore:
      return true;
    case Position::Tie::kBeforeMember:
      return compare_member(position.member) < 0;
    case Position::Tie::kAfterMember:
      return compare_member(position.member) <= 0;
  }
  return false;
}

}  // namespace tally
