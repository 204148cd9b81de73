#include "server/figures/info.h"

#include <absl/strings/str_format.h>

#include <array>

#include "server/command/command_context.h"
#include "server/figures/info_rows.h"

namespace tally::server {
namespace {

struct Section {
  std::string_view name;  // lower case
  std::string_view title;
  void (*add_rows)(const Services& server, InfoRows& rows);
  bool by_default;
};

constexpr Section kSections[] = {
    {"server", "Server", AddServerRows, true},
    {"clients", "Clients", AddClientsRows, true},
    {"memory", "Memory", AddMemoryRows, true},
    {"persistence", "Persistence", AddPersistenceRows, true},
    {"stats", "Stats", AddStatsRows, true},
    {"replication", "Replication", AddReplicationRows, true},
    {"cpu", "CPU", AddCpuRows, true},
    {"modules", "Modules", AddModulesRows, true},
    {"commandstats", "Commandstats", AddCommandStatsRows, false},
    {"errorstats", "Errorstats", AddErrorStatsRows, true},
    {"latencystats", "Latencystats", AddLatencyStatsRows, false},
    {"cluster", "Cluster", AddClusterRows, true},
    {"limits", "Limits", AddLimitsRows, false},
    {"eventloop", "Eventloop", AddEventLoopRows, false},
    {"keyspace", "Keyspace", AddKeyspaceRows, true},
};

using Chosen = std::array<bool, std::size(kSections)>;

void Choose(std::string_view word, Chosen& chosen) {
  const bool all = IsWord(word, "all") || IsWord(word, "everything");
  const bool by_default = IsWord(word, "default");
  for (size_t i = 0; i < chosen.size(); ++i) {
    const Section& section = kSections[i];
    if (all || (by_default && section.by_default) || IsWord(word, section.name)) chosen[i] = true;
  }
}

}  // namespace

std::string HumanBytes(size_t bytes) {
  constexpr std::string_view kUnits = "KMGTP";
  if (bytes < 1024) return StrCat(bytes, 'B');
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return absl::StrFormat("%.2f%c", value, kUnits[unit]);
}

void InfoRows::Bytes(std::string_view name, size_t bytes) {
  Row(name, bytes);
  StrAppend(out_, name, "_human:", HumanBytes(bytes), "\r\n");
}

void InfoRows::Ratio(std::string_view name, double part, double whole) {
  Row(name, absl::StrFormat("%.2f", whole == 0 ? 0 : part / whole));
}

void InfoRows::Percent(std::string_view name, double part, double whole) {
  Row(name, absl::StrFormat("%.2f%%", whole == 0 ? 0 : 100 * part / whole));
}

std::string RenderInfo(const Services& server, Args words) {
  Chosen chosen{};
  if (words.empty()) Choose("default", chosen);
  for (const std::string_view word : words) Choose(word, chosen);
  std::string text;
  InfoRows rows(text);
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (!chosen[i]) continue;
    if (!text.empty()) text += "\r\n";
    StrAppend(text, "# ", kSections[i].title, "\r\n");
    kSections[i].add_rows(server, rows);
  }
  return text;
}

}  // namespace tally::server
