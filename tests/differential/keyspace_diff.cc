#include "tests/differential/keyspace_diff.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include "core/bytes/str_cat.h"
#include "tests/differential/comparison.h"
#include "tests/differential/reply.h"
#include "tests/differential/wire.h"

namespace tally::differential {
namespace {

constexpr int kDatabases = 16;

// Without the estimate that a HyperLogLog caches in its bytes 8 to 15: it is not logged, since it
// follows from the rest.
std::string WithoutEstimate(std::string reply) {
  const size_t begin = reply.find("\r\nHYLL");
  constexpr size_t kEstimateAt = 8;
  if (begin != std::string::npos && reply.size() > begin + 2 + 2 * kEstimateAt) {
    reply.replace(begin + 2 + kEstimateAt, 8, 8, '\0');
  }
  return reply;
}

// Whether a string was changed where it lay is not part of what is saved; the stream of commands
// compares it.
std::string WithoutRaw(std::string reply) {
  return reply == "$3\r\nraw\r\n" ? "$6\r\nembstr\r\n" : reply;
}

std::string Comparable(std::string_view reply) {
  return WithoutRaw(WithoutEstimate(WithoutNegativeZeros(reply)));
}

class KeyspaceDiff {
 public:
  KeyspaceDiff(uint16_t tallyd_port, uint16_t redis_port)
      : ours_(tallyd_port), theirs_(redis_port) {}

  bool Run() {
    for (database_ = 0; database_ < kDatabases; ++database_) {
      for (Wire* wire : {&ours_, &theirs_}) wire->Call({"SELECT", std::to_string(database_)});
      CompareDatabase();
    }
    std::printf("%zu keys compared, %zu differences\n", keys_, differences_);
    return differences_ == 0;
  }

 private:
  static std::set<std::string> KeysOf(Wire& wire) {
    const std::string bytes(wire.Call({"SCAN", "0", "COUNT", "1000000"}));
    const Reply scan = ParseReply(bytes);
    std::set<std::string> keys;
    for (const Reply& key : scan.parts[1].parts) keys.emplace(key.text);
    return keys;
  }

  void CompareDatabase() {
    const std::set<std::string> ours = KeysOf(ours_);
    const std::set<std::string> theirs = KeysOf(theirs_);
    std::set<std::string> all = ours;
    all.insert(theirs.begin(), theirs.end());
    for (const std::string& key : all) {
      ++keys_;
      if (!ours.contains(key)) Differ(key, "only redis has it");
      if (!theirs.contains(key)) Differ(key, "only tallyd has it");
      if (ours.contains(key) && theirs.contains(key)) CompareKey(key);
    }
  }

  void CompareKey(const std::string& key) {
    const std::string type(theirs_.Call({"TYPE", key}));
    Compare({"TYPE", key}, Rule::kExact);
    Compare({"PTTL", key}, Rule::kMillis);
    Compare({"OBJECT", "ENCODING", key}, Rule::kEncoding);
    if (type == "+string\r\n") Compare({"GET", key}, Rule::kExact);
    if (type == "+list\r\n") Compare({"LRANGE", key, "0", "-1"}, Rule::kExact);
    if (type == "+set\r\n") Compare({"SMEMBERS", key}, Rule::kAnyOrder);
    if (type == "+zset\r\n") Compare({"ZRANGE", key, "0", "-1", "WITHSCORES"}, Rule::kExact);
    if (type == "+hash\r\n") {
      const bool ordered = theirs_.Call({"OBJECT", "ENCODING", key}) == "$8\r\nlistpack\r\n";
      Compare({"HGETALL", key}, ordered ? Rule::kExact : Rule::kPairs);
    }
  }

  void Compare(const Request& request, Rule rule) {
    const std::string ours = Comparable(ours_.Call(request));
    const std::string theirs = Comparable(theirs_.Call(request));
    if (SameReply(rule, ours, theirs, "")) return;
    Differ(request.back() == "WITHSCORES" || request.back() == "-1" ? request[1] : request.back(),
           StrCat(request[0], ": tallyd ", Quoted(ours), " redis ", Quoted(theirs)));
  }

  void Differ(const std::string& key, const std::string& what) {
    ++differences_;
    std::printf("database %d, key %s: %s\n", database_, Quoted(key).c_str(), what.c_str());
  }

  Wire ours_;
  Wire theirs_;
  int database_ = 0;
  size_t keys_ = 0;
  size_t differences_ = 0;
};

}  // namespace

bool SameKeyspaces(uint16_t tallyd_port, uint16_t redis_port) {
  return KeyspaceDiff(tallyd_port, redis_port).Run();
}

}  // namespace tally::differential
