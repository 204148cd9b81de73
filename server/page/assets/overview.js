// The first view: what the server does now, from the stream of events.

import { Chart } from "./charts.js";
import { bar, el, facts, panel, setText, table } from "./dom.js";
import { bytes, clock, count, instant, lately, micros, percent, rate, span } from "./format.js";

function tile(name) {
  const value = el("b", {}, "–"), note = el("small", {}, "");
  return { node: el("li", {}, el("span", { class: "name" }, name), value, note),
    set: (text, more) => { setText(value, text); setText(note, more); } };
}

const gap = (value) => (Number.isFinite(value) ? value : null);

export class Overview {
  #section;
  #samples;
  #tiles;
  #charts;
  #types;
  #saving;
  #about;

  constructor(section, samples) {
    this.#section = section;
    this.#samples = samples;
    const tiles = { requests: tile("Requests"), denials: tile("Denied"), p99: tile("Turn, p99"),
      memory: tile("Memory"), keys: tile("Keys"), clients: tile("Clients") };
    this.#tiles = tiles;
    this.#charts = this.#makeCharts();
    this.#types = panel("Keys by type", { id: "types" });
    this.#saving = panel("Persistence", { id: "persistence" });
    this.#about = panel("Server", { id: "about" });
    for (const one of [this.#types, this.#saving, this.#about]) one.loading();
    section.append(el("ul", { class: "tiles" }, Object.values(tiles).map((one) => one.node)),
      el("div", { class: "grid" }, this.#charts.map(({ place }) => place.node),
        this.#types.node, this.#saving.node, this.#about.node));
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
      (point) => [point.requests, point.allowed, point.denials]),
      make("turns", "Turns of the event loop", [{ name: "p50", colour: "--series-1" },
        { name: "p99", colour: "--series-4", dashed: true }, { name: "longest in a minute", colour: "--series-2" }], micros,
      (point) => [point.p50, point.p99, point.longest], { logscale: true, includeZero: false, valueRange: [1, null] }),
      make("memory", "Memory", [{ name: "in use", colour: "--series-1" }, { name: "resident", colour: "--series-4", dashed: true }],
        bytes, (point) => [point.used, point.resident]),
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
    const points = this.#samples.points;
    if (points.length > 0) {
      const from = points[0].at, to = points[points.length - 1].at;
      for (const { place, chart, row } of this.#charts) {
        place.span(`the last ${lately(Math.max(2000, Math.round((to - from) / 1000) * 1000))}, to ${clock(to)}`);
        chart.draw(points.map((point) => [new Date(point.at), ...row(point).map(gap)]));
      }
    }
    this.#showTypes(event);
    this.#showSaving(event);
    this.#showAbout(event);
  }

  #showTiles(event) {
    const latest = this.#samples.latest, tiles = this.#tiles;
    const over = latest === null ? "soon" : `a second, over ${span(this.#samples.span)}, to ${clock(event.now_ms)}`;
    tiles.requests.set(rate(latest?.requests), over);
    const decided = (latest?.allowed ?? NaN) + (latest?.denials ?? NaN);
    tiles.denials.set(rate(latest?.denials), Number.isFinite(decided) && decided > 0
      ? `${percent(latest.denials / decided)} of decisions, ${over}` : over);
    tiles.p99.set(micros(latest?.p99), `longest of the last minute ${micros(latest?.longest)}`);
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
    const pairs = [["Log", yes("aof_enabled") ? `on, ${bytes(rows.aof_current_size)}` : "off: only snapshots"],
      ["Last write", good("aof_last_write_status")]];
    if (yes("loading")) pairs.unshift(["Loading", `${rows.loading_loaded_perc ?? "?"}% loaded`]);
    const running = yes("aof_rewrite_in_progress") || yes("rdb_bgsave_in_progress");
    pairs.push(["Snapshot", running ? this.#progress(rows) : "none under way"]);
    pairs.push(["Last snapshot", yes("aof_enabled") ? good("aof_last_bgrewrite_status") : good("rdb_last_bgsave_status")]);
    if (rows.aof_last_rewrite_error) pairs.push(["Why it failed", bad(String(rows.aof_last_rewrite_error))]);
    if (Number.isFinite(rows.rdb_last_save_time)) {
      pairs.push(["Saved last", instant(rows.rdb_last_save_time * 1000, event.now_ms)]);
    }
    if (Number.isFinite(rows.rdb_changes_since_last_save)) {
      pairs.push(["Changes since", count(rows.rdb_changes_since_last_save)]);
    }
    this.#saving.span(`at ${clock(event.now_ms)}`);
    this.#saving.show(facts(pairs));
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
