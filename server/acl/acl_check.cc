#include "server/acl/acl_check.h"

#include <absl/strings/substitute.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "core/bytes/str_cat.h"

namespace tally::server {
namespace {

unsigned RightsFor(uint16_t use) {
  constexpr unsigned kWriting = kKeyUpdate | kKeyInsert | kKeyDelete;
  unsigned rights = 0;
  if ((use & kKeyAccess) != 0) rights |= kMayRead;
  if ((use & kWriting) != 0) rights |= kMayWrite;
  return rights;
}

// The verdict of one selector, and the index of the argument that it denies.
struct Finding {
  AclDenial denial = AclDenial::kNone;
  size_t index = 0;
};

// One call, which is checked against one selector after the other. Its keys are found only once.
class CallCheck {
 public:
  CallCheck(const CommandEntry& entry, Args args) : entry_(entry), args_(args) {}

  Finding Ask(const AclSelector& selector) {
    // A client that is not logged in needs these commands to log in, so every user may run them.
    const bool is_login = (entry_.command->flags & kNoAuth) != 0;
    if (!is_login && !selector.MayRun(entry_.id, args_)) return {AclDenial::kCommand, 0};
    const Finding finding = AskForKeys(selector);
    return finding.denial != AclDenial::kNone ? finding : AskForChannels(selector);
  }

 private:
  Finding AskForKeys(const AclSelector& selector) {
    if (selector.all_keys) return {};
    for (const KeyReference& key : Names()) {
      if (!selector.MayUseKey(args_[key.index], RightsFor(key.use))) {
        return {AclDenial::kKey, key.index};
      }
    }
    return {};
  }

  Finding AskForChannels(const AclSelector& selector) const {
    const ChannelWords channels = entry_.command->channels;
    if (selector.all_channels || channels == ChannelWords::kNone) return {};
    const bool patterns = channels == ChannelWords::kAllPatterns;
    const size_t end = channels == ChannelWords::kFirst ? 2 : args_.size();
    for (size_t i = 1; i < end; ++i) {
      if (!selector.MayUseChannel(args_[i], patterns)) return {AclDenial::kChannel, i};
    }
    return {};
  }

  // The keys and the policy that the call names. There are no keys if the call is malformed: the
  // command itself replies with the error.
  const std::vector<KeyReference>& Names() {
    if (!names_) {
      const Command& command = *entry_.command;
      names_.emplace();
      if (!FindKeys(command, args_, *names_)) names_->clear();
      if (command.policy_use != 0 && args_.size() > 1) names_->push_back({1, command.policy_use});
    }
    return *names_;
  }

  const CommandEntry& entry_;
  const Args args_;
  std::optional<std::vector<KeyReference>> names_;
};

}  // namespace

AclVerdict CheckCall(const AclUser& user, const CommandEntry& entry, Args args) {
  if (user.unrestricted) return {};
  CallCheck call(entry, args);
  Finding worst = call.Ask(user.own);
  for (const AclSelector& selector : user.selectors) {
    if (worst.denial == AclDenial::kNone) break;
    const Finding finding = call.Ask(selector);
    // The result names what was denied by the selector that allowed the most.
    const bool further = finding.denial > worst.denial ||
                         (finding.denial == worst.denial && finding.index > worst.index);
    if (further || finding.denial == AclDenial::kNone) worst = finding;
  }
  const bool at_command = worst.denial == AclDenial::kCommand;
  return {worst.denial, at_command ? std::string_view(entry.full_name) : args[worst.index]};
}

ReadRights::ReadRights(const AclUser* user, const CommandEntry& entry, Args args)
    : unrestricted_(user == nullptr || user->unrestricted) {
  if (unrestricted_) return;
  CallCheck call(entry, args);
  const auto add = [&](const AclSelector& selector) {
    if (call.Ask(selector).denial == AclDenial::kNone) selectors_.push_back(&selector);
  };
  add(user->own);
  std::for_each(user->selectors.begin(), user->selectors.end(), add);
}

bool ReadRights::MayRead(std::string_view key) const {
  return unrestricted_ ||
         std::any_of(selectors_.begin(), selectors_.end(), [&](const AclSelector* selector) {
           return selector->MayUseKey(key, kMayRead);
         });
}

bool ReadRights::MayReadEveryKey() const {
  return unrestricted_ ||
         std::any_of(selectors_.begin(), selectors_.end(),
                     [](const AclSelector* selector) { return selector->MayReadEveryKey(); });
}

const DenialWords& WordsOf(AclDenial denial) {
  static constexpr DenialWords kWords[] = {
      {"", "", "", "", ""},
      {"command", "NOPERM this user has no permissions to run the '$0' command",
       "This user has no permissions to run the '$0' command",
       "ERR The user executing the script can't run this command or subcommand",
       "no permission to execute the command or subcommand"},
      {"key", "NOPERM this user has no permissions to access one of the keys used as arguments",
       "This user has no permissions to access the '$0' key",
       "ERR The user executing the script can't access at least one of the keys mentioned in the "
       "command arguments",
       "no permission to touch the specified keys"},
      {"channel",
       "NOPERM this user has no permissions to access one of the channels used as arguments",
       "This user has no permissions to access the '$0' channel",
       "ERR The user executing the script can't publish to the channel mentioned in the command",
       "no permission to access one of the channels used as arguments"},
  };
  return kWords[static_cast<size_t>(denial)];
}

std::string DenialError(const AclVerdict& verdict) {
  return absl::Substitute(WordsOf(verdict.denial).error, std::string(verdict.object));
}

}  // namespace tally::server
