#include "server/aof/unsynced_batches.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>

namespace tally::server::unsynced_batches_test {

TEST_CASE("unsynced batches: long ones are taken over, and all stay in their order", "[aof]") {
  const std::string one_long(3 << 20, 'l');
  const std::string other_long(2 << 20, 'o');
  UnsyncedBatches batches(size_t{64} << 20);
  std::string expected;
  LogPosition end{1, 0, 0};
  const auto append = [&](std::string_view text) {
    std::string batch(text);
    const char* const bytes = batch.data();
    end.offset += batch.size();
    expected += batch;
    batches.Append(batch, end);
    // What was taken over is not left behind.
    CHECK((batch.data() != bytes) == (text.size() > 1 << 20));
  };
  batches.BeginGroup(end, 100);
  for (const std::string_view text : {std::string_view("a"), std::string_view(one_long),
                                      std::string_view(other_long), std::string_view("b")}) {
    append(text);
  }
  const LogPosition first_end = end;
  batches.BeginGroup(end, 200);
  append(one_long);
  append("c");
  CHECK(batches.size() == expected.size());
  CHECK(batches.Joined() == expected);
  CHECK(batches.SyncEnded().offset == first_end.offset);
  CHECK(batches.Joined() == expected.substr(first_end.offset));
  CHECK(batches.size() == expected.size() - first_end.offset);
  CHECK(batches.SyncEnded().offset == end.offset);
  CHECK(batches.size() == 0);
}

TEST_CASE("unsynced batches: a long batch counts for when a sync is due", "[aof]") {
  UnsyncedBatches batches(size_t{4} << 20);
  batches.BeginGroup({}, 0);
  std::string batch(3 << 20, 'x');
  batches.Append(batch, {});
  CHECK(batches.IsSyncDue(0));
  CHECK_FALSE(batches.IsBehind(0));
  std::string more(2 << 20, 'x');
  batches.Append(more, {});
  CHECK(batches.IsBehind(0));
}

}  // namespace tally::server::unsynced_batches_test
