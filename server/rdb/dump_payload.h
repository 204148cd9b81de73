// The payloads of DUMP and RESTORE: a value, the version of its form, and a checksum.
#pragma once

#include <absl/status/status.h>

#include <string>
#include <string_view>

#include "core/keyspace/keyspace.h"
#include "server/rdb/engine_sink.h"
#include "server/rdb/rdb_sink.h"

namespace tally::rdb {

std::string DumpPayload(const Keyspace::Entry& entry);

// Whether the version is one that can be read, and the checksum is right. A checksum of 0 means
// that there is none.
bool IsPayload(std::string_view payload);

// Gives the value of a payload to a new sink. Returns an error, with nothing stored, if the value
// is malformed. What has no type here is not stored either, and is among what the sink has skipped.
// Requires IsPayload.
absl::Status RestorePayload(std::string_view payload, const KeyHead& head, EngineSink& sink);

}  // namespace tally::rdb
