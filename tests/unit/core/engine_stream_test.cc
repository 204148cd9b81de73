#include "core/snapshot/engine_stream.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>

#include "core/bytes/str_cat.h"
#include "core/engine/hit_counters.h"
#include "core/engine/limits.h"
#include "core/limit/policy_table.h"
#include "random_seed.h"

namespace tally::engine_stream_test {
namespace {

constexpr int64_t kNow = 1'795'230'400'000;

struct TestEngine {
  UtcOnly zones;
  Engine engine{2, 42, zones};
};

std::string Saved(const Engine& engine) {
  std::string saved;
  const absl::Status status = SaveEngine(engine, [&](std::string_view bytes) {
    REQUIRE(bytes.size() < 2 * kMaxFrameBytes);
    saved += bytes;
    return absl::OkStatus();
  });
  REQUIRE(status.ok());
  return saved;
}

void Fill(Engine& engine) {
  engine.policies().Set("login", {"FIXED", "3", "60s"});
  engine.database(1).SetString("text", std::string(300'000, 't'), kNoDeadline, kNow);
  engine.database(1).SetString(std::string(200'000, 'k'), std::string(200, 't'), kNoDeadline, kNow);
  for (int i = 0; i < 1'000; ++i) {
    engine.database(0).SetInteger(StrCat("key", i), i, i % 2 == 0 ? kNow + i : kNoDeadline, kNow);
    std::optional<int64_t> hits;
    HitCounters({engine, 0, kNow})
        .Add("hits", {.window_ms = 60'000, .time = {kNow + i * 7, kNow + i * 7}}, hits);
  }
}

void RequireFilled(Engine& engine) {
  REQUIRE(engine.policies().size() == 1);
  REQUIRE(engine.database(0).size() == 1'001);
  REQUIRE(engine.database(0).Peek("key998").integer() == 998);
  REQUIRE(engine.database(0).Peek("key998").deadline_ms() == kNow + 998);
  REQUIRE(engine.database(1).Peek("text").bytes() == std::string(300'000, 't'));
  REQUIRE(engine.database(1).Peek(std::string(200'000, 'k')).bytes() == std::string(200, 't'));
  int64_t hits = 0;
  HitCounters({engine, 0, kNow}).Count("hits", 60'000, EventInstants::Now(kNow + 7'000), hits);
  REQUIRE(hits == 1'000);
}

TEST_CASE("an engine is saved to a sink and comes back, also in parts of any size") {
  TestEngine filled;
  Fill(filled.engine);
  const std::string saved = Saved(filled.engine);
  TestEngine whole;
  REQUIRE(LoadEngine(whole.engine, saved).ok());
  RequireFilled(whole.engine);
  for (const size_t part : {size_t{1}, size_t{13}, size_t{100'000}}) {
    TestEngine loaded;
    EngineLoader loader(loaded.engine);
    for (size_t at = 0; at < saved.size(); at += part) {
      REQUIRE(loader.Add(std::string_view(saved).substr(at, part)).ok());
    }
    REQUIRE(loader.Finish().ok());
    RequireFilled(loaded.engine);
  }
  TestEngine empty;
  TestEngine loaded;
  REQUIRE(LoadEngine(loaded.engine, Saved(empty.engine)).ok());
  REQUIRE(loaded.engine.database(0).size() == 0);
}

TEST_CASE("a stream that is cut or changed anywhere is refused") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  TestEngine filled;
  for (int i = 0; i < 20; ++i)
    filled.engine.database(0).SetInteger(StrCat(i), i, kNoDeadline, kNow);
  const std::string saved = Saved(filled.engine);
  for (size_t end = 0; end < saved.size(); ++end) {
    TestEngine loaded;
    REQUIRE(LoadEngine(loaded.engine, std::string_view(saved).substr(0, end)).code() ==
            absl::StatusCode::kDataLoss);
  }
  for (size_t at = 0; at < saved.size(); ++at) {
    std::string broken = saved;
    broken[at] = static_cast<char>(broken[at] ^ (1 + random.Below(255)));
    TestEngine loaded;
    REQUIRE(LoadEngine(loaded.engine, broken).code() == absl::StatusCode::kDataLoss);
  }
  TestEngine loaded;
  REQUIRE_FALSE(LoadEngine(loaded.engine, saved + "x").ok());
}

TEST_CASE("an engine with fewer databases refuses a stream, and an error of the sink ends saving") {
  TestEngine filled;
  Fill(filled.engine);
  UtcOnly zones;
  Engine small(1, 7, zones);
  REQUIRE(LoadEngine(small, Saved(filled.engine)).code() == absl::StatusCode::kFailedPrecondition);
  int calls = 0;
  const absl::Status status = SaveEngine(filled.engine, [&](std::string_view) {
    ++calls;
    return absl::ResourceExhaustedError("full");
  });
  REQUIRE(status.message() == "full");
  REQUIRE(calls == 1);
}

}  // namespace
}  // namespace tally::engine_stream_test
