// Our types as data types of the server.
#pragma once

#include <array>
#include <optional>

#include "core/base/type.h"
#include "server/module/redis_module.h"

namespace tally::module {

inline constexpr std::array kModuleTypes = {Type::kHits, Type::kLimit, Type::kActive, Type::kQuota};

class ValueTypes {
 public:
  // Makes them known to the server, while it loads the module. False if it refuses one.
  bool Register(redis::Context* context);

  redis::Type* Of(Type type) const { return types_[static_cast<size_t>(type)]; }
  // Nothing for a type that is not ours.
  std::optional<Type> Find(const redis::Type* type) const {
    for (const Type ours : kModuleTypes) {
      if (Of(ours) == type) return ours;
    }
    return std::nullopt;
  }

 private:
  std::array<redis::Type*, kTypeCount> types_{};
};

}  // namespace tally::module
