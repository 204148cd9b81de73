// Errors of tallyd's own commands end with a usage, which usage_test.cc checks for all of them.
#pragma once

#include <string>

namespace tally::server {

inline std::string WithoutUsage(const std::string& error) {
  return error.substr(0, error.find(". Usage: "));
}

}  // namespace tally::server
