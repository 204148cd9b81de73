#include "server/durability/persistence_report.h"

#include <string>

#include "core/bytes/str_cat.h"
#include "server/durability/progress.h"

namespace tally::server {
namespace {

std::string TimeLeft(std::optional<int64_t> seconds) {
  return seconds.has_value() ? StrCat(", about ", *seconds, " s left") : std::string();
}

}  // namespace

uint64_t CountKeys(const Engine& engine) {
  uint64_t keys = 0;
  for (size_t i = 0; i < engine.databases(); ++i) keys += engine.database(i).size();
  return keys;
}

void PersistenceReport::Loading(const LoadingFigures& figures, uint64_t keys) const {
  log_.Notice("Loading: ", Progress::Percent(figures.bytes.done, figures.bytes.total), "%, ", keys,
              " keys", TimeLeft(figures.seconds_left));
}

void PersistenceReport::Loaded(const AofLoader& loader, uint64_t keys, int64_t took_us) const {
  if (loader.torn_bytes() > 0) {
    log_.Warning("Truncating a torn tail of ", loader.torn_bytes(), " bytes of ",
                 loader.torn_path());
  }
  log_.Notice("Loaded ", keys, " keys from ", loader.bytes_total(), " bytes in ", took_us / 1000,
              " ms");
}

void PersistenceReport::TakesOver(const RedisFiles& redis) const {
  for (const std::string& path : redis.paths) {
    log_.Notice("Taking over the data of Redis: ", path);
  }
}

void PersistenceReport::LoadedRedis(const RedisLoader& loader, uint64_t keys,
                                    int64_t took_us) const {
  if (loader.torn_bytes() > 0) {
    log_.Warning("Leaving out a torn tail of ", loader.torn_bytes(), " bytes of ",
                 loader.redis().paths.back());
  }
  const std::string left_out = loader.LeftOut();
  if (!left_out.empty()) log_.Notice("Left out: ", left_out);
  log_.Notice("Loaded ", keys, " keys from ", loader.bytes_total(), " bytes of Redis in ",
              took_us / 1000, " ms");
}

void PersistenceReport::TookOver(const std::vector<std::string>& set_aside) const {
  for (const std::string& name : set_aside) log_.Notice("The old files are kept as ", name);
}

void PersistenceReport::ChangesAreDue(uint64_t changes) const {
  log_.Notice(changes, " changes are not in a snapshot: saving");
}

void PersistenceReport::LogIsDue(uint64_t bytes) const {
  log_.Notice("The log has grown by ", bytes, " bytes: rewriting");
}

void PersistenceReport::RewriteBegins(uint64_t base) const {
  log_.Notice("Rewriting the append-only file: base ", base, " begins");
}

void PersistenceReport::Rewriting(const SavingFigures& figures) const {
  log_.Notice("Saving: ", Progress::Percent(figures.extent.done, figures.extent.total), "%, ",
              figures.keys.done, " of ", figures.keys.total, " keys, ", figures.bytes, " bytes",
              TimeLeft(figures.seconds_left));
}

void PersistenceReport::RewriteDone(uint64_t records, uint64_t bytes, int64_t took_ms,
                                    uint64_t failures) const {
  log_.Notice("Rewrite done: ", records, " records, ", bytes, " bytes in ", took_ms, " ms");
  if (failures > 0) log_.Notice("It was tried again after ", failures, " failures");
}

void PersistenceReport::RdbBegins(std::string_view path) const {
  log_.Notice("Writing an RDB: ", path);
}

void PersistenceReport::RdbDone(uint64_t keys, uint64_t bytes, int64_t took_ms,
                                uint64_t failures) const {
  log_.Notice("The RDB is written: ", keys, " keys, ", bytes, " bytes in ", took_ms, " ms");
  if (failures > 0) log_.Notice("It was tried again after ", failures, " failures");
}

void PersistenceReport::RewriteFailed(const absl::Status& why) const {
  log_.Warning("Writing a snapshot failed: ", std::string(why.message()),
               "; automatic ones pause for 1 s, then for longer, up to 5 min");
}

void PersistenceReport::RewriteGivenUp(std::string_view why) const {
  log_.Notice("Writing a snapshot is given up: ", why);
}

}  // namespace tally::server
