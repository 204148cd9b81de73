// An RDB that somebody asks for, while the server serves.
#pragma once

#include <absl/status/status.h>

#include <functional>
#include <string>

namespace tally::server {

struct RdbRequest {
  std::string path;  // a file of that name is replaced
  // Called when the state that the RDB has is the present one. May be null.
  std::function<void()> begun;
  // Called at the end, when the file is on the disk, or with the error. May be null.
  std::function<void(const absl::Status& status)> done;
  // Called on the worker's thread when the file is in place, before `done`. May be null.
  std::function<absl::Status()> then;
};

}  // namespace tally::server
