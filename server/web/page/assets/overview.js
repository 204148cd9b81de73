// The first view: what the server does now, from the stream of events.

import { byteTicks, Chart, powerTicks } from "./charts.js";
import { bar, el, facts, field, panel, setText, table } from "./dom.js";
import { bytes, clock, count, instant, lately, micros, percent, rate, some, span } from "./format.js";
import { showKey } from "./words.js";

function tile(name) {
  const value = el("b", {}, "–"), note = el("small", {}, "");
  return { node: el("li", {}, el("span", { class: "name" }, name), value, note),
    set: (text, more) => { setText(value, text); setText(note, more); } };
}

const RANGES = { fine: "10 minutes", coarse: "hour" };
const gap = (value) => (Number.isFinite(value) ? value : null);

const MOST_KINDS = 12;
const SYNCED = { always: "before each reply (appendfsync always)", everysec: "each second (appendfsync everysec)",
  no: "when the system does it (appendfsync no)" };

// The power of ten above all values, which are 1 at least: the top of an axis.
function powerAbove(rows) {
  let most = 100;
  for (const [, ...values] of rows) for (const value of values) while (value > most) most *= 10;
  return most;
}

export class Overview {
  #section;
  #samples;
  #tiles;
  #charts;
  #types;
  #saving;
  #turns;
  #errors;
  #about;
  #range = el("select", { name: "range" }, Object.entries(RANGES).map(([scale, name]) => el("option", { value: scale }, name)));

