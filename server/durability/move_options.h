// How data of Redis is taken over, as the command line says.
#pragma once

#include <string>

namespace tally::server {

struct MoveOptions {
  bool skip_unknown = false;          // what has no type here does not stop the start
  bool drop_field_deadlines = false;  // fields of hashes live without deadlines of their own
  bool keep_expired = false;          // keys stay although their deadlines have passed
  // The file or the folder to be read, instead of what is in the working directory; it stays as it
  // is. Empty: what Redis would start with.
  std::string import_path = {};
};

}  // namespace tally::server
