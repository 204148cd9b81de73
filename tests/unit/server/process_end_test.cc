#include "server/process/process_end.h"

#include <catch2/catch.hpp>

#include "server/command_harness.h"

namespace tally::server::process_end_test {
namespace {

struct Ending {
  CommandHarness h;
  Supervisor nobody{""};
  ProcessEnd end{h.state.services, nobody};

  Ending() { h.state.stats.changes_since_save = 0; }
  FakePersistence& files() { return h.persistence; }
};

}  // namespace

TEST_CASE("process end: a signal saves as configured, and is not due before it was asked for") {
  Ending e;
  CHECK_FALSE(e.end.IsDue());
  CHECK(e.files().saves_at_end == 0);
  e.end.AskBySignal();
  CHECK(e.end.asked());
  CHECK(e.end.IsDue());
  CHECK(e.files().saves_at_end == 1);
  CHECK(e.files().saves == 0);
}

TEST_CASE(
    "process end: data that cannot be saved is not given up, and the end can be asked again") {
  Ending e;
  e.files().save_status = absl::UnavailableError("no space");
  e.end.AskBySignal();
  CHECK_FALSE(e.end.IsDue());
  CHECK_FALSE(e.end.asked());
  CHECK_FALSE(e.end.IsDue());
  CHECK(e.files().saves_at_end == 1);
  e.files().save_status = absl::OkStatus();
  e.end.AskBySignal();
  CHECK(e.end.IsDue());
}

TEST_CASE("process end: SHUTDOWN saves again only what was changed after it") {
  for (const uint64_t changes : {0, 1}) {
    Ending e;
    REQUIRE(e.end.Ask(false, EndSave::kAlways).ok());
    e.h.state.stats.changes_since_save = changes;
    CHECK(e.end.IsDue());
    CHECK(e.files().saves == static_cast<int>(changes));
    CHECK(e.files().saves_at_end == 0);
  }
}

TEST_CASE("process end: NOSAVE saves nothing, nor does a signal during a busy script") {
  Ending e;
  e.h.state.stats.changes_since_save = 5;
  REQUIRE(e.end.Ask(false, EndSave::kNone).ok());
  CHECK(e.end.IsDue());
  CHECK(e.files().saves + e.files().saves_at_end == 0);
  Ending busy;
  busy.h.state.services.script_busy = true;
  busy.end.AskBySignal();
  CHECK(busy.end.IsDue());
  CHECK(busy.files().saves + busy.files().saves_at_end == 0);
}

TEST_CASE("process end: a log that cannot be written refuses SHUTDOWN, FORCE ends all the same") {
  Ending e;
  e.files().error = absl::UnavailableError("disk");
  e.files().save_status = e.files().error;
  e.h.state.stats.changes_since_save = 5;
  CHECK_FALSE(e.end.Ask(false, EndSave::kAsConfigured).ok());
  CHECK_FALSE(e.end.asked());
  CHECK_FALSE(e.end.IsDue());
  REQUIRE(e.end.Ask(true, EndSave::kAsConfigured).ok());
  CHECK(e.end.IsDue());
  CHECK(e.files().saves_at_end == 1);
  // FORCE of one SHUTDOWN says nothing about a signal.
  e.end.AskBySignal();
  CHECK_FALSE(e.end.IsDue());
}

TEST_CASE("process end: data that cannot be loaded is not saved") {
  Ending e;
  e.end.FailToStart();
  CHECK(e.end.failed_to_start());
  CHECK(e.end.IsDue());
  CHECK(e.files().saves + e.files().saves_at_end == 0);
}

}  // namespace tally::server::process_end_test