  constructor(section, samples) {
    this.#section = section;
    this.#samples = samples;
    const tiles = { requests: tile("Requests"), denials: tile("Denied"), p99: tile("Turn, p99"),
      memory: tile("Memory"), keys: tile("Keys"), clients: tile("Clients") };
    this.#tiles = tiles;
    this.#charts = this.#makeCharts();
    this.#types = panel("Keys by type", { id: "types" });
    this.#saving = panel("Persistence", { id: "persistence" });
    this.#turns = panel("The longest turn", { id: "longest-turn" });
    this.#errors = panel("Errors", { id: "errors" });
    this.#about = panel("Server", { id: "about" });
    for (const one of [this.#types, this.#saving, this.#turns, this.#errors, this.#about]) one.loading();
    this.#range.addEventListener("change", () => this.update());
    section.append(el("ul", { class: "tiles" }, Object.values(tiles).map((one) => one.node)),
      el("form", { class: "row", onsubmit: (event) => event.preventDefault() }, el("label", { class: "inline" }, "Charts of the last", this.#range)),
      el("div", { class: "grid" }, this.#charts.map(({ place }) => place.node),
        this.#saving.node, this.#turns.node, this.#errors.node, this.#types.node, this.#about.node));
  }

  #makeCharts() {
    const make = (id, title, series, format, row, options) => {
      const place = panel(title, { id });
      const chart = new Chart(title, series, format, (at, last) => `${last ? "now, " : ""}${clock(at.getTime())}`, options);
      place.show(chart.node);
      place.span("waiting for the first two seconds");
      return { place, chart, row };
    };
    return [
      make("rates", "Requests and denials a second", [{ name: "requests", colour: "--series-1" },
        { name: "allowed", colour: "--series-3", dashed: true }, { name: "denied", colour: "--series-2" }], rate,
      (point) => [point.requests, point.allowed, point.denied]),
      make("turns", "Turns of the event loop", [{ name: "p50", colour: "--series-1" },
        { name: "p99", colour: "--series-4", dashed: true }, { name: "longest", colour: "--series-2" }], micros,
      (point) => [point.p50_us, point.p99_us, point.longest_us].map((us) => Math.max(1, us)),
        { logscale: true, includeZero: false, ticker: powerTicks }),
      make("memory", "Memory", [{ name: "in use", colour: "--series-1" }, { name: "resident", colour: "--series-4", dashed: true }],
        bytes, (point) => [point.used, point.resident], { ticker: byteTicks }),
    ];
  }

  visible() {
    for (const { chart } of this.#charts) chart.fit();
    this.update();
  }

  update() {
    const event = this.#samples.last;
    if (event === null || this.#section.hidden) return;
    this.#showTiles(event);
    const points = this.#samples.points(this.#range.value);
    if (points.length > 0) {
      const from = points[0].at - points[0].span_ms, to = points[points.length - 1].at;
      for (const { place, chart, row } of this.#charts) {
        place.span(`the last ${lately(Math.max(2000, Math.round((to - from) / 1000) * 1000))}, to ${clock(to)}`);
        const rows = points.map((point) => [new Date(point.at), ...row(point).map(gap)]);
        chart.draw(rows, place.node.id === "turns" ? { valueRange: [1, powerAbove(rows)] } : {});
      }
    }
    this.#showTypes(event);
    this.#showSaving(event);
    this.#showTurns(event);
    this.#showErrors(event);
    this.#showAbout(event);
  }

  #showTiles(event) {
    const latest = this.#samples.latest, tiles = this.#tiles;
    const over = latest === null ? "soon" : `a second, over ${span(latest.span_ms < 5000 ? Math.max(1, Math.round(latest.span_ms / 1000)) * 1000 : latest.span_ms)}, to ${clock(latest.at)}`;
    tiles.requests.set(rate(latest?.requests), over);
    const decided = (latest?.allowed ?? NaN) + (latest?.denied ?? NaN);
    tiles.denials.set(rate(latest?.denied), Number.isFinite(decided) && decided > 0
      ? `${percent(latest.denied / decided)} of decisions, ${over}` : over);
    tiles.p99.set(micros(latest?.p99_us), `longest of the last minute ${micros(event.turns.longest_us)}`);
    const limit = event.memory.limit > 0 ? `of ${bytes(event.memory.limit)} maxmemory` : "without a limit";
    tiles.memory.set(bytes(event.memory.used), `${limit}, ${bytes(event.memory.resident)} resident`);
    tiles.keys.set(count(event.keys), `${count(event.deadlines)} with a deadline, at ${clock(event.now_ms)}`);
    tiles.clients.set(count(event.clients), `connected at ${clock(event.now_ms)}`);
  }

  #showTypes(event) {
    const types = Object.entries(event.types ?? {}).filter(([, n]) => n > 0).sort((a, b) => b[1] - a[1]);
    this.#types.span(`at ${clock(event.now_ms)}`);
    if (types.length === 0) return this.#types.empty("No keys.");
    const most = types[0][1];
    this.#types.show(table("How many keys there are of each type", [{ name: "Type" }, { name: "Keys", number: true }, { name: "Share" }],
      types.map(([type, n]) => [type, count(n), bar(n / most)])));
  }

  #showSaving(event) {
    const rows = event.persistence ?? {};
    const yes = (name) => rows[name] === 1;
    const bad = (text) => el("strong", { class: "bad" }, text);
    const good = (name) => (rows[name] === "ok" ? "ok" : bad(rows[name] ?? "unknown"));
    const log = yes("aof_enabled"), pairs = log ? this.#log(event, good) : [["Log", "off: only snapshots"], ["Last write", good("aof_last_write_status")]];
    if (yes("loading")) pairs.unshift(["Loading", `${rows.loading_loaded_perc ?? "?"}% loaded`]);
    const running = yes("aof_rewrite_in_progress") || yes("rdb_bgsave_in_progress");
    pairs.push(["Snapshot", running ? this.#progress(rows) : "none under way"]);
    pairs.push(["Last snapshot", log ? good("aof_last_bgrewrite_status") : good("rdb_last_bgsave_status")]);
    if (rows.aof_last_rewrite_error) pairs.push(["Why it failed", bad(String(rows.aof_last_rewrite_error))]);
    if (Number.isFinite(rows.rdb_last_save_time)) {
      pairs.push([log ? "Base written" : "Saved last", instant(rows.rdb_last_save_time * 1000, event.now_ms)]);
    }
    if (Number.isFinite(rows.rdb_changes_since_last_save)) {
      pairs.push(log ? ["In the log since", `${count(rows.rdb_changes_since_last_save)} changes`]
        : ["Not saved", `${count(rows.rdb_changes_since_last_save)} changes since then`]);
    }
    pairs.push(["Replication", this.#replication(event.replication ?? {}, bad)]);
    this.#saving.span(`at ${clock(event.now_ms)}`);
    this.#saving.show(facts(pairs));
  }

  #replication({ is_replica: follows, link_up: linked, replicas, lag_bytes: lag, silent_us: silent }, bad) {
    if (follows && !linked) return bad("a replica without a link to its primary: the data is old");
    const of = replicas > 0 ? `${count(replicas)} ${replicas === 1 ? "replica" : "replicas"}, the last one ${bytes(lag)} and ${micros(silent)} behind` : "";
    if (follows) return `replica, linked${of && `; it has ${of}`}`;
    return of || "no replicas";
  }

  // How far the log is on disk.
  #log(event, good) {
    const { appendfsync, last_sync_ms: last, last_sync_us: took, pending_bytes: waits, delayed_syncs: late } = event.log;
    const lasted = took > 0 ? `, took ${micros(took)}` : "";
    return [["Log", `on, ${bytes(event.persistence.aof_current_size)}`], ["Last write", good("aof_last_write_status")],
      ["Synced to disk", SYNCED[appendfsync] ?? appendfsync],
      ["Last sync", appendfsync === "no" ? "by the system" : last > 0 ? `${instant(last, event.now_ms)}${lasted}` : "none yet"],
      ["Not yet on disk", waits > 0 ? bytes(waits) : "nothing"],
      ["Delayed syncs", late > 0 ? el("span", { class: "warn" }, `${count(late)} since the start: the disk was slow`) : "none since the start"]];
  }

  #showTurns(event) {
    const turns = event.turns;
    this.#turns.span(`of the last minute, at ${clock(event.now_ms)}`);
    if (!(turns.longest_us > 0)) return this.#turns.empty("None yet.");
    this.#turns.show(facts([["It took", `${micros(turns.longest_us)}, ended ${instant(turns.longest_ended_ms, event.now_ms)}`],
      ["Longest part", `${turns.longest_part}: ${micros(turns.longest_part_us)}`],
      ["Slowest command", turns.slowest_command ? `${turns.slowest_command.toUpperCase()}: ${micros(turns.slowest_command_us)}` : "it ran none"]]));
  }

