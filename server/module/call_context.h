// The context that a family's handler gets for a call. Only the server knows the call's user, so
// the rights are checked there.
#pragma once

#include <cstdint>
#include <string_view>

#include "server/command/command_context.h"
#include "server/module/redis_module.h"

namespace tally::module {

// Whether the call's user has the rights to use a policy as `use` (KeyFlags) says. A denial is in
// ACL LOG.
bool UserMayUsePolicy(redis::Context* context, redis::String* name, uint16_t use);

class CallContext : public server::CommandContext {
 public:
  CallContext(redis::Context* context, server::CommandHost& command_host,
              server::ReplyBuilder& reply_builder, const Call& call)
      : CommandContext(command_host, reply_builder, call), context_(context) {}

  bool MayRead(std::string_view key) const override;
  bool MayReadEveryKey() const override { return false; }

 private:
  redis::Context* context_;
};

}  // namespace tally::module
