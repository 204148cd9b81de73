// Whatever a loader of core accepts can be used, saved and loaded again. A value of any type is
// made by commands and saved; bytes of the records are changed; what is still accepted is changed
// by more commands, while the clock goes forward and back; then it is saved and loaded, and must
// answer as before.
//
// The input is read as numbers that choose each of these steps. All commands are of one type.
#include <absl/status/status.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/bytes/byte_blocks.h"
#include "core/bytes/str_cat.h"
#include "core/engine/engine.h"
#include "core/keyspace/value.h"
#include "core/snapshot/record_codec.h"
#include "core/table/cursor_code.h"
#include "core/tzdata/tzdata_zones.h"
#include "server/command/command_context.h"
#include "server/command/command_host.h"
#include "server/commands/families.h"
#include "server/effects/effect_stream.h"
#include "server/resp/reply.h"

namespace {

using tally::Check;
using tally::CursorCode;
using tally::Engine;
using tally::Keyspace;
using namespace tally::server;

constexpr int64_t kStart = 1'700'000'000'000;  // unix ms
constexpr std::string_view kKey = "k";

// In a command of these lists %i is an id, %n a number, %d a duration, %a an instant, %c a date.
struct TypeCommands {
  std::vector<std::string_view> writes;
  std::vector<std::string_view> reads;
};

const TypeCommands kTypes[] = {
    {{"HITS.ADD k %d", "HITS.ADD k %d COUNT %n", "HITS.ADD k %d AT %a", "HITS.UNDO k",
      "HITS.UNDO k %n", "HITS.ADD k %d COUNT %n AT %a"},
     {"HITS.SHOW k", "HITS.COUNT k", "HITS.RANGE k FROM 0 TO 9999999 STEP 1000s"}},
    {{"LIMIT.TAKE k FIXED %n %d",
      "LIMIT.TAKE k SLIDING %n %d COST %n",
      "LIMIT.FORCE k ROLLING %n %d",
      "LIMIT.TAKE k BUCKET %n %n %d",
      "LIMIT.TAKE k CALENDAR %n day TZ Asia/Shanghai",
      "LIMIT.FORCE k SLIDING %n %d AT %a",
      "LIMIT.FORCE k FIXED %n %d COST %n AT %a",
      "LIMIT.GIVE k %n",
      "LIMIT.GIVE k %n AT %a",
      "LIMIT.FORCE k CALENDAR 5 month AT %a",
      "LIMIT.FORCE k BUCKET %n 1 %d COST %n",
      "CL.THROTTLE k %n %n %n %n",
      "LIMIT.RESERVE %i %d k FIXED %n %d COST %n",
      "LIMIT.RESERVE %i %d k SLIDING %n %d CONCURRENT %n",
      "LIMIT.RESERVE %i %d k CONCURRENT 9",
      "LIMIT.RESERVE %i %d k BASE 3 5 %d BUCKET 5 1 %d SHADOW ROLLING 3 %d COST %n",
      "LIMIT.COMMIT %i k COST %n",
      "LIMIT.COMMIT %i k COST %n LATE KEEP",
      "LIMIT.COMMIT %i k COST %n FORCE",
      "LIMIT.EXTEND %i %d k COST %n",
      "LIMIT.EXTEND %i %d k",
      "LIMIT.CANCEL %i k",
      "LIMIT.TAKE k LOCKOUT %n %d %d ONCE %i",
      "LIMIT.TAKE k SHADOW SLIDING %n %d SHADOW BUCKET 5 1 %d"},
     {"LIMIT.HELD k", "LIMIT.SHOW k",
      "LIMIT.PEEK k SLIDING 5 1m FIXED 9 10s BUCKET 5 1 1s CALENDAR 5 day"}},
    {{"ACTIVE.TOUCH k %i", "ACTIVE.TOUCH k %i %i %i", "ACTIVE.TOUCH k %i AT %a",
      "ACTIVE.TOUCH k %i %i AT %a", "ACTIVE.FORGET k %i", "ACTIVE.CREATE k WINDOW %d KEEP %d",
      "ACTIVE.CREATE k WINDOW %d TZ Europe/Berlin KEEP %d", "ACTIVE.ONLINE k",
      "ACTIVE.ALTER k WINDOW %d", "ACTIVE.ALTER k KEEP %d"},
     {"ACTIVE.ONLINE k", "ACTIVE.PEAK k", "ACTIVE.PEAK k DAY %c", "ACTIVE.DAY k DAYS 40",
      "ACTIVE.USERS k FROM 2023-10-20 TO 2023-12-20", "ACTIVE.SCAN k 0 COUNT 100",
      "ACTIVE.SERIES k FROM %a TO %a STEP 1h", "ACTIVE.SEEN k 1", "ACTIVE.SEEN k ann"}},
    {{"QUOTA.SETLIMIT k %i %i %n %d", "QUOTA.BUY k %i %i ITEMS %i %i %n",
      "QUOTA.RECORD k %i %i ITEMS %i %i %n %i 0 %n", "QUOTA.RECORD k %i %i ITEMS %i %i %n AT %a",
      "QUOTA.RETURN k %i %i ITEMS %i %n", "QUOTA.RETURN k %i %i ITEMS %i %n AT %a ONCE",
      "QUOTA.DELLIMIT k %i", "QUOTA.DELLIMIT k %i ACTIONS %i", "QUOTA.RESET k %i",
      "QUOTA.RESET k %i ACTIONS %i", "QUOTA.BUY k %i %i ITEMS %i %i 1 AT %a ONCE",
      "QUOTA.SETLIMIT k %i 0 %n 30d", "QUOTA.BUY k %i %i ITEMS %i %i %n HOLD %d",
      "QUOTA.RECORD k %i %i ITEMS %i 0 %n AT %a HOLD %d", "QUOTA.CONFIRM k %i %i"},
     {"QUOTA.HISTORY k 1", "QUOTA.HISTORY k ann", "QUOTA.LEFT k 1 1 ann 77",
      "QUOTA.LEFT k ann 1 ann", "QUOTA.LEFTBYUSER k 1 ann 9007199254740993",
      "QUOTA.LIMITS k 1 ann 77", "QUOTA.SHOW k 1 1 ann 77", "QUOTA.SHOW k ann 1 ann 77"}},
    {{"RPUSH k %i", "LPUSH k %n", "RPUSH k %n %n %n", "LPOP k", "RPOP k", "LSET k 0 %i",
      "LSET k 1 %n", "LREM k 0 %n", "LTRIM k 0 %n", "LINSERT k BEFORE %n %i", "RPUSH k %i %i %i"},
     {"LRANGE k 0 -1", "LLEN k", "LINDEX k -1"}},
    {{"HSET k %i %n", "HSET k %i %i %i %i", "HDEL k %i", "HINCRBY k %i %n", "HSETNX k %i %i"},
     {"HLEN k", "HGET k 1", "HGET k ann", "HSTRLEN k ann"}},
    {{"SADD k %n", "SADD k %i", "SADD k %n %n %n", "SREM k %n", "SREM k %i", "SADD k %i %i"},
     {"SCARD k", "SISMEMBER k 1", "SISMEMBER k ann"}},
    {{"ZADD k %n %i", "ZADD k %n %n %n %i", "ZREM k %i", "ZINCRBY k %n %i", "ZPOPMIN k",
      "ZREMRANGEBYRANK k 0 0", "ZADD k %a ann"},
     {"ZRANGE k 0 -1 WITHSCORES", "ZCARD k", "ZRANK k ann"}},
    {{"SET k %i", "SET k %n", "APPEND k %i", "INCRBY k %n", "SETRANGE k 3 %i", "SETBIT k 77 1",
      "PFADD k %i %n", "SET k %n PX 5000"},
     {"PFCOUNT k", "GET k", "STRLEN k"}},
};

constexpr std::string_view kIds[] = {"1",
                                     "2",
                                     "0",
                                     "ann",
                                     "ben",
                                     "77",
                                     "9007199254740993",
                                     "-5",
                                     "a rather long text that is not packed in a few bytes"};
constexpr std::string_view kNumbers[] = {
    "1", "2", "3", "0", "5", "100", "1000", "65536", "2147483647", "9223372036854775807"};
constexpr std::string_view kDurations[] = {"1s", "10s", "1m", "1h", "24h", "30d", "3650d", "7ms"};
constexpr std::string_view kDates[] = {"2023-11-14", "2023-11-15", "1970-01-01", "2023-10-31"};
constexpr int64_t kSteps[] = {0,
                              1,
                              1000,
                              60'000,
                              3'600'000,
                              86'400'000,
                              40ll * 86'400'000,
                              400ll * 86'400'000,
                              -1,
                              -1000,
                              -60'000,
                              -3'600'000,
                              -86'400'000,
                              -40ll * 86'400'000};

// The input as numbers; zeros after its end.
class Numbers {
 public:
  Numbers(const uint8_t* data, size_t size) : rest_(data, size) {}

