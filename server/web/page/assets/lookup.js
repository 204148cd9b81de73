// The third view: one key, what it holds and when it allows again.

import { actions } from "./actions.js";
import { ApiError, inDatabase } from "./api.js";
import { input } from "./ask.js";
import { el, facts, field, panel } from "./dom.js";
import { bytes, clock, instant } from "./format.js";
import { showActive } from "./lookup_active.js";
import { showHits } from "./lookup_hits.js";
import { showLimit, showNext } from "./lookup_limit.js";
import { KeyList } from "./key_list.js";
import { showPlain } from "./lookup_plain.js";
import { showQuota } from "./lookup_quota.js";
import { packKey, readKey, showKey } from "./words.js";

const SHOWS = { limit: showLimit, hits: showHits, active: showActive, quota: showQuota };

// Words that change nothing, and are refused to those who may not change the key.
const writeProbe = (key) => ["LIMIT.GIVE", key, "0"];

export class Lookup {
  #section;
  #key = input("key");
  #database = el("select", { name: "database" }, Array.from({ length: 16 }, (_, i) => el("option", { value: String(i) }, String(i))));
  #result = el("div", { class: "grid", "aria-live": "polite" });
  #charts = [];
  #turn = 0;  // which look-up the page waits for

  constructor(section) {
    this.#section = section;
    const form = el("form", { class: "row", role: "search", onsubmit: (event) => {
      event.preventDefault();
      const key = readKey(this.#key.value), target = `#lookup?key=${encodeURIComponent(packKey(key))}&db=${this.#database.value}`;
      if (location.hash === target) this.show(key, { database: this.#database.value });
      else location.hash = target;
    } }, field("Key", this.#key, 'Bytes that cannot be typed: "abc\\xff", in double quotes.'),
    field("Database", this.#database), el("button", { class: "primary" }, "Look up"));
    section.append(form, new KeyList(() => this.#database.value).node, this.#result);
  }

  visible(words) {
    for (const chart of this.#charts) chart.fit();
    if (this.#result.childElementCount === 0 && !words.has("key")) this.#key.focus();
  }

  async show(key, { policy, database = "0" } = {}) {
    const turn = ++this.#turn;
    this.#key.value = showKey(key);
    this.#database.value = database;
    const about = panel(showKey(key), { id: "about-key", wide: true });
    this.#replace(about.node);
    about.loading();
    try {
      const subject = await this.#subject(key, database);
      if (turn !== this.#turn) return;
      this.#about(about, subject);
      if (subject.type === "none") {
        const next = await showNext(subject, { policy });
        if (turn === this.#turn) this.#add([next]);
        return;
      }
      const parts = await (SHOWS[subject.type] ?? showPlain)(subject, { policy });
      if (turn === this.#turn) this.#add(parts);
    } catch (error) {
      if (turn === this.#turn) about.failed(error);
    }
  }

  // All that every key has. `ask` asks in the key's database; `one` throws where the reply is an error.
  async #subject(key, database) {
    const ask = (commands) => inDatabase(database, commands);
    const one = async (...words) => {
      const [reply] = await ask([words]);
      if (reply instanceof ApiError) throw reply;
      return reply;
    };
    const [type, ends, size, encoding, time, write] = await ask([["TYPE", key], ["PEXPIRETIME", key],
      ["MEMORY", "USAGE", key], ["OBJECT", "ENCODING", key], ["TIME"], writeProbe(key)]);
    if (type instanceof ApiError) throw type;
    const now = time instanceof ApiError ? Date.now() : Math.floor(Number(time[0]) * 1000 + Number(time[1]) / 1000);
    const again = () => this.show(key, { database });
    return { key, type, ends, size, encoding, now, ask, one, again, database,
      refused: write instanceof ApiError && !write.message.startsWith("WRONGTYPE") ? write.message : null };
  }

  #about(place, subject) {
    const known = (reply, shown) => (reply instanceof ApiError || reply === null ? "unknown" : shown(reply));
    place.span(`at ${clock(subject.now)}`);
    if (subject.type === "none") {
      return place.show(el("p", {}, "There is no such key: nothing is counted for it. A policy may deny it all the same, see below."));
    }
    const lives = subject.ends === -1 ? "until it is deleted" : `until ${known(subject.ends, (ms) => instant(ms, subject.now))}`;
    place.show(facts([["Type", subject.type], ["Lives", lives], ["Encoding", known(subject.encoding, String)],
      ["Memory", known(subject.size, bytes)], ["Database", subject.database]]),
    actions(subject, [["Delete the key", ["DEL", subject.key]]]));
  }

  #replace(...nodes) {
    for (const chart of this.#charts) chart.forget();
    this.#charts = [];
    this.#result.replaceChildren(...nodes);
  }

  // parts: [{panel, charts}], whose charts are drawn once they have a place.
  #add(parts) {
    for (const part of parts) {
      this.#result.append(part.panel.node);
      for (const { chart, rows } of part.charts ?? []) {
        this.#charts.push(chart);
        chart.draw(rows);
      }
    }
  }
}
