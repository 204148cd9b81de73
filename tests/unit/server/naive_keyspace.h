// Databases held in the plainest way, and a few commands of each type over them, to compare a
// server with. Keys of a wrong type are not tried: callers keep each type to keys of its own.
#pragma once

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "server/log/quoted.h"

namespace tally::test {

class NaiveKeyspace {
 public:
  using Words = std::vector<std::string>;

  // No command makes a string longer than `largest`.
  NaiveKeyspace(size_t databases, size_t largest) : databases_(databases), largest_(largest) {}

  // Executes a command; returns its reply as ReplyText shows it.
  std::string Run(size_t database, const Words& words, int64_t now) {
    now_ = now;
    if (words[0] == "SWAPDB") {
      std::swap(databases_[Number(words[1])], databases_[Number(words[2])]);
      return "+OK";
    }
    keys_ = &databases_[database];
    return Handlers().at(words[0])(*this, words);
  }
  void Remove(size_t database, const std::string& key) { databases_[database].erase(key); }
  void RemoveDue(int64_t now) {
    for (Keys& keys : databases_) {
      std::erase_if(keys, [&](const auto& item) { return item.second.deadline <= now; });
    }
  }
  bool IsLive(size_t database, const std::string& key, int64_t now) const {
    const auto found = databases_[database].find(key);
    return found != databases_[database].end() && found->second.deadline > now;
  }

  // About as many as its value has.
  size_t Bytes(size_t database, const std::string& key) const {
    const auto found = databases_[database].find(key);
    if (found == databases_[database].end()) return 0;
    const Value& value = found->second;
    size_t bytes = value.text.size();
    for (const std::string& element : value.list) bytes += element.size();
    for (const auto& [field, text] : value.hash) bytes += field.size() + text.size();
    for (const std::string& member : value.set) bytes += member.size();
    for (const auto& [member, score] : value.scores) bytes += member.size();
    return bytes;
  }

 private:
  static constexpr int64_t kNever = INT64_MAX;
  static constexpr char kTooLong[] =
      "-ERR string exceeds maximum allowed size (proto-max-bulk-len)";
  struct Value {
    std::string type;
    std::string text;
    std::deque<std::string> list;
    std::map<std::string, std::string> hash;
    std::set<std::string> set;
    std::map<std::string, int64_t> scores;
    int64_t deadline = kNever;
  };
  using Keys = std::map<std::string, Value>;
  using Handler = std::string (*)(NaiveKeyspace&, const Words&);

  static size_t Number(const std::string& word) { return std::stoull(word); }
  // Texts are letters, digits and zeros; only zeros are shown in another way.
  static std::string Quoted(const std::string& text) {
    if (text.find('\0') == std::string::npos) return absl::StrCat("\"", text, "\"");
    std::string quoted;
    server::AppendQuoted(quoted, text);
    return quoted;
  }
  static std::string Integer(int64_t value) { return absl::StrCat(":", value); }
  static std::string Array(const Words& elements) {
    return absl::StrCat("[", absl::StrJoin(elements, " "), "]");
  }

  // Null when absent or due.
  Value* Find(const std::string& key) {
    const auto found = keys_->find(key);
    return found == keys_->end() || found->second.deadline <= now_ ? nullptr : &found->second;
  }
  // A new value of that type when there is none.
  Value& Make(const std::string& key, const char* type) {
    if (Value* value = Find(key)) return *value;
    Value& value = (*keys_)[key] = Value();
    value.type = type;
    return value;
  }
  void RemoveEmpty(const std::string& key) {
    const Value& value = keys_->at(key);
    if (value.type == "string") return;
    if (value.list.empty() && value.hash.empty() && value.set.empty() && value.scores.empty()) {
      keys_->erase(key);
    }
  }

  std::string Set(const Words& words) {
    Value& value = (*keys_)[words[1]] = Value();
    value.type = "string";
    value.text = words[2];
    if (words.size() == 5) value.deadline = now_ + std::stoll(words[4]);
    return "+OK";
  }
  std::string Get(const Words& words) {
    const Value* value = Find(words[1]);
    return value == nullptr ? "nil" : Quoted(value->text);
  }
  std::string Append(const Words& words) {
    const Value* value = Find(words[1]);
    const size_t size = value == nullptr ? 0 : value->text.size();
    if (size + words[2].size() > largest_) return kTooLong;
    std::string& text = Make(words[1], "string").text;
    text += words[2];
    return Integer(static_cast<int64_t>(text.size()));
  }
  std::string SetRange(const Words& words) {
    const size_t begin = Number(words[2]);
    if (begin + words[3].size() > largest_) return kTooLong;
    std::string& text = Make(words[1], "string").text;
    text.resize(std::max(text.size(), begin + words[3].size()));
    text.replace(begin, words[3].size(), words[3]);
    return Integer(static_cast<int64_t>(text.size()));
  }
  std::string IncrBy(const Words& words) {
    Value& value = Make(words[1], "string");
    const int64_t sum = (value.text.empty() ? 0 : std::stoll(value.text)) + std::stoll(words[2]);
    value.text = absl::StrCat(sum);
    return Integer(sum);
  }

