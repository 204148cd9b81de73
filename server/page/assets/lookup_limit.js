// What a limit's key holds, and when its policies or any rules allow again.

import { actions } from "./actions.js";
import { ApiError, batch, call, named } from "./api.js";
import { input, question } from "./ask.js";
import { el, facts, field, panel, table } from "./dom.js";
import { clock, count, instant, lately, parseDuration, span } from "./format.js";
import { showKey, splitWords } from "./words.js";

const COUNTER = ["algorithm", "period", "used", "newest_ms", "ends_ms"];
const DECISION = ["allowed", "limit", "remaining", "retry_after_ms", "reset_after_ms", "rule"];
const MOST_POLICIES = 200, MOST_MATCHES = 5;

// A counter's used hits are of this stretch of time.
function stretch(counter) {
  const period = typeof counter.period === "number" ? span(counter.period) : `calendar ${counter.period}`;
  switch (counter.algorithm) {
    case "SLIDING": return `in the last ${lately(counter.period)}`;
    case "ROLLING": return `in the last ${lately(counter.period)}, by weight`;
    case "BUCKET": return `tokens missing, refilled each ${period}`;
    case "CALENDAR": return `in the ${period} that began ${clock(counter.newest_ms)}`;
    case "FIXED": return `in the ${lately(counter.period)} to ${clock(counter.ends_ms)}`;
    default: return typeof counter.period === "number" ? `in ${period}` : `in this ${counter.period}`;
  }
}

function held(counters, now) {
  return table("What is counted for the key", [{ name: "Algorithm" }, { name: "Period" }, { name: "Used", number: true },
    { name: "Span" }, { name: "Newest, or begin" }, { name: "Counts no more from" }],
  counters.map((one) => [one.algorithm, typeof one.period === "number" ? span(one.period) : one.period, count(one.used),
    stretch(one), instant(one.newest_ms, now), instant(one.ends_ms, now)]));
}

// A decision in words, at `now`.
function decision(reply, now) {
  const it = named(reply, DECISION);
  const allowed = it.allowed === 1 || it.allowed === true;
  const words = allowed ? [el("strong", { class: "good" }, "Allowed"), `: ${count(it.remaining)} of ${count(it.limit)} left`]
    : [el("strong", { class: "bad" }, "Denied"), ` by rule ${it.rule}, whose limit is ${count(it.limit)}`];
  const when = allowed ? null : it.retry_after_ms < 0 ? "never: the cost is more than the limit"
    : `allowed again ${instant(now + it.retry_after_ms, now)}`;
  const unused = it.reset_after_ms > 0 ? `wholly unused again ${instant(now + it.reset_after_ms, now)}` : "unused";
  return el("p", { class: "decision" }, words, `, at ${clock(now)}`, when ? ["; ", el("b", {}, when)] : null, `; ${unused}.`);
}

// The policies that name a counter which the key holds.
async function matching(counters, chosen) {
  if (chosen !== undefined) return [chosen];
  let names;
  try {
    names = (await call("POLICY.LIST")).slice(0, MOST_POLICIES);
  } catch {
    return [];  // Who may not list them asks by hand below.
  }
  const rules = await batch(names.map((name) => ["POLICY.GET", name]));
  return names.filter((_, i) => Array.isArray(rules[i]) && counters.some((one) => mentions(rules[i], one))).slice(0, MOST_MATCHES);
}

function mentions(words, counter) {
  return words.some((word, i) => String(word).toUpperCase() === counter.algorithm
    && words.slice(i + 1, i + 4).some((next) => next === counter.period || parseDuration(next) === counter.period));
}

function asker(subject) {
  const rules = input("rules", { placeholder: "SLIDING 5 10m  or  POLICY api" });
  const cost = input("cost", { type: "number", min: "0", value: "1" });
  return question([field("Rules", rules), field("Cost", cost)], "Would it be allowed?", async () => {
    const words = splitWords(rules.value);
    if (words === null) throw new Error("A quote is not closed.");
    return decision(await subject.one("LIMIT.PEEK", subject.key, ...words, "COST", cost.value), Date.now());
  });
}

export async function showLimit(subject, { policy }) {
  const counters = (await subject.one("LIMIT.SHOW", subject.key)).map((one) => named(one, COUNTER));
  const state = panel("What is counted", { id: "limit-state", wide: true });
  state.span(`at ${clock(subject.now)}`);
  if (counters.length === 0) state.empty("Nothing is counted for it any more.");
  else state.show(held(counters, subject.now), actions(subject, [["Give one back", ["LIMIT.GIVE", subject.key, "1"]],
    ["Reset", ["LIMIT.RESET", subject.key]]]));
  const names = await matching(counters, policy);
  const answers = await subject.ask(names.map((name) => ["LIMIT.PEEK", subject.key, "POLICY", name]));
  const next = panel("When it is allowed", { id: "limit-next", wide: true, note: "As LIMIT.PEEK answers: nothing changes." });
  next.span(`at ${clock(subject.now)}`);
  const judged = names.map((name, i) => [`Policy ${showKey(name)}`, answers[i] instanceof ApiError
    ? el("span", { class: "error" }, answers[i].message) : decision(answers[i], subject.now)]);
  next.show(judged.length > 0 ? facts(judged)
    : el("p", { class: "muted" }, "No stored policy counts as this key does. Ask by rules:"), asker(subject));
  return [{ panel: state }, { panel: next }];
}

