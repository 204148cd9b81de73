#include "server/config/setting_conflicts.h"

#include <cstddef>
#include <cstdint>

namespace tally::server {
namespace {

struct Conflict {
  bool (*applies)(const Config& config);
  const char* text;
};

int64_t OutputLimit(const Config& config) {
  return config.client_output_buffer_limit[static_cast<size_t>(ClientClass::kNormal)].hard;
}

constexpr Conflict kConflicts[] = {
    {[](const Config& config) { return !config.appendonly && SaveRulesOf(config).empty(); },
     "Nothing is kept: with 'appendonly no' and 'save \"\"' all data is gone when the server ends. "
     "Set 'appendonly yes'."},
    {[](const Config& config) {
       return !config.tls_cert_file.empty() && config.tls_port == 0 && !config.http_tls;
     },
     "tls-cert-file is set, but nothing is encrypted: tls-port is 0 and http-tls is no."},
    {[](const Config& config) { return config.http_tls && config.http_port == 0; },
     "http-tls is yes, but there is no HTTP: http-port is 0."},
    {[](const Config& config) {
       return config.maxmemory_policy != EvictionPolicy::kNoEviction && config.maxmemory == 0;
     },
     "maxmemory-policy is set, but nothing is ever evicted: maxmemory is 0."},
    {[](const Config& config) { return config.maxmemory_clients < 0 && config.maxmemory == 0; },
     "maxmemory-clients is a share of maxmemory, which is 0: clients have no limit together."},
    {[](const Config& config) {
       return config.proto_max_bulk_len >= config.client_query_buffer_limit;
     },
     "A client that sends a value as large as proto-max-bulk-len allows is closed: "
     "client-query-buffer-limit is not larger."},
    {[](const Config& config) {
       return OutputLimit(config) != 0 && config.proto_max_bulk_len >= OutputLimit(config);
     },
     "A client that reads a value as large as proto-max-bulk-len allows is closed: "
     "client-output-buffer-limit normal is not larger."},
};

}  // namespace

std::vector<std::string> SettingConflicts(const Config& config) {
  std::vector<std::string> found;
  for (const Conflict& conflict : kConflicts) {
    if (conflict.applies(config)) found.emplace_back(conflict.text);
  }
  return found;
}

}  // namespace tally::server