  bool done() const { return rest_.empty(); }
  uint8_t Next() {
    if (rest_.empty()) return 0;
    const uint8_t number = rest_.front();
    rest_ = rest_.subspan(1);
    return number;
  }
  template <typename T, size_t kSize>
  T Choose(const T (&from)[kSize]) {
    return from[Next() % kSize];
  }

 private:
  std::span<const uint8_t> rest_;
};

class World : private Keyspace::Observer, private KeyEvents {
 public:
  World() { engine.set_observer(this); }
  ~World() { engine.set_observer(nullptr); }

  std::string Run(std::string_view text, int64_t now) {
    std::vector<std::string_view> words;
    for (size_t at = 0; at <= text.size();) {
      const size_t end = std::min(text.find('|', at), text.size());
      words.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    const CommandEntry* entry = commands_.Resolve(words);
    Check(entry != nullptr && ArityFits(*entry->command, words.size()), "a command of this file");
    tally::ByteBlocks output;
    ReplyBuilder reply(output);
    CommandContext context(
        host_, reply,
        {.entry = *entry, .args = words, .database = 0, .now_ms = now, .replaying = false});
    entry->command->handler.Run(context);
    engine.reclaimer().FreeSome(SIZE_MAX);
    return output.Joined();
  }

  tally::TzdataZones zones;
  Engine engine{1, 42, zones};

 private:
  void OnExpired(Keyspace&, std::string_view) override {}
  void Changed(uint32_t, std::string_view, size_t, std::string_view) override {}
  void Touched(size_t, std::string_view) override {}
  void Notify(uint32_t, std::string_view, size_t, std::string_view) override {}

  CommandTable commands_{ValueFamilies()};
  tally::ValueLimits limits_;
  EffectStream effects_;
  Lookups lookups_;
  CommandHost host_{.engine = engine,
                    .commands = commands_,
                    .limits = limits_,
                    .effects = effects_,
                    .key_events = *this,
                    .lookups = lookups_,
                    .cursors = CursorCode(1),
                    .random = std::mt19937_64(1)};
};

// The words of a command, with '|' between them, since an id may have blanks.
std::string Filled(std::string_view form, Numbers& numbers, int64_t now) {
  std::string text;
  for (size_t i = 0; i < form.size(); ++i) {
    if (form[i] == ' ') {
      text += '|';
    } else if (form[i] != '%') {
      text += form[i];
    } else if (const char kind = form[++i]; kind == 'i') {
      text += numbers.Choose(kIds);
    } else if (kind == 'n') {
      text += numbers.Choose(kNumbers);
    } else if (kind == 'd') {
      text += numbers.Choose(kDurations);
    } else if (kind == 'c') {
      text += numbers.Choose(kDates);
    } else {
      tally::StrAppend(text, std::max<int64_t>(now + numbers.Choose(kSteps), 0), "ms");
    }
  }
  return text;
}

void Use(World& world, const TypeCommands& type, Numbers& numbers, size_t most, int64_t& now) {
  for (size_t i = 0; i < most && !numbers.done(); ++i) {
    const uint8_t choice = numbers.Next();
    // One in four is a step of the clock before the command.
    if (choice % 4 == 0) now = std::max<int64_t>(now + numbers.Choose(kSteps), 0);
    world.Run(Filled(type.writes[choice / 4 % type.writes.size()], numbers, now), now);
  }
}

using Records = std::vector<std::string>;

// The records of the key, in runs of about `run_bytes`; none if there is no key.
Records Save(World& world, size_t run_bytes) {
  Keyspace& keyspace = world.engine.database(0);
  const Keyspace::Entry entry = keyspace.Peek(kKey);
  Records records;
  if (!entry) return records;
  if (!entry.is_heap()) {
    tally::EncodeSmallEntry(0, entry, records.emplace_back());
    return records;
  }
  uint64_t cursor = 0;
  do {
    std::string& record = records.emplace_back();
    if (records.size() == 1) {
      tally::BeginFirstRun(0, entry, record);
    } else {
      tally::BeginFurtherRun(0, kKey, record);
    }
    cursor = tally::OperationsOf(entry.type()).save(entry.pointer(), cursor, run_bytes, record);
  } while (cursor != 0);
  return records;
}

bool Load(World& world, const Records& records) {
  return std::all_of(records.begin(), records.end(), [&](const std::string& record) {
    return tally::DecodeRecord(record, world.engine).ok();
  });
}

void ChangeBytes(Records& records, Numbers& numbers) {
  for (size_t changes = numbers.Next() % 6; changes > 0; --changes) {
    std::string& record = records[numbers.Next() % records.size()];
    const size_t place = (numbers.Next() + size_t{256} * (numbers.Next() % 4)) % record.size();
    const uint8_t how = numbers.Next();
    if (how % 8 == 0) {
      record.insert(place, 1, static_cast<char>(numbers.Next()));
    } else if (how % 8 == 1) {
      record.erase(place, 1 + numbers.Next() % 4);
      if (record.empty()) record.push_back(0);
    } else if (how % 8 < 5) {
      record[place] = static_cast<char>(record[place] ^ (1 << how / 8 % 8));
    } else {
      record[place] = static_cast<char>(numbers.Next());
    }
  }
}

// How the value answers to reads; its type and its deadline.
std::string Answers(World& world, const TypeCommands& type, int64_t now) {
  const Keyspace::Entry entry = world.engine.database(0).Peek(kKey);
  if (!entry || entry.expired(now)) return "none";
  std::string all = tally::StrCat(tally::TypeName(entry.type()), " ", entry.deadline_ms());
  for (const std::string_view form : type.reads) {
    Numbers zeros(nullptr, 0);
    all += world.Run(Filled(form, zeros, now), now);
  }
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Numbers numbers(data, size);
  const TypeCommands& type = kTypes[numbers.Next() % std::size(kTypes)];
  constexpr size_t kRunBytes[] = {16, 60, 200, 65536};
  int64_t now = kStart;
  World world;
  Use(world, type, numbers, numbers.Next() % 64, now);
  Records records = Save(world, numbers.Choose(kRunBytes));
  if (records.empty()) return 0;
  ChangeBytes(records, numbers);
  World changed;
  if (!Load(changed, records)) return 0;
  Use(changed, type, numbers, SIZE_MAX, now);
  const std::string answers = Answers(changed, type, now);
  World loaded;
  Check(Load(loaded, Save(changed, numbers.Choose(kRunBytes))), "what is saved can be loaded");
  Check(Answers(loaded, type, now) == answers, "what is loaded answers as before");
  Use(loaded, type, numbers, SIZE_MAX, now);
  return 0;
}
