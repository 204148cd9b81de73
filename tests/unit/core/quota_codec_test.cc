#include <catch2/catch.hpp>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "core/quota/entity_key.h"
#include "core/quota/limit_block.h"
#include "core/quota/purchase_block.h"
#include "core/quota/return_marks.h"
#include "random_seed.h"

namespace tally::quota_codec_test {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int32_t kMaxQty = std::numeric_limits<int32_t>::max();

// The texts of what it returns are in `block`.
UserPurchases RoundTrip(const UserPurchases& user, std::string& block) {
  EncodePurchases(user, block);
  UserPurchases decoded;
  REQUIRE(DecodePurchases(block, decoded));
  return decoded;
}

int64_t AnyInt64(test::SeededRandom& random) {
  switch (random.Below(6)) {
    case 0:
      return random.Between(-2, 2);
    case 1:
      return kMin + random.Between(0, 2);
    case 2:
      return kMax - random.Between(0, 2);
    default:
      return static_cast<int64_t>(random.Next() >> random.Below(64)) * (random.OneIn(2) ? 1 : -1);
  }
}

const std::string kMostBytes(kMaxQuotaIdBytes, '\xff');
const QuotaId kTexts[] = {QuotaId::Text(""),
                          QuotaId::Text("007"),
                          QuotaId::Text({"\0\r\n", 3}),
                          QuotaId::Text("order-1234567890"),
                          QuotaId::Text(std::string_view(kMostBytes).substr(0, 63)),
                          QuotaId::Text(std::string_view(kMostBytes).substr(0, 64)),
                          QuotaId::Text(kMostBytes)};

// Of a text the number is positive, but the block need not know.
BookId AnyBookId(test::SeededRandom& random) { return {AnyInt64(random), random.OneIn(3)}; }

UserPurchases AnyUser(test::SeededRandom& random) {
  UserPurchases user;
  const size_t lines = 1 + random.Below(20);
  for (size_t i = 0; i < lines; ++i) {
    PurchaseLine line;
    if (i > 0 && random.OneIn(2)) line = user.lines.back();
    if (i == 0 || random.OneIn(2)) {
      line.order = random.OneIn(3) ? kTexts[random.Below(std::size(kTexts))] : AnyInt64(random);
      line.ts_ms = AnyInt64(random);
      line.recorded_ms = random.OneIn(2) ? line.ts_ms : AnyInt64(random);
    }
    line.sku = AnyBookId(random);
    line.action = random.OneIn(2) ? 0 : AnyBookId(random);
    line.qty = static_cast<int32_t>(random.Next() & kMaxQty) >> random.Below(31);
    line.resets = static_cast<uint8_t>(random.Below(8) < 4 ? 0 : random.Below(4));
    user.lines.push_back(line);
  }
  for (size_t i = random.Below(5); i > 0; --i) {
    const PurchaseLine& line = user.lines[random.Below(lines)];
    user.returns.push_back({line.order, AnyBookId(random), AnyInt64(random)});
  }
  return user;
}

TEST_CASE("purchases of any numbers survive their block") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (int i = 0; i < 3000; ++i) {
    const UserPurchases user = AnyUser(random);
    std::string block;
    const UserPurchases decoded = RoundTrip(user, block);
    REQUIRE(decoded.lines == user.lines);
    REQUIRE(decoded.returns == user.returns);
  }
}

TEST_CASE("a line of extremes survives") {
  for (const int64_t extreme : {kMin, int64_t{0}, kMax}) {
    const UserPurchases user{{{extreme, extreme, extreme, extreme, kMin, kMaxQty, 3},
                              {kMin, kMax, kMin, kMax, kMax, 0, kNotReset},
                              {kMax, kMin, kMax, kMin, kMin, 6, kNotReset},
                              {kMax, kMin, kMax, kMin, kMin, 7, kNotReset}},
                             {{extreme, kMin, kMax}, {kMax, kMax, kMin}}};
    std::string block;
    const UserPurchases decoded = RoundTrip(user, block);
    REQUIRE(decoded.lines == user.lines);
    REQUIRE(decoded.returns == user.returns);
  }
}

TEST_CASE("returns of an order without lines are left out of the block") {
  const UserPurchases user{{{5, 1, 0, 1000, 1000, 1, kNotReset}}, {{4, 1, 7}, {5, 1, 8}}};
  const std::vector<ReturnMark> kept = {{5, 1, 8}};
  std::string block;
  REQUIRE(RoundTrip(user, block).returns == kept);
}

