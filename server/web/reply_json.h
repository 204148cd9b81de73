// Replies of RESP3 as JSON.
//
// Integers, doubles, booleans and null are what they are, infinities strings; statuses and bulk
// strings are strings (see json_text.h); arrays and sets are arrays, or objects where the command's
// row has names for their elements; maps are objects, or arrays of pairs where a key is no text; an
// error is {"error": text, "code": its first word}.
#pragma once

#include <string>
#include <string_view>

namespace tally::server {

// Appends the reply, which is whole; `names` as Command::reply_names. Elements that are more or
// fewer than their names stay an array. O(bytes).
void AppendReplyJson(std::string& out, std::string_view reply, std::string_view names);

// `text` is that of an error reply, "WRONGTYPE …".
void AppendErrorJson(std::string& out, std::string_view text);
// Its first word.
std::string_view ErrorCode(std::string_view text);

}  // namespace tally::server
