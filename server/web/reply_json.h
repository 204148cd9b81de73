// Converts RESP3 replies to JSON.
//
// Integers, doubles, booleans and null stay what they are; infinities become strings. Statuses and
// bulk strings become strings (see json_text.h). Arrays and sets become arrays, or objects if the
// command's row has names for their elements. Maps become objects, or arrays of pairs if a key is
// not text, or is "error" or "base64". An error becomes {"error": text, "code": its first word}. So
// no map, whatever users put into it, can be mistaken for an error or for a string of bytes.
#pragma once

#include <string>
#include <string_view>

namespace tally::server {

// Appends the reply, which must be whole. `names` is as in Command::reply_names. An array with more
// or fewer elements than names stays an array. O(bytes).
void AppendReplyJson(std::string& out, std::string_view reply, std::string_view names);

}  // namespace tally::server
