// What a limit's key holds, and when its policies or any rules allow again.

import { actions } from "./actions.js";
import { ApiError, batch, call, named } from "./api.js";
import { input, question } from "./ask.js";
import { el, facts, field, panel, table } from "./dom.js";
import { clock, count, instant, lately, parseDuration, span } from "./format.js";
import { splitRules } from "./rules.js";
import { quoteLine, showKey, splitWords } from "./words.js";

const COUNTER = ["algorithm", "period", "used", "newest_ms", "ends_ms"];
const DECISION = ["allowed", "limit", "remaining", "retry_after_ms", "reset_after_ms", "rule"];
const SHADOW = "SHADOW "; // before the algorithm of a rule in SHADOW
const MOST_POLICIES = 200, MOST_MATCHES = 5, MOST_DENYING = 20;

// A counter's used hits are of this stretch of time.
function stretch(counter) {
  const period = typeof counter.period === "number" ? span(counter.period) : `calendar ${unitOf(counter)}`;
  switch (counter.algorithm) {
    case "SLIDING": return `in the last ${lately(counter.period)}`;
    case "ROLLING": return `in the last ${lately(counter.period)}, by weight`;
    case "BUCKET": return `tokens missing, refilled each ${period}`;
    case "CALENDAR": return `in the ${period} that began ${clock(counter.newest_ms)}`;
    case "LOCKOUT": return lockout(counter);
    case "CONCURRENT": case "HOLDS": return `held until ${clock(counter.ends_ms)} at the latest`;
    case "FIXED": return `in the ${lately(counter.period)} to ${clock(counter.ends_ms)}`;
    default: return typeof counter.period === "number" ? `in ${period}` : `in this ${unitOf(counter)}`;
  }
}

// A LOCKOUT has a row for its period and one for its block, whose used is its place among those that grow.
function lockout(counter) {
  switch (counter.period) {
    case "block": return `blocked until ${clock(counter.ends_ms)}, step ${counter.used}`;
    case "remembered": return `not blocked; a block before ${clock(counter.ends_ms)} is step ${counter.used + 1}`;
    default: return `in the ${lately(counter.period)} to ${clock(counter.ends_ms)}`;
  }
}

// A calendar's period is its unit, and then its zone and start: "month TZ Asia/Tokyo STARTS 31".
function unitOf(counter) {
  return typeof counter.period === "number" ? counter.period : counter.period.split(" ")[0];
}

function period(counter) {
  if (typeof counter.period === "number") return span(counter.period);
  if (counter.algorithm !== "CALENDAR" && counter.algorithm !== "BASE") return counter.period;
  const where = counter.period.split(" ").slice(1);
  const zone = where[0] === "TZ" ? where.splice(0, 2)[1] : "UTC";
  return [unitOf(counter), [zone, ...where].join(" ")].join(", ");
}

function held(counters, now) {
  return table("What is counted for the key", [{ name: "Algorithm" }, { name: "Period" }, { name: "Used", number: true },
    { name: "Span" }, { name: "Newest, or begin" }, { name: "Counts no more from" }],
  counters.map((one) => [one.shadow ? `SHADOW ${one.algorithm}` : one.algorithm, period(one), count(one.used),
    stretch(one), instant(one.newest_ms, now), instant(one.ends_ms, now)]));
}

// A decision in words, at `now`. rules: those that were judged, as far as they are known.
function decision(reply, now, rules = []) {
  const it = named(reply, DECISION);
  const allowed = it.allowed === 1 || it.allowed === true;
  const words = allowed ? [el("strong", { class: "good" }, "Allowed"), `: ${count(it.remaining)} of ${count(it.limit)} left`]
    : [el("strong", { class: "bad" }, "Denied"), ` by rule ${it.rule}, `,
      rules[it.rule - 1] ? el("code", {}, quoteLine(rules[it.rule - 1])) : `whose limit is ${count(it.limit)}`];
  // A whole second, never one too early.
  const after = (wait) => instant(Math.ceil((now + wait) / 1000) * 1000, now);
  const when = allowed ? null : it.retry_after_ms < 0 ? "it is never allowed: the cost is more than the limit"
    : `allowed again ${after(it.retry_after_ms)}`;
  const unused = it.reset_after_ms > 0 ? `wholly unused again ${after(it.reset_after_ms)}` : "unused";
  return el("p", { class: "decision" }, words, `, at ${clock(now)}`, when ? ["; ", el("b", {}, when)] : null, `; ${unused}.`);
}

