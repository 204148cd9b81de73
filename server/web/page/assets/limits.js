// The second view: policies, who is denied most, which keys are hot.

import { ApiError, batch, call, fields, infoPairs, infoRows } from "./api.js";
import { bar, el, field, panel, table } from "./dom.js";
import { bytes, clock, count, instant, lately, micros, percent, rate } from "./format.js";
import { splitRules } from "./rules.js";
import { isShortened, packKey, quoteLine, readKey, showKey } from "./words.js";

const EVERY_MS = 5000;
const MOST_POLICIES = 200;
const KEY_BYTES = 64;  // what DENIALS and HOTKEYS keep of a key
const SPANS = { "1m": "minute", "5m": "5 minutes", "1h": "hour" };

// A link to the look-up of a key, and to the policy by which it is judged. What is not the whole key has none.
function keyLink(key, { policy, database = 0 } = {}) {
  if (isShortened(key, KEY_BYTES)) {
    return el("span", { class: "key", title: `Of a key ${KEY_BYTES} bytes are kept here.` }, showKey(key));
  }
  const target = `#lookup?key=${encodeURIComponent(packKey(key))}${database > 0 ? `&db=${database}` : ""}${policy ? `&policy=${encodeURIComponent(packKey(policy))}` : ""}`;
  return el("a", { href: target, class: "key" }, showKey(key));
}

function share(allowed, denied) {
  const part = denied / (allowed + denied);
  return el("span", { class: "share" }, bar(part, "denied"), ` ${percent(part)}`);
}

// Names may be texts or bytes.
const identity = (name) => JSON.stringify(name);

export class Limits {
  #section;
  #policies = panel("Policies", { id: "policies", wide: true });
  #algorithms = panel("Decisions by algorithm", { id: "algorithms" });
  #denials = panel("Denied most", { id: "denials", wide: true });
  #hot = panel("Hot keys", { id: "hotkeys" });
  #window = el("select", { name: "window" }, Object.entries(SPANS).map(([value, name]) => el("option", { value }, name)));
  #policy = el("select", { name: "policy" }, el("option", { value: "" }, "all rules"));
  #names = [];
  #before = null;  // {at, decided by policy} of the last poll, for rates
  #timer = null;
  #busy = false;
  #started = NaN;  // unix ms at which the server began to count

