#include "server/http/same_site.h"

#include <absl/strings/ascii.h>

#include <algorithm>

#include "core/words/word.h"

namespace tally::server {
namespace {

std::string Lower(std::string_view text) {
  std::string lower(text);
  absl::AsciiStrToLower(&lower);
  return lower;
}

// Returns the authority without its port. An IPv6 address keeps its brackets.
std::string_view WithoutPort(std::string_view authority) {
  if (authority.starts_with('[')) return authority.substr(0, authority.find(']') + 1);
  return authority.substr(0, authority.find(':'));
}

// Whether the host begins with a bracket, or has only digits and dots. It cannot be a name then:
// the last part of a name is never a number, and a name has no brackets.
bool IsAddress(std::string_view host) {
  if (host.starts_with('[')) return true;
  return !host.empty() && host.find_first_not_of("0123456789.") == std::string_view::npos;
}

}  // namespace

bool IsOurHost(std::string_view authority, std::span<const std::string> names) {
  const std::string host = Lower(WithoutPort(authority));
  if (IsAddress(host) || host == "localhost") return true;
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return Lower(name) == host && !host.empty(); });
}

bool IsFromAnotherSite(const HttpRequest& request) {
  if (const auto site = request.Header("sec-fetch-site")) {
    if (!IsWord(*site, "same-origin") && !IsWord(*site, "none")) return true;
  }
  const auto origin = request.Header("origin");
  if (!origin) return false;
  const size_t scheme = origin->find("://");
  if (scheme == std::string_view::npos) return true;  // "null": a page that hides its origin
  return Lower(origin->substr(scheme + 3)) != Lower(request.authority);
}

}  // namespace tally::server
