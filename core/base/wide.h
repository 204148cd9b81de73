// A signed integer of 128 bits, for products of two of 64 bits.
#pragma once

namespace tally {

__extension__ typedef __int128 Wide;

}  // namespace tally