  constructor(section) {
    this.#section = section;
    this.#window.value = "5m";
    const ask = el("form", { class: "row", onsubmit: (event) => event.preventDefault() },
      field("In the last", this.#window), field("By", this.#policy));
    this.#denials.body.before(ask);
    for (const select of [this.#window, this.#policy]) select.addEventListener("change", () => this.refresh());
    section.append(el("div", { class: "grid" }, this.#denials.node, this.#policies.node, this.#hot.node, this.#algorithms.node));
  }

  visible() {
    for (const one of [this.#policies, this.#algorithms, this.#denials, this.#hot]) one.loading();
    this.refresh();
  }

  // Asks again, and every five seconds as long as this view is seen.
  async refresh() {
    clearTimeout(this.#timer);
    if (this.#section.hidden || document.hidden || this.#busy) return;
    this.#busy = true;
    try {
      await this.#ask();
    } catch (error) {
      for (const one of [this.#policies, this.#algorithms, this.#denials, this.#hot]) one.failed(error);
    }
    this.#busy = false;
    this.#timer = setTimeout(() => this.refresh(), EVERY_MS);
  }

  async #ask() {
    const window = this.#window.value, chosen = this.#names[this.#policy.selectedIndex - 1];
    const denials = ["DENIALS", "WINDOW", window, "COUNT", "20"];
    if (chosen !== undefined) denials.push("POLICY", chosen);
    const [list, info, denied, hot, time, server] = await batch([["POLICY.LIST"], ["INFO", "limits"], denials, ["HOTKEYS", "GET"], ["TIME"],
      ["INFO", "server"]]);
    const now = time instanceof ApiError ? Date.now() : Number(fields(time)[0]) * 1000;
    this.#started = now - Number(infoRows(server).uptime_in_seconds) * 1000;
    const names = list instanceof ApiError ? [] : list.slice(0, MOST_POLICIES);
    const rules = await batch(names.map((name) => ["POLICY.GET", name]));
    this.#choose(list instanceof ApiError ? [] : list);
    this.#showPolicies(list, names, rules, info, now);
    this.#showAlgorithms(info, now);
    this.#showDenials(denied, window, now, new Map(names.map((name, i) => [identity(name), rules[i]])));
    this.#showHot(hot, now);
  }

  // Keeps what was chosen while the list of policies changes.
  #choose(names) {
    if (identity(names) === identity(this.#names)) return;
    const before = this.#names[this.#policy.selectedIndex - 1];
    this.#names = names;
    this.#policy.replaceChildren(el("option", { value: "" }, "all rules"),
      ...names.map((name) => el("option", {}, `policy ${showKey(name)}`)));
    const place = names.findIndex((name) => identity(name) === identity(before));
    this.#policy.selectedIndex = place + 1;
  }

  #since(panelOf, now, what) {
    const since = Number.isFinite(this.#started) ? ` since ${clock(this.#started)}` : "";
    panelOf.span(`${what}${since}, at ${clock(now)}`);
  }

  #showPolicies(list, names, rules, info, now) {
    if (list instanceof ApiError) return this.#policies.failed(list);
    this.#since(this.#policies, now, "Counts");
    if (names.length === 0) return this.#policies.empty("No policy is stored. POLICY.SET in the console stores one.");
    const decided = decisions(info, "policy");
    const why = info instanceof ApiError ? `Not known: ${info.message}`
      : "Counted with others, as the list has over 1,000 or the name over 128 bytes.";
    const before = this.#before;
    this.#before = { at: now, decided };
    const rows = names.map((name, i) => {
      const counts = decided.get(identity(name)) ?? null;
      const earlier = before?.decided.get(identity(name));
      const words = rules[i] instanceof ApiError || rules[i] === null ? [] : rules[i];
      const recent = counts && earlier && now > before.at ? ((counts.denied - earlier.denied) * 1000) / (now - before.at) : NaN;
      const figures = counts === null ? Array.from("1234", () => el("span", { title: why }, "–"))
        : [count(counts.allowed), count(counts.denied), share(counts.allowed, counts.denied), rate(recent)];
      return [showKey(name), el("code", {}, quoteLine(words)), ...figures,
        el("a", { href: `#console?run=${encodeURIComponent(quoteLine(["POLICY.SET", name, ...words]))}`,
          "aria-label": `Change policy ${showKey(name)}` }, "Change")];
    });
    this.#policies.show(table(`The ${names.length} policies${list.length > names.length ? ` of ${list.length} that come first` : ""}`,
      [{ name: "Policy" }, { name: "Rules" }, { name: "Allowed", number: true }, { name: "Denied", number: true },
        { name: "Denied share" }, { name: "Denied/s, last 5 s", number: true }, { name: "Change" }], rows));
  }

  #showAlgorithms(info, now) {
    if (info instanceof ApiError) return this.#algorithms.failed(info);
    const rows = [...decisions(info, "algorithm")].filter(([, one]) => one.allowed + one.denied > 0).sort((a, b) => b[1].allowed + b[1].denied - a[1].allowed - a[1].denied);
    this.#since(this.#algorithms, now, "Counts");
    if (rows.length === 0) return this.#algorithms.empty("Nothing has been decided yet.");
    this.#algorithms.show(table("Decisions by algorithm", [{ name: "Algorithm" }, { name: "Allowed", number: true },
      { name: "Denied", number: true }, { name: "Denied share" }],
    rows.map(([name, counts]) => [JSON.parse(name), count(counts.allowed), count(counts.denied), share(counts.allowed, counts.denied)])));
  }

  #showDenials(reply, window, now, stored) {
    if (reply instanceof ApiError) return this.#denials.failed(reply);
    this.#denials.span(`in the last ${SPANS[window]}, at ${clock(now)}`);
    if (reply.length === 0) return this.#denials.empty(`Nobody was denied in the last ${SPANS[window]}.`);
    const several = reply.some((entry) => fields(entry)[6] !== 0);
    const rows = reply.map((entry) => {
      const [key, rule, denied, error, last, shadow, database, place] = fields(entry);
      const policy = this.#names.find((name) => identity(name) === identity(rule));
      const where = several ? [String(database)] : [];
      return [keyLink(key, { policy, database }), ...where, which(rule, policy === undefined ? null : stored.get(identity(rule)), place), error > 0 ? `${count(denied)} (at most ${count(error)} too many)` : count(denied), shadow === 1 ? "no: SHADOW" : "yes",
        instant(Number(last), now)];
    });
    this.#denials.show(table(`Who was denied most in the last ${SPANS[window]}`, [{ name: "Key" }, ...(several ? [{ name: "Database" }] : []),
      { name: "Rule" }, { name: "Denied", number: true }, { name: "In force" }, { name: "Last" }], rows));
  }