TEST_CASE("texts cost their bytes and a few more in a block, and integers what they always did") {
  const auto bytes = [](const QuotaId& order, BookId sku, BookId action) {
    std::string block;
    EncodePurchases({{{order, sku, action, kTimeBaseMs, kTimeBaseMs, 1, kNotReset}}, {}}, block);
    return block.size();
  };
  REQUIRE(bytes(7, 5, 0) == 6);
  REQUIRE(bytes(QuotaId::Text("0123456789"), 5, 0) == 6 + 10 + 2);
  REQUIRE(bytes(7, {5, true}, 0) == 6 + 2);
  REQUIRE(bytes(7, {5, true}, {1, true}) == 6 + 3);
  REQUIRE(bytes(7, {5, true}, 1) == 6 + 3);
}

TEST_CASE("no prefix and no flipped byte of a block is read past its end") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (int i = 0; i < 300; ++i) {
    std::string block;
    const UserPurchases user = AnyUser(random);
    EncodePurchases(user, block);
    UserPurchases decoded;
    for (size_t size = 0; size < block.size(); ++size) {
      // Copied, so that a sanitizer sees the end.
      const std::string prefix(block, 0, size);
      const bool whole = DecodePurchases(prefix, decoded);
      // Only returns may be missing: the lines are counted in front.
      if (whole) REQUIRE(decoded.lines == user.lines);
    }
    std::string flipped = block;
    flipped[random.Below(flipped.size())] ^= static_cast<char>(1 << random.Below(8));
    if (!DecodePurchases(flipped, decoded)) continue;
    for (const PurchaseLine& line : decoded.lines) REQUIRE(line.qty >= 0);
  }
}

TEST_CASE("limits of any numbers survive their block") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  constexpr int64_t kUnits[] = {1, 1000, 60'000, 3'600'000, 86'400'000};
  for (int i = 0; i < 3000; ++i) {
    std::vector<LimitEntry> entries;
    for (const BookId action : {BookId(kMin), BookId(-3), BookId(0), BookId(7), BookId(kMax),
                                BookId(1, true), BookId(7, true), BookId(kMax, true)}) {
      LimitEntry entry;
      entry.action = action;
      entry.is_set = random.OneIn(2);
      if (entry.is_set) {
        entry.limit = random.OneIn(5) ? kMaxQty : static_cast<int32_t>(random.Below(100));
        entry.window_ms = random.OneIn(5) ? kMax - static_cast<int64_t>(random.Below(3))
                                          : random.Between(1, 90) * kUnits[random.Below(5)];
        entry.set_at_ms = AnyInt64(random);
      }
      if (!entry.is_set || random.OneIn(2)) entry.deletion = {AnyInt64(random), AnyInt64(random)};
      if (!random.OneIn(3)) entries.push_back(entry);
    }
    if (entries.empty()) continue;
    std::string block;
    EncodeLimits(entries, block);
    std::vector<LimitEntry> decoded;
    REQUIRE(DecodeLimits(block, decoded));
    REQUIRE(decoded == entries);
    block.pop_back();
    if (DecodeLimits(std::string(block), decoded)) REQUIRE(decoded != entries);
  }
}

TEST_CASE("a limit block that no book can have written is refused") {
  std::vector<LimitEntry> entries(2);
  for (LimitEntry& entry : entries) {
    entry = {7, true, 1, 1000, 0, {}};
  }
  std::string block;
  EncodeLimits(entries, block);
  std::vector<LimitEntry> decoded;
  REQUIRE_FALSE(DecodeLimits(block, decoded));                         // an action twice
  REQUIRE_FALSE(DecodeLimits("", decoded));                            // nothing known of the SKU
  REQUIRE_FALSE(DecodeLimits(std::string(2, '\0'), decoded));          // neither set nor deleted
  REQUIRE_FALSE(DecodeLimits(std::string(4, '\0'), decoded));          // the same of a text
  REQUIRE_FALSE(DecodeLimits(std::string("\1\0\1\0\0", 5), decoded));  // a window of nothing
}

