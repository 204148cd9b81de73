#include "server/module/value_types.h"

#include "core/base/check.h"
#include "server/module/module.h"
#include "server/module/module_api.h"
#include "server/module/policy_files.h"
#include "server/module/stored_value.h"
#include "server/module/value_codec.h"
#include "server/module/value_digest.h"

namespace tally::module {
namespace {

// The server's names of types must have nine characters. They are in RDB files: never change them.
const char* NameOf(Type type) {
  switch (type) {
    case Type::kHits:
      return "tallyhits";
    case Type::kLimit:
      return "tallylimt";
    case Type::kActive:
      return "tallyactv";
    case Type::kQuota:
      return "tallyquot";
    default:
      Check(false, "a type of the module");
      return "";
  }
}

// The server does not say to a callback which type it is for, so each type has its own callbacks.
template <Type kType>
redis::TypeMethods Methods() {
  redis::TypeMethods methods{};
  methods.version = redis::kTypeMethodsVersion;
  methods.rdb_load = [](redis::Io* io, int version) -> void* {
    Engine& engine = TheModule().engine();
    const StoredValue value = LoadValue(io, kType, version, engine.seed(), engine.zones());
    if (!value) {
      redis::Functions().LogIOError(io, "warning", "tally: a malformed value of type %s",
                                    NameOf(kType));
    }
    return value.raw();
  };
  methods.rdb_save = [](redis::Io* io, void* value) { SaveValue(io, kType, StoredValue(value)); };
  methods.aof_rewrite = [](redis::Io* io, redis::String* key, void* value) {
    RewriteValue(io, key, kType, StoredValue(value));
  };
  methods.mem_usage = [](const void* value) {
    return StoredValue(const_cast<void*>(value)).MemoryBytes(kType);
  };
  methods.digest = [](redis::Digest* digest, void* value) {
    DigestValue(digest, kType, StoredValue(value));
  };
  methods.free = [](void* value) { StoredValue(value).Free(kType); };
  methods.free_effort = [](redis::String*, const void* value) {
    return StoredValue(const_cast<void*>(value)).Weight(kType);
  };
  methods.copy = [](redis::String*, redis::String*, const void* value) {
    return StoredValue(const_cast<void*>(value)).Clone(kType).raw();
  };
  // Only packed values are moved. A heap value stays where it is: something may point into it.
  methods.defrag = [](redis::DefragContext* context, redis::String*, void** raw) {
    const StoredValue value(*raw);
    if (!value.is_packed()) return 0;
    void* moved = redis::Functions().DefragAlloc(context, value.block());
    if (moved != nullptr) *raw = StoredValue::OfBlock(static_cast<char*>(moved)).raw();
    return 0;
  };
  return methods;
}

redis::TypeMethods MethodsOf(Type type) {
  switch (type) {
    case Type::kHits:
      return Methods<Type::kHits>();
    case Type::kLimit:
      return Methods<Type::kLimit>();
    case Type::kActive:
      return Methods<Type::kActive>();
    default:
      return Methods<Type::kQuota>();
  }
}

}  // namespace

bool ValueTypes::Register(redis::Context* context) {
  for (const Type type : kModuleTypes) {
    redis::TypeMethods methods = MethodsOf(type);
    // Policies belong to no key; they are saved and loaded with the type of limits.
    if (type == Type::kLimit) AddPolicyMethods(methods);
    redis::Type* made =
        redis::Functions().CreateDataType(context, NameOf(type), kEncodingVersion, &methods);
    if (made == nullptr) {
      redis::Functions().Log(context, "warning",
                             "tally: the server refuses the type '%s'. Is there one of this name "
                             "already, of another module?",
                             NameOf(type));
      return false;
    }
    types_[static_cast<size_t>(type)] = made;
  }
  return true;
}

}  // namespace tally::module
