// A server for the module to be loaded into, as far as unit tests and fuzzers need one: keys with
// values and deadlines, payloads, replies, and what was replicated. One at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "server/module/redis_module.h"

namespace tally::redis {

using GetApi = int (*)(const char* name, void* function);

struct String {
  std::string text;
};

struct Type {
  std::string name;
  TypeMethods methods;
};

// A payload: unsigned integers and strings in a row. What is read of it may be anything.
struct Io {
  std::string bytes;
  size_t at = 0;
  bool failed = false;
};

}  // namespace tally::redis

namespace tally::module {

class FakeServer {
 public:
  FakeServer();
  ~FakeServer();
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  struct KeyValue {
    redis::Type* type = nullptr;
    void* value = nullptr;
    long long expire = redis::kNoExpire;
  };

  // False if the module refuses to be loaded.
  bool Load(const std::vector<std::string>& words);
  // The reply in RESP2, without the ends of lines: "*2 :1 $-1".
  std::string Run(const std::vector<std::string>& words);
  void Erase(const std::string& key);
  redis::Type* TypeAt(size_t index) const { return types_[index]; }

  std::map<std::string, KeyValue> keys;
  std::vector<std::string> replicated;  // words with blanks between
  std::vector<std::string> events;      // "limit.take key"
  size_t opened = 0;                    // how often a key was looked up
  int context_flags = 0;
  long long now_ms = 1'700'000'000'000;
  int version = 0x00070000;

 private:
  friend struct FakeApi;

  std::map<std::string, redis::CommandFunction> commands_;
  std::vector<redis::Type*> types_;
  std::string reply_;
};

}  // namespace tally::module
