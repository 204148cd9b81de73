#include "core/tzdata/tzdata_zones.h"

#include <absl/strings/ascii.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

namespace tally {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxNameBytes = 64;
// The tzdata of today has 1,800 files. The limit is there because TZDIR may name any directory.
constexpr size_t kMaxFiles = 20'000;

// Whether the name is a plain relative path without dots, of at most kMaxNameBytes. Such a path
// does not lead out of the directory, and a file has only one such spelling.
bool IsPlainPath(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameBytes && name.front() != '/' &&
         name.back() != '/' && name.find("//") == name.npos && name.find('.') == name.npos &&
         name.find('\0') == name.npos;
}

fs::path Directory() {
  const char* directory = std::getenv("TZDIR");
  return directory != nullptr ? directory : "/usr/share/zoneinfo";
}

bool HasFile(const std::string& name) {
  std::error_code error;
  return fs::is_regular_file(Directory() / name, error);
}

// Returns the names of all files of tzdata, keyed by the name in lower case, without the two
// further copies of all zones in posix/ and right/.
absl::flat_hash_map<std::string, std::string> ListSpellings() {
  absl::flat_hash_map<std::string, std::string> spellings{{"utc", "UTC"}};
  const fs::path directory = Directory();
  std::error_code error;
  fs::recursive_directory_iterator files(directory, fs::directory_options::skip_permission_denied,
                                         error);
  const fs::recursive_directory_iterator end;
  for (size_t seen = 0; !error && files != end && seen < kMaxFiles;
       ++seen, files.increment(error)) {
    const std::string name = files->path().lexically_relative(directory).string();
    if (name == "posix" || name == "right") files.disable_recursion_pending();
    std::error_code unreadable;
    if (!IsPlainPath(name) || !files->is_regular_file(unreadable)) continue;
    spellings.try_emplace(absl::AsciiStrToLower({name.data(), name.size()}), name);
  }
  return spellings;
}

}  // namespace

std::optional<Zone> LoadZone(std::string_view name) {
  if (name == "UTC") return Zone();
  if (!Zone::IsName(name)) return std::nullopt;
  std::string owned(name);
  absl::TimeZone zone;
  if (!absl::LoadTimeZone(owned, &zone)) return std::nullopt;
  return Zone(std::move(owned), zone);
}

Zone* TzdataZones::FindNamed(std::string_view name) {
  if (!IsPlainPath(name)) return nullptr;
  const std::string owned(name);
  if (const auto found = zones_.find(owned); found != zones_.end()) return &found->second;
  // As long as all names are spelled as in tzdata, its files need not be listed.
  if (spellings_.empty() && HasFile(owned)) return FindOrLoad(owned);
  const std::string spelling = SpellingOf(name);
  // A file that is not in the list may be newer than the list.
  return FindOrLoad(spelling.empty() ? owned : spelling);
}

std::vector<std::string> TzdataZones::ListNames() {
  if (spellings_.empty()) spellings_ = ListSpellings();
  std::vector<std::string> names;
  for (const auto& [lower, name] : spellings_) names.push_back(name);
  return names;
}

Zone* TzdataZones::FindOrLoad(const std::string& name) {
  if (name == "UTC") return &utc();
  if (const auto found = zones_.find(name); found != zones_.end()) return &found->second;
  if (!HasFile(name)) return nullptr;
  std::optional<Zone> zone = LoadZone(name);
  if (!zone) return nullptr;
  return &zones_.try_emplace(name, *std::move(zone)).first->second;
}

std::string TzdataZones::SpellingOf(std::string_view name) {
  if (spellings_.empty()) spellings_ = ListSpellings();
  const auto found = spellings_.find(absl::AsciiStrToLower({name.data(), name.size()}));
  return found == spellings_.end() ? std::string() : found->second;
}

}  // namespace tally
