// A reply whose elements have names: a map in RESP3, and their values in an array in RESP2.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "core/check.h"
#include "server/resp/reply.h"

namespace tally::server {

class NamedReply {
 public:
  NamedReply(ReplyBuilder& reply, size_t fields) : reply_(reply), named_(reply.protocol() == 3) {
    if (named_) {
      reply_.Map(fields);
    } else {
      reply_.Array(fields);
    }
  }

  void Integer(std::string_view name, int64_t value) { Field(name).Integer(value); }
  struct NamedInteger {
    std::string_view name;
    int64_t value;
  };
  // Several at once, which costs less without the names; at most ReplyBuilder::kMaxIntegers.
  void Integers(std::initializer_list<NamedInteger> fields) {
    if (named_) {
      for (const NamedInteger& field : fields) Integer(field.name, field.value);
      return;
    }
    std::array<int64_t, ReplyBuilder::kMaxIntegers> values;
    Check(fields.size() <= values.size(), "few integers are replied in one piece");
    std::transform(fields.begin(), fields.end(), values.begin(),
                   [](const NamedInteger& field) { return field.value; });
    reply_.Integers({values.data(), fields.size()});
  }
  void Bulk(std::string_view name, std::string_view value) { Field(name).Bulk(value); }

 private:
  ReplyBuilder& Field(std::string_view name) {
    if (named_) reply_.Bulk(name);
    return reply_;
  }

  ReplyBuilder& reply_;
  const bool named_;
};

}  // namespace tally::server
