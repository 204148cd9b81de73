// Reads the body of POST /api: a command as a JSON array of its words, or an array of such arrays.
//
// A word is a string, a number (its text, however large), true (1), false (0), or an object
// {"base64": "…"} for bytes that are not Unicode text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "server/command/command.h"

namespace tally::server {

class ApiRequest {
 public:
  // The most words, arrays and objects that a body may have together. An array that is nested
  // deeper than in a batch is refused where it begins.
  static constexpr size_t kMaxElements = 100'000;

  // Returns an empty text, or what is wrong with the body: then the commands must not be used.
  // O(bytes).
  std::string Parse(std::string_view body);

  size_t commands() const { return first_words_.size(); }
  // Whether the body is an array of commands, even of one.
  bool is_batch() const { return is_batch_; }
  // Puts the words of a command into `args` and returns them. They are valid until the next Parse,
  // and until `args` changes.
  Args Command(size_t index, std::vector<std::string_view>& args) const;

 private:
  class Parser;

  std::string bytes_;                // all words, one after the other
  std::vector<size_t> ends_;         // the end of each word in bytes_
  std::vector<size_t> first_words_;  // the first word of each command, as an index of ends_
  bool is_batch_ = false;
};

}  // namespace tally::server
