// A reply whose elements have names: a map in RESP3, and their values in an array in RESP2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

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
