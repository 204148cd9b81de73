// Registers our types as data types of the server.
#pragma once

#include <array>
#include <optional>

#include "core/base/type.h"
#include "server/module/redis_module.h"

namespace tally::module {

inline constexpr std::array kModuleTypes = {Type::kHits, Type::kLimit, Type::kActive, Type::kQuota};

class ValueTypes {
 public:
  // Registers all types. Must be called while the server loads the module. Returns false if the
  // server refuses one.
  bool Register(redis::Context* context);

  redis::Type* Of(Type type) const { return types_[static_cast<size_t>(type)]; }
  // Returns nullopt for a type that is not ours.
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