  #showErrors(event) {
    const { rows, ms } = this.#samples.errors;
    this.#errors.span(`${ms >= 500 ? `in the last ${lately(Math.max(1, Math.round(ms / 1000)) * 1000)}, to` : "counted from"} ${clock(event.now_ms)}`);
    if (rows.length === 0) return this.#errors.empty(`No command was answered with an error since ${clock(event.counted_since_ms)}.`);
    rows.sort((a, b) => b[1] - a[1] || b[2] - a[2]);
    const seconds = ms / 1000;
    this.#errors.show(table("Errors by kind", [{ name: "Kind" }, { name: "A second", number: true }, { name: `Since ${clock(event.counted_since_ms)}`, number: true }],
      rows.slice(0, MOST_KINDS).map(([kind, recent, all]) => [el("code", {}, showKey(kind)), ms >= 500 ? rate(recent / seconds) : "–", count(all)])),
    rows.length > MOST_KINDS ? el("p", { class: "muted" }, some(MOST_KINDS, rows.length, "kinds")) : "");
  }

  #progress(rows) {
    const done = Number(rows.current_save_perc ?? 0), left = Number(rows.current_save_eta_seconds ?? -1);
    const text = `${Math.round(done)}%${left >= 0 ? `, ${span(left * 1000) || "less than a second"} left` : ""}`;
    return el("span", {}, el("progress", { max: "100", value: done, "aria-label": "Progress of the snapshot" }), ` ${text}`);
  }

  #showAbout(event) {
    this.#about.span(`Counts since ${clock(event.counted_since_ms)}, at ${clock(event.now_ms)}`);
    const started = `${clock(event.now_ms - event.uptime_s * 1000)}, ${span(event.uptime_s * 1000) || "just now"}`;
    this.#about.show(facts([["Version", event.version], ["Runs since", started], ["Commands run", count(event.commands)],
      ["Errors answered", count(event.errors)], ["Connections taken", count(event.connections)],
      ["Keys expired", count(event.expired)], ["Keys evicted", count(event.evicted)]]));
  }
}
