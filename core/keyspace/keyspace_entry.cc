#include "core/keyspace/keyspace_entry.h"

#include "core/bytes/text.h"

namespace tally {

int64_t KeyspaceEntry::integer() const {
  Check(is_integer(), "the entry holds an integer");
  return Load<int64_t>(value());
}

void KeyspaceEntry::set_integer(int64_t number) {
  Check(is_integer(), "the entry holds an integer");
  std::memcpy(value(), &number, sizeof number);
}

std::string_view KeyspaceEntry::bytes() const {
  if (is_heap()) return heap<Text>().view();
  return record_.payload().substr(value_offset());
}

}  // namespace tally