  std::string Push(const Words& words, bool front) {
    std::deque<std::string>& list = Make(words[1], "list").list;
    for (size_t i = 2; i < words.size(); ++i) {
      front ? list.push_front(words[i]) : list.push_back(words[i]);
    }
    return Integer(static_cast<int64_t>(list.size()));
  }
  std::string Pop(const Words& words, bool front) {
    Value* value = Find(words[1]);
    if (value == nullptr) return "nil";
    std::deque<std::string>& list = value->list;
    const std::string element = front ? list.front() : list.back();
    front ? list.pop_front() : list.pop_back();
    RemoveEmpty(words[1]);
    return Quoted(element);
  }
  std::string SetElement(const Words& words) {
    Value* value = Find(words[1]);
    if (value == nullptr) return "-ERR no such key";
    const size_t at = Number(words[2]);
    if (at >= value->list.size()) return "-ERR index out of range";
    value->list[at] = words[3];
    return "+OK";
  }
  std::string Range(const Words& words) {
    Words shown;
    if (const Value* value = Find(words[1])) {
      for (const std::string& element : value->list) shown.push_back(Quoted(element));
    }
    return Array(shown);
  }

  std::string HSet(const Words& words) {
    return Integer(Make(words[1], "hash").hash.insert_or_assign(words[2], words[3]).second);
  }
  std::string HIncrBy(const Words& words) {
    std::string& text = Make(words[1], "hash").hash[words[2]];
    const int64_t sum = (text.empty() ? 0 : std::stoll(text)) + std::stoll(words[3]);
    text = absl::StrCat(sum);
    return Integer(sum);
  }
  std::string HMGet(const Words& words) {
    Words shown;
    const Value* value = Find(words[1]);
    for (size_t i = 2; i < words.size(); ++i) {
      const bool there = value != nullptr && value->hash.contains(words[i]);
      shown.push_back(there ? Quoted(value->hash.at(words[i])) : "nil");
    }
    return Array(shown);
  }

  std::string SAdd(const Words& words) {
    return Integer(Make(words[1], "set").set.insert(words[2]).second);
  }
  std::string SMIsMember(const Words& words) {
    Words shown;
    const Value* value = Find(words[1]);
    for (size_t i = 2; i < words.size(); ++i) {
      shown.push_back(Integer(value != nullptr && value->set.contains(words[i])));
    }
    return Array(shown);
  }

  std::string ZAdd(const Words& words) {
    auto& scores = Make(words[1], "zset").scores;
    return Integer(scores.insert_or_assign(words[3], std::stoll(words[2])).second);
  }
  std::string ZIncrBy(const Words& words) {
    int64_t& score = Make(words[1], "zset").scores[words[3]];
    score += std::stoll(words[2]);
    return Quoted(absl::StrCat(score));
  }
  std::string ZRange(const Words& words) {
    Words shown;
    for (const auto& [score, member] : Ranked(words[1])) {
      shown.push_back(Quoted(member));
      shown.push_back(Quoted(absl::StrCat(score)));
    }
    return Array(shown);
  }
  std::string ZPopMin(const Words& words) {
    const auto ranked = Ranked(words[1]);
    if (ranked.empty()) return "[]";
    const auto& [score, member] = *ranked.begin();
    Find(words[1])->scores.erase(member);
    RemoveEmpty(words[1]);
    return Array({Quoted(member), Quoted(absl::StrCat(score))});
  }
  std::set<std::pair<int64_t, std::string>> Ranked(const std::string& key) {
    std::set<std::pair<int64_t, std::string>> ranked;
    if (const Value* value = Find(key)) {
      for (const auto& [member, score] : value->scores) ranked.emplace(score, member);
    }
    return ranked;
  }

  // HDEL, SREM and ZREM of one element.
  std::string Take(const Words& words) {
    Value* value = Find(words[1]);
    if (value == nullptr) return ":0";
    const size_t taken =
        value->hash.erase(words[2]) + value->set.erase(words[2]) + value->scores.erase(words[2]);
    RemoveEmpty(words[1]);
    return Integer(static_cast<int64_t>(taken));
  }

