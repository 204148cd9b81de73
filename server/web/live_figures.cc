#include "server/web/live_figures.h"

#include <functional>
#include <map>
#include <string>

#include "core/base/saturating.h"
#include "core/bytes/str_cat.h"
#include "server/figures/figure_history.h"
#include "server/figures/figure_list.h"
#include "server/figures/refusal.h"
#include "server/http/json_text.h"
#include "server/interfaces/process.h"
#include "server/state/clock.h"
#include "server/state/pause.h"
#include "server/state/stats.h"

namespace tally::server {
namespace {

// Writes the figures as a JSON object, whose members may be objects. Our own names need no escapes.
class JsonFigures : public FigureSink {
 public:
  // Adds a member. The caller must append the value to the text that it returns.
  std::string& Member(std::string_view name) {
    const size_t dot = name.find('.');
    std::string& object = dot == name.npos ? members_ : objects_[std::string(name.substr(0, dot))];
    StrAppend(object, object.empty() ? "\"" : ",\"", name.substr(dot + 1), "\":");
    return object;
  }
  void AddText(std::string_view name, std::string_view text) { AppendJsonText(Member(name), text); }
  // Adds the section's rows too, as members of this object.
  void set_rows_to(std::string_view object) { rows_to_ = object; }
  std::string Text() {
    for (const auto& [name, members] : objects_) StrAppend(Member(name), '{', members, '}');
    return StrCat('{', members_, '}');
  }

 private:
  void Put(std::string_view row, const FigureValue& value, const ShownAs& also) override {
    if (!also.json.empty()) AddValue(also.json, value);
    if (!rows_to_.empty() && !row.empty()) AddValue(StrCat(rows_to_, ".", row), value);
  }
  void AddValue(std::string_view name, const FigureValue& value) {
    if (const auto* number = std::get_if<int64_t>(&value)) StrAppend(Member(name), *number);
    if (const auto* micros = std::get_if<Micros>(&value)) StrAppend(Member(name), micros->count);
    if (const auto* text = std::get_if<std::string_view>(&value)) AddText(name, *text);
  }

  std::string members_;
  std::map<std::string, std::string, std::less<>> objects_;  // the members of each
  std::string_view rows_to_;
};

// The kinds are the first words of errors, which scripts may invent.
void AddErrors(const Stats& stats, std::string& out) {
  std::string_view separator = "[";
  for (const auto& [kind, count] : stats.errors) {
    out += separator;
    out += '[';
    AppendJsonText(out, kind);
    StrAppend(out, ",", count, "]");
    separator = ",";
  }
  out += stats.errors.empty() ? "[]" : "]";
}

}  // namespace

std::string LiveFigures(const Services& server) {
  const Stats& stats = server.stats;
  const int64_t now_ms = server.clock.now_ms();
  JsonFigures json;
  for (const FigureSection& section : FigureSections()) {
    json.set_rows_to(section.report == ReportPersistence ? "persistence" : "");
    section.report(server, json);
  }
  StrAppend(json.Member("now_ms"), now_ms);
  // Since when the counts that CONFIG RESETSTAT resets are counted.
  StrAppend(json.Member("counted_since_ms"),
            stats.reset_ms != 0 ? stats.reset_ms : server.process->started_ms());
  AddErrors(stats, json.Member("errors_by_kind"));
  json.AddText("refusal", Refusal(server));
  if (server.pause.active(server.clock)) {
    const int64_t left_ms = server.pause.until_ms - server.clock.elapsed_ms();
    StrAppend(json.Member("paused_until_ms"), SaturatingAdd(now_ms, left_ms));
    StrAppend(json.Member("paused_writes_only"), server.pause.writes_only ? 1 : 0);
  }
  server.history.AppendLatest(json.Member("latest"));
  return json.Text();
}

HttpResponse OpenEvents(const HttpCall& call) {
  // The first event is in the response, so that the client need not wait a second for it.
  return {.content_type = "text/event-stream",
          .body = StrCat("retry: 2000\nevent: ", kLiveEvent, "\ndata: ", LiveFigures(call.server),
                         "\n\n"),
          .streams = true};
}

HttpResponse Past(const HttpCall& call) {
  HttpResponse response{.content_type = "application/json"};
  call.server.history.AppendJson(response.body);
  return response;
}

}  // namespace tally::server
