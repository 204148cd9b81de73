// A user's purchases, decoded so that they can be changed and stored again.
#pragma once

#include <cstddef>
#include <vector>

#include "core/quota/entity_key.h"
#include "core/quota/large_user.h"
#include "core/quota/purchase_block.h"
#include "core/quota/retention.h"
#include "core/quota/text_uses.h"
#include "core/table/record_table.h"

namespace tally {

struct OpenUser {
  EntityKey key;
  LargeUser* large = nullptr;       // null if the user is not large
  RecordTable::Record record = {};  // of one who is not
  size_t stored_lines = 0;
  UserPurchases purchases = {};  // without what is out of retention
  TextUses uses = {};  // minus the uses of the stored block; who stores it adds the new ones
  // Of an order of a large user: the chunks that hold its lines. Those lines that are kept at that
  // moment are the purchases, without the returns that were known.
  std::vector<OpenChunk> chunks = {};
  Retention::Moment at = {};
};

}  // namespace tally
