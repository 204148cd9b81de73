#include "tests/differential/words.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/check.h"
#include "core/bytes/str_cat.h"
#include "tests/differential/scripts.h"

namespace tally::differential {
namespace {

using namespace std::string_view_literals;

constexpr int64_t kKeysOfPool = 8;
constexpr std::array kPools = {"string"sv, "list"sv, "hash"sv, "set"sv,  "intset"sv,
                               "zset"sv,   "hll"sv,  "bits"sv, "await"sv};
// What AnyKey gives none of.
constexpr std::array kClosedPools = {"lex"sv, "sort"sv};
constexpr std::array kExtremes = {"9223372036854775807"sv, "-9223372036854775808"sv,
                                  "9223372036854775806"sv, "-9223372036854775807"sv,
                                  "4611686018427387904"sv, "18446744073709551616"sv,
                                  "2147483648"sv,          "-2147483649"sv};
constexpr std::array kNotQuiteIntegers = {""sv,   "abc"sv, "1.5"sv, "+1"sv,   "01"sv, "-0"sv,
                                          " 1"sv, "1 "sv,  "1e3"sv, "0x10"sv, "-"sv,  "nan"sv};
constexpr std::array kNotQuiteDecimals = {""sv,     "abc"sv,    "nan"sv,  "1.5abc"sv,   " 1.5"sv,
                                          "1.5 "sv, "+2.5"sv,   "0x10"sv, "1e400"sv,    "-1e400"sv,
                                          "inf"sv,  "-inf"sv,   "+inf"sv, "infinity"sv, ".5"sv,
                                          "5."sv,   "1e-400"sv, "-nan"sv, "1,5"sv,      "1e5000"sv};
constexpr std::array kDecimals = {"0.1"sv,
                                  "0.2"sv,
                                  "3.14159"sv,
                                  "-2.75"sv,
                                  "1e3"sv,
                                  "1e17"sv,
                                  "1.0"sv,
                                  "-0.0"sv,
                                  "5e-7"sv,
                                  "123456789.125"sv,
                                  "1e300"sv,
                                  "3.0e2"sv,
                                  "0.30000000000000004"sv};
constexpr std::array kJunk = {""sv,      "abc"sv,        "1.5"sv,   "nan"sv,
                              "(1"sv,    "withscores"sv, "limit"sv, "99999999999999999999"sv,
                              "nx"sv,    "ex"sv,         "get"sv,   "withvalues"sv,
                              "count"sv, "1e3"sv,        "\r\n"sv};
// Not merely large: what is allowed would be allocated.
constexpr std::array kBadBitOffsets = {"-1"sv, "4294967296"sv, "abc"sv, ""sv, "1.5"sv};
constexpr std::array kCursors = {"abc"sv, "1x"sv, " 1"sv, "99999999999999999999999999"sv};
constexpr std::array kPatterns = {"*"sv,        "s*"sv,  "*:1"sv,   "*[0-5]"sv, "[^sl]*"sv,
                                  "hash:\\*"sv, "m*"sv,  "*1*"sv,   "none"sv,   "?*:?"sv,
                                  "*[a-z"sv,    "m??"sv, "[a-h]*"sv};
// Each ends within a moment: nobody else sends anything meanwhile.
constexpr std::array kTimeouts = {"0.001"sv, "1e-3"sv, "0.0015"sv, ".002"sv};
constexpr std::array kBadTimeouts = {"-1"sv, "-0.5"sv, "nan"sv, "abc"sv, ""sv, "1x"sv};
constexpr std::array kPrefixes = {"s"sv, "string:"sv, "list:"sv, "set:1"sv, ""sv};
constexpr std::array kLookups = {"#"sv, "string:*"sv, "hash:*->m1"sv, "string:1"sv, "none:*"sv};
constexpr std::array kAclRules = {"on"sv,
                                  "off"sv,
                                  "nopass"sv,
                                  ">secret"sv,
                                  "<secret"sv,
                                  "resetpass"sv,
                                  "allkeys"sv,
                                  "~s*"sv,
                                  "%R~l*"sv,
                                  "%W~z*"sv,
                                  "resetkeys"sv,
                                  "+@all"sv,
                                  "-@all"sv,
                                  "-@write"sv,
                                  "+@read"sv,
                                  "-@dangerous"sv,
                                  "+get"sv,
                                  "-set"sv,
                                  "+config|get"sv,
                                  "-client|kill"sv,
                                  "+@scripting"sv,
                                  "&*"sv,
                                  "&m*"sv,
                                  "resetchannels"sv,
                                  "reset"sv,
                                  "(+get ~z*)"sv,
                                  "(+@write ~l* ~h*)"sv,
                                  "clearselectors"sv,
                                  "bogus"sv,
                                  "+nosuch"sv};
constexpr std::array kTypes = {"string"sv, "list"sv,   "set"sv,    "zset"sv,
                               "hash"sv,   "stream"sv, "nothing"sv};

// Instants of the far future and seconds that end after any run.
constexpr int64_t kFarUnixSeconds = 4'102'444'800;  // 2100
constexpr int64_t kFarSeconds = 100'000;
constexpr int64_t kSpreadSeconds = 10'000'000;

}  // namespace

void Words::SetClients(std::vector<std::string> listeners, std::vector<std::string> clients) {
  listeners_ = std::move(listeners);
  clients_ = std::move(clients);
}

void Words::Append(std::string_view name, Request& request) {
  if (name == "expiry") {
    constexpr std::array kUnits = {"EX"sv, "PX"sv, "EXAT"sv, "PXAT"sv};
    constexpr std::array kKinds = {"seconds"sv, "ms"sv, "unix"sv, "unixms"sv};
    const size_t unit = random_.Below(kUnits.size());
    request.emplace_back(kUnits[unit]);
    request.push_back(One(kKinds[unit]));
  } else if (!AppendKeys(name, request)) {
    request.push_back(One(name));
  }
}

bool Words::AppendKeys(std::string_view name, Request& request) {
  constexpr std::string_view kPrefix = "keys:";
  if (!name.starts_with(kPrefix)) return false;
  const auto keys = static_cast<int64_t>(random_.Below(3) + 1);
  const int64_t told = random_.Percent(96) ? keys : random_.Between(-1, 5);
  request.push_back(std::to_string(told));
  for (int64_t i = 0; i < keys; ++i) request.push_back(One(name.substr(kPrefix.size())));
  return true;
}

std::string Words::One(std::string_view name) {
  static constexpr Kind kKinds[] = {
      {"any", [](Words& w) { return w.AnyKey(); }},
      {"sorted", [](Words& w) { return w.Key(w.random_.Percent(70) ? "zset" : "set"); }},
      {"value", [](Words& w) { return w.Value(); }},
      {"element", [](Words& w) { return w.Element(); }},
      {"member", [](Words& w) { return w.Member(); }},
      {"small", [](Words& w) { return std::to_string(w.random_.Between(-30, 60)); }},
      {"int", [](Words& w) { return w.Integer(); }},
      {"float", [](Words& w) { return w.Decimal(); }},
      {"score", [](Words& w) { return w.Score(); }},
      {"weight", [](Words& w) { return w.Score(); }},
      {"bound", [](Words& w) { return w.Bound(); }},
      {"lexbound", [](Words& w) { return w.LexBound(); }},
      {"index", [](Words& w) { return w.Index(); }},
      {"count",
       [](Words& w) {
         return w.random_.Percent(94) ? std::to_string(w.random_.Below(8)) : w.Integer();
       }},
      {"positive", [](Words& w) { return std::to_string(w.random_.Between(1, 50)); }},
      {"negative", [](Words& w) { return std::to_string(w.random_.Between(-50, -1)); }},
      {"bit",
       [](Words& w) {
         return w.random_.Percent(95) ? std::to_string(w.random_.Below(2)) : w.Integer();
       }},
      {"bitoffset",
       [](Words& w) {
         return w.random_.Percent(95) ? std::to_string(w.random_.Below(400))
                                      : std::string(w.random_.OneOf(kBadBitOffsets));
       }},
      {"field", [](Words& w) { return w.Field(); }},
      {"fieldoffset", [](Words& w) { return w.FieldOffset(); }},
      {"offset",
       [](Words& w) {
         return w.random_.Percent(95)   ? std::to_string(w.random_.Below(200))
                : w.random_.Percent(50) ? std::string("536870912")
                                        : w.Index();
       }},
      {"db",
       [](Words& w) {
         return w.random_.Percent(95) ? std::to_string(w.random_.Below(3)) : w.Integer();
       }},
      {"seconds", [](Words& w) { return w.Deadline(kFarSeconds, kFarSeconds + kSpreadSeconds); }},
      {"ms",
       [](Words& w) {
         return w.Deadline(kFarSeconds * 1000, (kFarSeconds + kSpreadSeconds) * 1000);
       }},
      {"unix",
       [](Words& w) { return w.Deadline(kFarUnixSeconds, kFarUnixSeconds + kSpreadSeconds); }},
      {"unixms",
       [](Words& w) {
         return w.Deadline(kFarUnixSeconds * 1000, (kFarUnixSeconds + kSpreadSeconds) * 1000);
       }},
      {"cursor", [](Words& w) { return std::string(w.random_.OneOf(kCursors)); }},
      {"pattern", [](Words& w) { return std::string(w.random_.OneOf(kPatterns)); }},
      {"type", [](Words& w) { return std::string(w.random_.OneOf(kTypes)); }},
      {"junk", [](Words& w) { return w.Junk(); }},
  };
  return Make(kKinds, name, &Words::OneBesideValues);
}

std::string Words::OneBesideValues(std::string_view name) {
  static constexpr Kind kKinds[] = {
      {"timeout", [](Words& w) { return w.Timeout(); }},
      {"channel", [](Words& w) { return StrCat("m", std::to_string(w.random_.Below(6))); }},
      {"prefix", [](Words& w) { return std::string(w.random_.OneOf(kPrefixes)); }},
      {"lookup", [](Words& w) { return std::string(w.random_.OneOf(kLookups)); }},
      {"listener", [](Words& w) { return w.random_.OneOf(w.listeners_); }},
      {"client",
       [](Words& w) {
         return w.random_.Percent(95) ? w.random_.OneOf(w.clients_) : std::string("999999");
       }},
      {"user", [](Words& w) { return StrCat("user", std::to_string(w.random_.Below(3))); }},
      {"aclrule", [](Words& w) { return std::string(w.random_.OneOf(kAclRules)); }},
      {"script", [](Words& w) { return std::string(SomeScript(w.random_)); }},
      {"caller", [](Words& w) { return std::string(CallingScript(w.random_)); }},
      {"sha", [](Words& w) { return w.ScriptName(SomeScript(w.random_)); }},
      {"callersha", [](Words& w) { return w.ScriptName(CallingScript(w.random_)); }},
  };
  return Make(kKinds, name, &Words::Key);
}

std::string Words::Make(std::span<const Kind> kinds, std::string_view name,
                        std::string (Words::*otherwise)(std::string_view)) {
  const auto kind =
      std::find_if(kinds.begin(), kinds.end(), [&](const Kind& one) { return one.name == name; });
  return kind != kinds.end() ? kind->make(*this) : (this->*otherwise)(name);
}

std::string Words::Key(std::string_view pool) {
  const bool closed =
      std::find(kClosedPools.begin(), kClosedPools.end(), pool) != kClosedPools.end();
  Check(closed || std::find(kPools.begin(), kPools.end(), pool) != kPools.end(),
        "a line of the grammar names a kind of argument");
  if (random_.Percent(2)) return StrCat(pool, ":none");
  if (random_.Percent(5) && !closed) return AnyKey();
  return StrCat(pool, ":", std::to_string(random_.Below(kKeysOfPool)));
}

std::string Words::AnyKey() {
  return StrCat(random_.OneOf(kPools), ":", std::to_string(random_.Below(kKeysOfPool)));
}

std::string Words::Junk() { return std::string(random_.OneOf(kJunk)); }

std::string Words::Element() {
  if (random_.Percent(40)) return std::to_string(random_.Between(-20, 20));
  if (random_.Percent(90)) return std::to_string(1'700'000'000'000 + random_.Between(0, 100'000));
  return random_.Percent(30) ? Value() : Member();
}

std::string Words::Member() {
  const uint64_t kind = random_.Below(100);
  if (kind < 60) return StrCat("m", std::to_string(random_.Below(60)));
  if (kind < 92) return std::to_string(random_.Between(-10, 50));
  if (kind < 94) return "";
  if (kind < 96) return std::string(random_.OneOf(kExtremes));
  if (kind < 98) return std::string(60 + random_.Below(10), 'x');
  return std::string("\0\xff\r\n", 4) + std::to_string(random_.Below(3));
}

std::string Words::Value() {
  const uint64_t kind = random_.Below(100);
  if (kind < 35) return std::to_string(random_.Between(-1000, 100'000));
  if (kind < 45) return std::string(random_.OneOf(kDecimals));
  if (kind < 50) return std::string(random_.OneOf(kExtremes));
  if (kind < 55) return std::string(random_.OneOf(kNotQuiteIntegers));
  if (kind < 60) return std::string("\0\xff\r\n", 4) + std::to_string(random_.Below(3));
  if (kind < 70) return std::string(random_.Below(120), 'y');
  return Member();
}

std::string Words::Integer() {
  const uint64_t kind = random_.Below(100);
  if (kind < 80) return std::to_string(random_.Between(-20, 20));
  if (kind < 90) return std::string(random_.OneOf(kExtremes));
  return std::string(random_.OneOf(kNotQuiteIntegers));
}

std::string Words::Decimal() {
  const uint64_t kind = random_.Below(100);
  if (kind < 50) return std::string(random_.OneOf(kDecimals));
  if (kind < 60) return std::string(random_.OneOf(kNotQuiteDecimals));
  return Integer();
}

std::string Words::Score() {
  const uint64_t kind = random_.Below(100);
  if (kind < 50) return std::to_string(random_.Between(-10, 30));
  if (kind < 80) {
    return StrCat(std::to_string(random_.Between(-10, 30)), random_.Percent(50) ? ".25" : ".5");
  }
  if (kind < 92) return std::to_string(1'700'000'000'000 + random_.Between(0, 100'000));
  if (kind < 95) return random_.Percent(50) ? "inf" : "-inf";
  return std::string(random_.Percent(60) ? random_.OneOf(kDecimals)
                                         : random_.OneOf(kNotQuiteDecimals));
}

std::string Words::Bound() {
  const uint64_t kind = random_.Below(100);
  if (kind < 15) return "-inf";
  if (kind < 30) return "+inf";
  return StrCat(kind < 50 ? "(" : "", Score());
}

std::string Words::LexBound() {
  const uint64_t kind = random_.Below(100);
  if (kind < 15) return "-";
  if (kind < 30) return "+";
  if (kind < 33) return Junk();
  return StrCat(kind < 60 ? "(" : "[", Member());
}

std::string Words::Field() {
  const int64_t width = random_.Percent(95) ? random_.Between(1, 63) : random_.Between(-1, 66);
  return (random_.Percent(50) ? "i" : "u") + std::to_string(width);
}

std::string Words::FieldOffset() {
  return random_.Percent(30) ? "#" + std::to_string(random_.Between(-1, 12))
                             : std::to_string(random_.Below(300));
}

std::string Words::Index() {
  return random_.Percent(95) ? std::to_string(random_.Between(-12, 15)) : Integer();
}

std::string Words::Timeout() {
  return std::string(random_.Percent(90) ? random_.OneOf(kTimeouts) : random_.OneOf(kBadTimeouts));
}

std::string Words::ScriptName(std::string_view text) {
  std::string name = NameOfScript(text);
  if (random_.Percent(10)) return absl::AsciiStrToUpper(name);
  return random_.Percent(97) ? name : Junk();
}

std::string Words::Deadline(int64_t low, int64_t high) {
  const uint64_t kind = random_.Below(100);
  if (kind < 90) return std::to_string(random_.Between(low, high));
  if (kind < 94) return std::to_string(random_.Between(-2, 0));
  return random_.Percent(50) ? Junk() : std::string(random_.OneOf(kExtremes));
}

}  // namespace tally::differential
