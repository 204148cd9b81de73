#include "server/state/zone_cache.h"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

namespace tally::server {
namespace {

constexpr size_t kMaxNameBytes = 64;

// The spelling of a file's name under one directory, in one way only: nothing leads out of the
// directory, and no two spellings name one zone.
bool IsPlainPath(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameBytes && name.front() != '/' &&
         name.back() != '/' && name.find("//") == name.npos && name.find('.') == name.npos &&
         name.find('\0') == name.npos;
}

bool HasFile(const std::string& name) {
  const char* directory = std::getenv("TZDIR");
  const std::filesystem::path path =
      std::filesystem::path(directory != nullptr ? directory : "/usr/share/zoneinfo") / name;
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

}  // namespace

ZoneCache::ZoneCache() : utc_(&zones_.try_emplace("UTC").first->second) {}

Zone* ZoneCache::Find(std::string_view name) {
  if (!IsPlainPath(name)) return nullptr;
  std::string owned(name);
  if (const auto found = zones_.find(owned); found != zones_.end()) return &found->second;
  if (!HasFile(owned)) return nullptr;
  std::optional<Zone> zone = Zone::Load(name);
  if (!zone) return nullptr;
  return &zones_.try_emplace(std::move(owned), *std::move(zone)).first->second;
}

}  // namespace tally::server
