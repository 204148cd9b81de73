// An audience: who is online, peak, new and active users by day.

import { actions } from "./actions.js";
import { ApiError, fields, named } from "./api.js";
import { input, question } from "./ask.js";
import { Chart } from "./charts.js";
import { el, facts, field, panel, table } from "./dom.js";
import { clock, count, DAY, HOUR, instant, lately, MINUTE, span } from "./format.js";
import { readKey, showKey } from "./words.js";

const DAYS = 30, LATEST = 7;
const DAY_FIELDS = ["date", "active", "new", "peak", "peak_at_ms"];
const OPTIONS = ["window_ms", "zone", "keep_ms", "ids", "online"];
const SEEN = ["number", "last_seen_ms", "first_seen_ms", "online"];

function today(set, day, now) {
  return facts([["Online", `${count(set.online)} at ${clock(now)}, seen in the last ${lately(set.window_ms)}`],
    ["Peak today", `${count(day.peak)}, ${day.peak > 0 ? `at ${clock(day.peak_at_ms)}` : "nobody yet"}`],
    ["Active today", `${count(day.active)} since midnight of ${day.date}, ${set.zone}`],
    ["New today", `${count(day.new)} since midnight of ${day.date}`]]);
}

// One id: when it was seen.
function seen(subject) {
  const id = input("id");
  return question(field("An id of the audience", id), "When was it seen?", async () => {
    const wanted = readKey(id.value);
    const reply = await subject.one("ACTIVE.SEEN", subject.key, wanted);
    if (reply === null) return el("p", {}, `${showKey(wanted)} has never been seen.`);
    const it = named(reply, SEEN), now = Date.now();
    return [facts([["Now", it.online ? "online" : "not online"], ["Last seen", instant(it.last_seen_ms, now)],
      ["First seen", instant(it.first_seen_ms, now)], ["Number", count(it.number)]]),
    actions(subject, [[`Forget ${showKey(wanted)}`, ["ACTIVE.FORGET", subject.key, wanted]]])];
  });
}

function byDay(days, zone) {
  const title = "Users by day";
  const place = panel(title, { id: "active-days", wide: true });
  const chart = new Chart(title, [{ name: "active", colour: "--series-1" }, { name: "new", colour: "--series-3" },
    { name: "peak online", colour: "--series-2", dashed: true }], count,
    (at) => at.toLocaleDateString("en-CA"), { drawPoints: true, pointSize: 2 });
  const rows = days.map((day) => [new Date(`${day.date}T12:00:00`), day.active, day.new, day.peak]);
  place.span(`the ${days.length} days to ${days[days.length - 1].date}, as days of ${zone}`);
  place.show(chart.node, table(`The latest ${Math.min(LATEST, days.length)} days`, [{ name: "Day" }, { name: "Active", number: true },
    { name: "New", number: true }, { name: "Peak online", number: true }, { name: "Peak at" }],
  days.slice(-LATEST).reverse().map((day) => [day.date, count(day.active), count(day.new), count(day.peak),
    day.peak > 0 ? clock(day.peak_at_ms) : "–"]), { captioned: true }));
  return { panel: place, charts: [{ chart, rows }] };
}

function course(series, from, step, now) {
  const title = "Most online at once";
  const place = panel(title, { id: "active-course", wide: true });
  const chart = new Chart(title, [{ name: "online", colour: "--series-1" }], count,
    (at) => `in the 5 minutes from ${clock(at.getTime())}`, { stepPlot: true, fillGraph: true });
  const known = new Map(series.map((one) => fields(one)));
  const rows = [];
  for (let at = from; at < now; at += step) rows.push([new Date(at), known.get(at) ?? null]);
  place.span(`the last 24 hours, the most in each 5 minutes, to ${clock(now)}`);
  place.show(chart.node);
  return { panel: place, charts: [{ chart, rows }] };
}

export async function showActive(subject) {
  const now = subject.now, step = 5 * MINUTE;
  const to = Math.ceil(now / step) * step, from = to - 24 * HOUR;
  const [shown, list, series] = await subject.ask([["ACTIVE.SHOW", subject.key],
    ["ACTIVE.DAY", subject.key, "DAYS", String(DAYS)],
    ["ACTIVE.SERIES", subject.key, "FROM", `${from}ms`, "TO", `${to}ms`, "STEP", "5m"]]);
  for (const reply of [shown, list]) if (reply instanceof ApiError) throw reply;
  const set = named(shown, OPTIONS);
  const days = list.map((day) => named(day, DAY_FIELDS));
  const week = new Date(Date.parse(days[days.length - 1].date) - 6 * DAY).toISOString().slice(0, 10);
  const [weekly, monthly] = await subject.ask([["ACTIVE.USERS", subject.key, "FROM", week, "TO", days[days.length - 1].date],
    ["ACTIVE.USERS", subject.key, "FROM", days[0].date, "TO", days[days.length - 1].date]]);
  const state = panel("Audience", { id: "active", wide: true });
  const distinct = (reply) => (reply instanceof ApiError ? reply.message : count(reply));
  state.span(`at ${clock(now)}`);
  state.show(today(set, days[days.length - 1], now), facts([["Distinct in 7 days", `${distinct(weekly)}, since ${week}`],
    [`Distinct in ${days.length} days`, `${distinct(monthly)}, since ${days[0].date}`],
      ["Ids known", count(set.ids)], ["Days are kept for", span(set.keep_ms)]]), seen(subject));
  const parts = [{ panel: state }, byDay(days, set.zone)];
  if (!(series instanceof ApiError)) parts.splice(1, 0, course(series, from, step, now));
  return parts;
}
