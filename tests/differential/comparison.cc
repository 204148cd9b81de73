#include "tests/differential/comparison.h"

#include <absl/strings/str_replace.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "core/bytes/number.h"

namespace tally::differential {
namespace {

// Between one server's execution of a command and the other's.
constexpr int64_t kToleranceMs = 5000;

// Elements, each of `size` neighbours: pairs stand flat in RESP2 and maps, or as arrays in RESP3.
std::vector<std::string> Groups(const Reply& reply, size_t size) {
  std::vector<std::string> groups;
  const bool nested = !reply.parts.empty() && reply.parts[0].aggregate();
  const size_t step = nested ? 1 : size;
  for (size_t i = 0; i + step <= reply.parts.size(); i += step) {
    std::string group;
    if (nested) {
      for (const Reply& part : reply.parts[i].parts) group += part.bytes;
    } else {
      for (size_t j = 0; j < step; ++j) group += reply.parts[i + j].bytes;
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

bool SameShape(const Reply& ours, const Reply& theirs) {
  return ours.type == theirs.type && ours.parts.size() == theirs.parts.size();
}

bool SameElements(const Reply& ours, const Reply& theirs, size_t size) {
  if (!SameShape(ours, theirs)) return false;
  std::vector<std::string> left = Groups(ours, size);
  std::vector<std::string> right = Groups(theirs, size);
  std::sort(left.begin(), left.end());
  std::sort(right.begin(), right.end());
  return left == right;
}

bool SameScan(const Reply& ours, const Reply& theirs, size_t size) {
  if (!SameShape(ours, theirs) || ours.parts.size() != 2) return false;
  if (ours.parts[0].bytes != theirs.parts[0].bytes) return false;
  const std::vector<std::string> left = Groups(ours.parts[1], size);
  const std::vector<std::string> right = Groups(theirs.parts[1], size);
  return std::set(left.begin(), left.end()) == std::set(right.begin(), right.end());
}

bool SameSample(const Reply& ours, const Reply& theirs, const Reply& members, size_t size,
                bool distinct) {
  if (!SameShape(ours, theirs) || ours.null != theirs.null) return false;
  if (ours.null || !members.aggregate()) return ours.bytes == theirs.bytes;
  const std::vector<std::string> all = Groups(members, size);
  const std::set<std::string> known(all.begin(), all.end());
  if (!ours.aggregate()) return known.contains(std::string(ours.bytes));
  const std::vector<std::string> chosen = Groups(ours, size);
  if (distinct && std::set(chosen.begin(), chosen.end()).size() != chosen.size()) return false;
  return std::all_of(chosen.begin(), chosen.end(),
                     [&](const std::string& one) { return known.contains(one); });
}

std::optional<int64_t> IntegerOf(const Reply& reply) {
  return reply.type == ':' ? ParseInt64(reply.text) : std::nullopt;
}

bool SameWithin(const Reply& ours, const Reply& theirs, int64_t tolerance) {
  const auto left = IntegerOf(ours);
  const auto right = IntegerOf(theirs);
  return left && right && *left > 0 && *right > 0 && *left - *right <= tolerance &&
         *right - *left <= tolerance;
}

// What the README's table of differences says: lists of integers, and whole numbers that Redis
// keeps as the text that a command made.
bool SameEncoding(const Reply& ours, const Reply& theirs) {
  return (ours.text == "intring" && theirs.text == "quicklist") ||
         (ours.text == "int" && theirs.text == "embstr");
}

bool Same(Rule rule, const Reply& ours, const Reply& theirs, std::string_view members) {
  if (ours.type == '-' || theirs.type == '-') return false;
  switch (rule) {
    case Rule::kExact:
      return false;
    case Rule::kAnyOrder:
      return SameElements(ours, theirs, 1);
    case Rule::kPairs:
      return SameElements(ours, theirs, 2);
    case Rule::kScan:
      return SameScan(ours, theirs, 1);
    case Rule::kScanPairs:
      return SameScan(ours, theirs, 2);
    case Rule::kSample:
      return SameSample(ours, theirs, ParseReply(members), 1, /*distinct=*/false);
    case Rule::kSamplePairs:
      return SameSample(ours, theirs, ParseReply(members), 2, /*distinct=*/false);
    case Rule::kDistinct:
      return SameSample(ours, theirs, ParseReply(members), 1, /*distinct=*/true);
    case Rule::kDistinctPairs:
      return SameSample(ours, theirs, ParseReply(members), 2, /*distinct=*/true);
    case Rule::kMillis:
      return SameWithin(ours, theirs, kToleranceMs);
    case Rule::kSeconds:
      return SameWithin(ours, theirs, kToleranceMs / 1000);
    case Rule::kInteger:
      return IntegerOf(ours) && IntegerOf(theirs);
    case Rule::kHello:
      return SameShape(ours, theirs);
    case Rule::kOfRequest:
      return false;
    case Rule::kKind:
      return ours.type == theirs.type && ours.null == theirs.null;
    case Rule::kEncoding:
      return SameEncoding(ours, theirs);
  }
  return false;
}

}  // namespace

bool SameReply(Rule rule, std::string_view ours, std::string_view theirs,
               std::string_view members) {
  return ours == theirs || Same(rule, ParseReply(ours), ParseReply(theirs), members);
}

std::string WithoutNegativeZeros(std::string_view reply) {
  return absl::StrReplaceAll(absl::string_view(reply.data(), reply.size()),
                             {{"$2\r\n-0\r\n", "$1\r\n0\r\n"}, {",-0\r\n", ",0\r\n"}});
}

bool SameTransaction(const std::vector<Rule>& rules, std::string_view ours,
                     std::string_view theirs) {
  if (ours == theirs) return true;
  const Reply left = ParseReply(ours);
  const Reply right = ParseReply(theirs);
  if (left.null || !SameShape(left, right) || left.parts.size() != rules.size()) return false;
  std::string_view before = "*0\r\n";
  for (size_t i = 0; i < rules.size(); ++i) {
    if (!SameReply(rules[i], left.parts[i].bytes, right.parts[i].bytes, before)) return false;
    before = left.parts[i].bytes;
  }
  return true;
}

}  // namespace tally::differential
