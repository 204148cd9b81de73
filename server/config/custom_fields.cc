#include "server/config/custom_fields.h"

#include <optional>

#include "core/bytes/str_cat.h"
#include "server/config/event_classes.h"
#include "server/config/value_text.h"

namespace tally::server {

std::vector<SaveRule> SaveRulesOf(const Config& config) {
  if (config.save) return *config.save;
  if (config.appendonly) return {};
  return {{3600, 1}, {300, 100}, {60, 10000}};
}

std::string FormatSave(const Config& config) {
  std::string text;
  for (const SaveRule& rule : SaveRulesOf(config)) {
    StrAppend(text, text.empty() ? "" : " ", rule.seconds, ' ', rule.changes);
  }
  return text;
}

absl::Status AssignSave(ConfigWords words, Config& config) {
  if (words.size() == 1 && words[0].empty()) {
    config.save.emplace();
    return absl::OkStatus();
  }
  const absl::Status invalid = absl::InvalidArgumentError("Invalid save parameters");
  if (words.empty() || words.size() % 2 != 0) return invalid;
  std::vector<SaveRule> rules = config.save.value_or(std::vector<SaveRule>());
  for (size_t i = 0; i < words.size(); i += 2) {
    const auto seconds = ReadQuantity(words[i], Quantity::kCount, {.min = 1});
    const auto changes = ReadQuantity(words[i + 1], Quantity::kCount);
    if (!seconds.ok() || !changes.ok()) {
      const absl::Status& why = seconds.ok() ? changes.status() : seconds.status();
      return absl::InvalidArgumentError(
          StrCat("Invalid save parameters: ", std::string(why.message())));
    }
    rules.push_back({*seconds, *changes});
  }
  config.save = std::move(rules);
  return absl::OkStatus();
}

namespace {

// Redis writes "slave", but reads "replica" too.
constexpr std::string_view kClassNames[kClientClasses] = {"normal", "slave", "pubsub"};

std::optional<size_t> FindClientClass(std::string_view name) {
  const std::string lower = ToLower(name);
  for (size_t i = 0; i < kClientClasses; ++i) {
    if (lower == kClassNames[i]) return i;
  }
  if (lower == "replica") return static_cast<size_t>(ClientClass::kReplica);
  return std::nullopt;
}

}  // namespace

std::string FormatOutputBufferLimit(const Config& config) {
  std::string text;
  for (size_t i = 0; i < kClientClasses; ++i) {
    const OutputBufferLimit& limit = config.client_output_buffer_limit[i];
    StrAppend(text, i == 0 ? "" : " ", kClassNames[i], ' ', limit.hard, ' ', limit.soft, ' ',
              limit.soft_seconds);
  }
  return text;
}

// Classes that are not named keep their limits.
absl::Status AssignOutputBufferLimit(ConfigWords words, Config& config) {
  if (words.empty() || words.size() % 4 != 0) {
    return absl::InvalidArgumentError("Wrong number of arguments in buffer limit configuration.");
  }
  auto limits = config.client_output_buffer_limit;
  for (size_t i = 0; i < words.size(); i += 4) {
    const auto client_class = FindClientClass(words[i]);
    if (!client_class) {
      return absl::InvalidArgumentError(
          "Invalid client class specified in buffer limit configuration.");
    }
    const auto hard = ReadQuantity(words[i + 1], Quantity::kBytes);
    const auto soft = ReadQuantity(words[i + 2], Quantity::kBytes);
    const auto seconds = ReadQuantity(words[i + 3], Quantity::kCount);
    for (const auto* value : {&hard, &soft, &seconds}) {
      if (value->ok()) continue;
      return absl::InvalidArgumentError(
          StrCat("Error in hard, soft or soft_seconds setting in buffer limit configuration: ",
                 std::string(value->status().message())));
    }
    limits[*client_class] = {*hard, *soft, *seconds};
  }
  config.client_output_buffer_limit = limits;
  return absl::OkStatus();
}

std::string FormatMaxmemoryClients(const Config& config) {
  const int64_t value = config.maxmemory_clients;
  return value < 0 ? StrCat(-value, '%') : StrCat(value);
}

absl::Status AssignMaxmemoryClients(ConfigWords words, Config& config) {
  if (words.size() != 1) return absl::InvalidArgumentError("wrong number of arguments");
  std::string_view text = words[0];
  if (text.empty() || text.back() != '%') {
    const auto bytes = ReadQuantity(text, Quantity::kBytes);
    if (bytes.ok()) config.maxmemory_clients = *bytes;
    return bytes.status();
  }
  text.remove_suffix(1);
  const auto percent = ReadQuantity(text, Quantity::kCount);
  if (!percent.ok()) return percent.status();
  if (*percent > 100) {
    return absl::InvalidArgumentError("percentage argument must be less or equal to 100");
  }
  config.maxmemory_clients = -*percent;
  return absl::OkStatus();
}

std::string FormatKeyspaceEvents(const Config& config) {
  return FormatEventClasses(config.notify_keyspace_events);
}

absl::Status AssignKeyspaceEvents(ConfigWords words, Config& config) {
  if (words.size() != 1) return absl::InvalidArgumentError("wrong number of arguments");
  const auto classes = ParseEventClasses(words[0]);
  if (!classes) {
    return absl::InvalidArgumentError("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.");
  }
  config.notify_keyspace_events = *classes;
  return absl::OkStatus();
}

}  // namespace tally::server