  #showHot(reply, now) {
    if (reply instanceof ApiError) return this.#hot.failed(reply);
    const track = el("div", { class: "actions" }, el("button", { type: "button", onclick: () => this.#track() }, "Track for a minute"));
    if (reply === null) {
      this.#hot.span("");
      return this.#hot.show(el("p", {}, "Keys are looked at while they are tracked, so that it costs nothing otherwise."), track);
    }
    const { rows, begin, ms, active } = hotKeys(reply);
    this.#hot.span(`${active ? "tracked since" : "in the"} ${active ? clock(begin) : `${lately(ms)} from ${clock(begin)}`}, at ${clock(now)}`);
    this.#hot.show(rows.length === 0 ? el("p", { class: "muted" }, "No command has named a key since.")
      : table("The keys that took the most time", [{ name: "Key" }, { name: "CPU time", number: true }, { name: "Bytes", number: true }],
        rows.map(([key, us, size]) => [keyLink(key), micros(us), bytes(size)])), active ? "" : track);
  }

  async #track() {
    try {
      await call("HOTKEYS", "START", "METRICS", "2", "CPU", "NET", "COUNT", "20", "DURATION", "60");
      this.refresh();
    } catch (error) {
      this.#hot.failed(error);
    }
  }
}

// What has denied: a rule, or a policy and which of its rules. words: the policy's rules as they are now.
function which(name, words, place) {
  const rules = Array.isArray(words) ? splitRules(words) : [];
  if (rules.length < 2 || !(place >= 1) || place > rules.length) return showKey(name);
  return el("span", {}, showKey(name), el("small", {}, ` rule ${place} of ${rules.length}: `, el("code", {}, quoteLine(rules[place - 1]))));
}

// The rows of INFO limits that begin with `kind`, as name -> {allowed, denied}.
function decisions(info, kind) {
  const found = new Map();
  if (info instanceof ApiError) return found;
  for (const [name, value] of Object.entries(infoRows(info))) {
    if (!name.startsWith(`${kind}_`)) continue;
    const pairs = infoPairs(value);
    // A policy's row has a number, and its name as an escaped text.
    const label = pairs.name === undefined ? name.slice(kind.length + 1) : readKey(`"${String(pairs.name).replaceAll('"', '\\"')}"`);
    found.set(identity(label), { allowed: pairs.allowed ?? 0, denied: pairs.denied ?? 0 });
  }
  return found;
}

// The keys of both lists of HOTKEYS, each with its time in µs and its bytes.
function hotKeys(reply) {
  const found = new Map();
  ["by-cpu-time-us", "by-net-bytes"].forEach((name, place) => {
    const list = reply[name] ?? [];
    for (let i = 0; i + 1 < list.length; i += 2) {
      const row = found.get(identity(list[i])) ?? [list[i], NaN, NaN];
      row[place + 1] = Number(list[i + 1]);
      found.set(identity(list[i]), row);
    }
  });
  return { rows: [...found.values()], begin: reply["collection-start-time-unix-ms"], ms: reply["collection-duration-ms"],
    active: reply["tracking-active"] === 1 };
}
