// Reads the body of POST /api: a command as a JSON array of its words, or an array of such.
//
// A word is a string, a number (its text), true (1), false (0), or an object {"base64": "…"} for
// bytes that are no Unicode text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "server/command/command.h"

namespace tally::server {

class ApiRequest {
 public:
  // Words, arrays and objects of a body. What is nested deeper than a batch is refused where it
  // begins.
  static constexpr size_t kMaxElements = 100'000;

  // Empty, or what is wrong with the body: then there are no commands to be had. O(bytes).
  std::string Parse(std::string_view body);

  size_t commands() const { return first_words_.size(); }
  // Whether the body is an array of commands.
  bool is_batch() const { return is_batch_; }
  // The words of a command, in `args`; valid until Parse, and while `args` is.
  Args Command(size_t index, std::vector<std::string_view>& args) const;

 private:
  class Builder;

  std::string bytes_;                // of all words
  std::vector<size_t> ends_;         // of each word, in bytes_
  std::vector<size_t> first_words_;  // of each command, an index of ends_
  bool is_batch_ = false;
};

}  // namespace tally::server
