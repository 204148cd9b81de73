// Rows of INFO, and the sections that are made of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/bytes/str_cat.h"
#include "server/interfaces/services.h"

namespace tally::server {

class InfoRows {
 public:
  explicit InfoRows(std::string& out) : out_(out) {}

  template <typename Value>
  void Row(std::string_view name, const Value& value) {
    StrAppend(out_, name, ':', value, "\r\n");
  }
  void Row(std::string_view name, bool value) { Row(name, value ? 1 : 0); }
  // Adds the bytes, and a second row "name_human" for people.
  void Bytes(std::string_view name, size_t bytes);
  // Each adds part / whole with two decimals, as a ratio or in percent; 0 if `whole` is 0.
  void Ratio(std::string_view name, double part, double whole);
  void Percent(std::string_view name, double part, double whole);

  std::string& out() { return out_; }

 private:
  std::string& out_;
};

// Returns bytes for people: "1.50K", "12B".
std::string HumanBytes(size_t bytes);

// info_process.cc
void AddServerRows(const Services& server, InfoRows& rows);
void AddClientsRows(const Services& server, InfoRows& rows);
void AddMemoryRows(const Services& server, InfoRows& rows);
void AddCpuRows(const Services& server, InfoRows& rows);
// info_activity.cc
void AddPersistenceRows(const Services& server, InfoRows& rows);
void AddStatsRows(const Services& server, InfoRows& rows);
void AddReplicationRows(const Services& server, InfoRows& rows);
void AddModulesRows(const Services& server, InfoRows& rows);
void AddCommandStatsRows(const Services& server, InfoRows& rows);
void AddErrorStatsRows(const Services& server, InfoRows& rows);
void AddLatencyStatsRows(const Services& server, InfoRows& rows);
void AddClusterRows(const Services& server, InfoRows& rows);
void AddKeyspaceRows(const Services& server, InfoRows& rows);
// info_observation.cc
void AddLimitsRows(const Services& server, InfoRows& rows);
void AddEventLoopRows(const Services& server, InfoRows& rows);

}  // namespace tally::server