  std::string Del(const Words& words) {
    const bool there = Find(words[1]) != nullptr;
    keys_->erase(words[1]);
    return Integer(there);
  }
  std::string Copy(const Words& words) {
    const Value* value = Find(words[1]);
    if (value == nullptr) return ":0";
    (*keys_)[words[2]] = Value(*value);
    return ":1";
  }
  std::string Rename(const Words& words) {
    Value* value = Find(words[1]);
    if (value == nullptr) return "-ERR no such key";
    if (words[1] == words[2]) return "+OK";
    (*keys_)[words[2]] = std::exchange(*value, Value());
    keys_->erase(words[1]);
    return "+OK";
  }
  std::string PExpireAt(const Words& words) {
    Value* value = Find(words[1]);
    if (value == nullptr) return ":0";
    value->deadline = std::stoll(words[2]);
    if (value->deadline <= now_) keys_->erase(words[1]);
    return ":1";
  }
  std::string Persist(const Words& words) {
    Value* value = Find(words[1]);
    if (value == nullptr || value->deadline == kNever) return ":0";
    value->deadline = kNever;
    return ":1";
  }
  std::string PExpireTime(const Words& words) {
    const Value* value = Find(words[1]);
    if (value == nullptr) return ":-2";
    return Integer(value->deadline == kNever ? -1 : value->deadline);
  }
  std::string Type(const Words& words) {
    const Value* value = Find(words[1]);
    return absl::StrCat("+", value == nullptr ? "none" : value->type);
  }
  std::string FlushDb() {
    keys_->clear();
    return "+OK";
  }

  static const std::map<std::string, Handler>& Handlers() {
    using Self = NaiveKeyspace;
    static const std::map<std::string, Handler> handlers = {
        {"SET", [](Self& self, const Words& words) { return self.Set(words); }},
        {"GET", [](Self& self, const Words& words) { return self.Get(words); }},
        {"APPEND", [](Self& self, const Words& words) { return self.Append(words); }},
        {"SETRANGE", [](Self& self, const Words& words) { return self.SetRange(words); }},
        {"INCRBY", [](Self& self, const Words& words) { return self.IncrBy(words); }},
        {"RPUSH", [](Self& self, const Words& words) { return self.Push(words, false); }},
        {"LPUSH", [](Self& self, const Words& words) { return self.Push(words, true); }},
        {"RPOP", [](Self& self, const Words& words) { return self.Pop(words, false); }},
        {"LPOP", [](Self& self, const Words& words) { return self.Pop(words, true); }},
        {"LSET", [](Self& self, const Words& words) { return self.SetElement(words); }},
        {"LRANGE", [](Self& self, const Words& words) { return self.Range(words); }},
        {"HSET", [](Self& self, const Words& words) { return self.HSet(words); }},
        {"HINCRBY", [](Self& self, const Words& words) { return self.HIncrBy(words); }},
        {"HMGET", [](Self& self, const Words& words) { return self.HMGet(words); }},
        {"HDEL", [](Self& self, const Words& words) { return self.Take(words); }},
        {"SADD", [](Self& self, const Words& words) { return self.SAdd(words); }},
        {"SREM", [](Self& self, const Words& words) { return self.Take(words); }},
        {"SMISMEMBER", [](Self& self, const Words& words) { return self.SMIsMember(words); }},
        {"ZADD", [](Self& self, const Words& words) { return self.ZAdd(words); }},
        {"ZINCRBY", [](Self& self, const Words& words) { return self.ZIncrBy(words); }},
        {"ZREM", [](Self& self, const Words& words) { return self.Take(words); }},
        {"ZPOPMIN", [](Self& self, const Words& words) { return self.ZPopMin(words); }},
        {"ZRANGE", [](Self& self, const Words& words) { return self.ZRange(words); }},
        {"DEL", [](Self& self, const Words& words) { return self.Del(words); }},
        {"COPY", [](Self& self, const Words& words) { return self.Copy(words); }},
        {"RENAME", [](Self& self, const Words& words) { return self.Rename(words); }},
        {"PEXPIREAT", [](Self& self, const Words& words) { return self.PExpireAt(words); }},
        {"PERSIST", [](Self& self, const Words& words) { return self.Persist(words); }},
        {"PEXPIRETIME", [](Self& self, const Words& words) { return self.PExpireTime(words); }},
        {"TYPE", [](Self& self, const Words& words) { return self.Type(words); }},
        {"FLUSHDB", [](Self& self, const Words&) { return self.FlushDb(); }},
    };
    return handlers;
  }

  std::vector<Keys> databases_;
  size_t largest_;
  Keys* keys_ = nullptr;
  int64_t now_ = 0;
};

}  // namespace tally::test