// The stored policies with their rules: [{name, rules}]; null for who may not list them, and asks by hand.
async function policies() {
  let names;
  try {
    names = (await call("POLICY.LIST")).slice(0, MOST_POLICIES);
  } catch {
    return null;
  }
  const rules = await batch(names.map((name) => ["POLICY.GET", name]));
  return names.map((name, i) => ({ name, rules: Array.isArray(rules[i]) ? splitRules(rules[i]) : [] }));
}

// What each policy answers for the key: those that count as the key does, and those that deny it, which
// may be without a counter.
async function judge(subject, counters, listed, chosen) {
  const known = listed ?? [];
  const same = (name) => chosen !== undefined && JSON.stringify(name) === JSON.stringify(chosen);
  const all = known.some(({ name }) => same(name)) || chosen === undefined ? known : [{ name: chosen, rules: [] }, ...known];
  const answers = await subject.ask(all.map(({ name }) => ["LIMIT.PEEK", subject.key, "POLICY", name]));
  const judged = all.map((one, i) => ({ ...one, answer: answers[i], denies: isDenied(answers[i]), chosen: same(one.name) }));
  const counts = judged.filter((one) => one.chosen || one.rules.some((words) => counters.some((counter) => mentions(words, counter))));
  const denying = judged.filter((one) => one.denies && !counts.includes(one));
  const shown = [...denying.slice(0, MOST_DENYING), ...counts.sort((a, b) => b.chosen - a.chosen).slice(0, MOST_MATCHES)];
  return { shown, others: judged.length - shown.length, listed: listed !== null };
}

function isDenied(answer) {
  if (answer instanceof ApiError) return false;
  const { allowed } = named(answer, DECISION);
  return allowed === 0 || allowed === false;
}

function mentions(words, counter) {
  return words.some((word, i) => String(word).toUpperCase() === counter.algorithm
    && words.slice(i + 1, i + 4).some((next) => next === unitOf(counter) || parseDuration(next) === counter.period));
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

function verdicts({ shown, others, listed }, exists, now) {
  const rows = shown.map(({ name, rules, answer }) => [`Policy ${showKey(name)}`, answer instanceof ApiError
    ? el("span", { class: "error" }, answer.message) : decision(answer, now, rules)]);
  if (rows.length > 0) {
    return [facts(rows), others > 0 ? el("p", { class: "muted" }, others === 1
      ? "One other policy allows it, or does not count as this key does."
      : `${count(others)} other policies allow it, or do not count as this key does.`) : null];
  }
  const why = !listed ? "This user may not list the policies." : others === 0 ? "No policy is stored." : exists ? "No stored policy counts as this key does, and none denies it."
    : `Each of the ${count(others)} stored policies allows it.`;
  return [el("p", { class: "muted" }, `${why} Ask by rules:`)];
}

// When the key is allowed, whether there is such a key or not: a policy may deny what it does not count.
export async function showNext(subject, { policy, counters = [], known }) {
  const stored = known === undefined ? await policies() : known;
  const next = panel("When it is allowed", { id: "limit-next", wide: true, note: "As LIMIT.PEEK answers: nothing changes." });
  next.span(`at ${clock(subject.now)}`);
  next.show(...verdicts(await judge(subject, counters, stored, policy), subject.type !== "none", subject.now), asker(subject));
  return { panel: next };
}

export async function showLimit(subject, { policy }) {
  const counters = (await subject.one("LIMIT.SHOW", subject.key)).map((one) => {
    const counter = named(one, COUNTER);
    const shadow = counter.algorithm.startsWith(SHADOW);
    return { ...counter, shadow, algorithm: shadow ? counter.algorithm.slice(SHADOW.length) : counter.algorithm };
  });
  const known = await policies();
  const state = panel("What is counted", { id: "limit-state", wide: true });
  state.span(`at ${clock(subject.now)}`);
  if (counters.length === 0) state.empty("Nothing is counted for it any more.");
  else state.show(held(counters, subject.now), actions(subject, [["Give one back", ["LIMIT.GIVE", subject.key, "1"]],
    ["Reset", ["LIMIT.RESET", subject.key]]]));
  return [{ panel: state }, await showNext(subject, { policy, counters, known })];
}