TEST_CASE("an id is its own key again, and no other's") {
  std::set<std::string> keys;
  for (const int64_t id : {kMin, int64_t{-129}, int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{127},
                           int64_t{128}, int64_t{1} << 40, kMax}) {
    REQUIRE(EntityKey::UserOf(EntityKey(id).view()) == QuotaId(id));
    REQUIRE(EntityKey::UserOf(EntityKey(QuotaId(id)).view()) == QuotaId(id));
    for (const BookId sku : {BookId(id), BookId(id, true)}) {
      const EntityKey key(sku);
      REQUIRE(EntityKey::IsSku(key.view()));
      REQUIRE(EntityKey::SkuOf(key.view()) == sku);
      REQUIRE(keys.emplace(key.view()).second);
    }
  }
  keys.clear();
  for (size_t size = 0; size <= kMaxQuotaIdBytes; ++size) {
    for (const char fill : {'\0', '0', '\xff'}) {
      const std::string text(size, fill);
      const EntityKey key(QuotaId::Text(text));
      REQUIRE(EntityKey::UserOf(key.view()) == QuotaId::Text(text));
      REQUIRE((keys.emplace(key.view()).second || size == 0));
    }
  }
  for (int64_t id = -70'000; id < 70'000; ++id) {
    REQUIRE_FALSE(keys.contains(std::string(EntityKey(id).view())));
  }
}

QuotaId Read(const char* text) {
  QuotaId id;
  REQUIRE(ReadQuotaId(text, id));
  return id;
}

TEST_CASE("an id is an integer only as an integer is written") {
  for (const char* text : {"0", "7", "-7", "9223372036854775807", "-9223372036854775808"}) {
    REQUIRE_FALSE(Read(text).is_text());
    REQUIRE(std::to_string(Read(text).number()) == text);
  }
  for (const char* text : {"", "007", "-0", "+1", "00", " 7", "7 ", "-", "1e3", "7.0",
                           "9223372036854775808", "-9223372036854775809"}) {
    REQUIRE(Read(text).is_text());
    REQUIRE(Read(text).text() == text);
  }
  QuotaId id;
  REQUIRE(ReadQuotaId(std::string(128, '7'), id));
  REQUIRE_FALSE(ReadQuotaId(std::string(129, '7'), id));
  // Integers first, then texts by their bytes.
  const std::vector<QuotaId> ascending = {kMin,
                                          -1,
                                          0,
                                          7,
                                          kMax,
                                          QuotaId::Text(""),
                                          QuotaId::Text({"\0", 1}),
                                          QuotaId::Text("007"),
                                          QuotaId::Text("07"),
                                          QuotaId::Text("a"),
                                          QuotaId::Text("\xff")};
  for (size_t i = 0; i < ascending.size(); ++i) {
    for (size_t j = 0; j < ascending.size(); ++j) {
      REQUIRE((ascending[i] < ascending[j]) == (i < j));
      REQUIRE((ascending[i] == ascending[j]) == (i == j));
    }
  }
}

TEST_CASE("blocks of returns keep every return, and no other bytes are one") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (int round = 0; round < 300; ++round) {
    std::vector<ReturnMark> marks;
    for (size_t i = 1 + random.Below(40); i > 0; --i) {
      ReturnMark mark;
      if (!marks.empty()) mark = marks.back();
      if (marks.empty() || random.OneIn(3)) {
        mark.order = random.OneIn(3) ? kTexts[random.Below(std::size(kTexts))] : AnyInt64(random);
      }
      mark.sku = AnyBookId(random);
      if (random.OneIn(2)) mark.ts_ms = AnyInt64(random);
      marks.push_back(mark);
    }
    const std::string block = EncodeMarks(marks);
    std::vector<ReturnMark> decoded;
    REQUIRE(DecodeMarks(block, decoded));
    REQUIRE(decoded == marks);
    // A block that is cut is malformed, or has fewer returns.
    const size_t cut = random.Below(block.size());
    if (DecodeMarks(std::string_view(block).substr(0, cut), decoded)) {
      REQUIRE(decoded.size() < marks.size());
    }
    std::string changed = block;
    changed[random.Below(changed.size())] ^= static_cast<char>(1 + random.Below(255));
    if (DecodeMarks(changed, decoded)) {
      const std::string again = EncodeMarks(decoded);
      std::vector<ReturnMark> same;
      REQUIRE(DecodeMarks(again, same));
      REQUIRE(same == decoded);
    }
  }
  std::vector<ReturnMark> none;
  REQUIRE_FALSE(DecodeMarks("", none));
}

}  // namespace
}  // namespace tally::quota_codec_test
