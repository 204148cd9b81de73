// What an operator must know whatever they look at: that commands are refused or wait, connections are
// turned away, or the clock has jumped.

import { ApiError, batch, infoRows } from "./api.js";
import { el } from "./dom.js";
import { clock, count, instant, MINUTE, span } from "./format.js";

const ASK_MS = MINUTE;
const HOUR = 60 * MINUTE;

// By the code of the error that a write gets: what is refused, and what helps.
const MEANINGS = {
  MISCONF: ["Writes are refused: the data cannot be written to the disk.",
    "Reads go on. It ends by itself once the files can be written again."],
  OOM: ["Commands that take memory are refused: maxmemory is reached, and nothing may be evicted.",
    "Raise maxmemory, choose a maxmemory-policy that evicts, or delete keys."],
  LOADING: ["Commands are refused: the data is being loaded.", ""],
  BUSY: ["Commands are refused: a script runs without an end.", "SCRIPT KILL ends it."],
};

function refusal(event, since) {
  if (!event.refusal) return null;
  const code = event.refusal.split(" ", 1)[0];
  const [what, help] = MEANINGS[code] ?? ["Commands are refused.", ""];
  const loaded = code === "LOADING" ? ` ${event.persistence?.loading_loaded_perc ?? "?"}% of it is.` : "";
  const when = since < event.now_ms ? ` Since ${clock(since)}.` : "";
  return [`${what}${loaded}${when}`, help, event.refusal];
}

function pause(event) {
  if (!(event.paused_until_ms > event.now_ms)) return null;
  return [`${event.paused_writes_only ? "Writes wait" : "All commands wait"} until ${clock(event.paused_until_ms)}: CLIENT PAUSE was sent.`,
    "CLIENT UNPAUSE ends it."];
}

export class Banner {
  #node;
  #rejected = [];  // [at, total] of the last minute
  #jump = null;    // {at, ms} of the latest jump of the clock
  #asked = -Infinity;
  #shown = "";

  constructor(node) {
    this.#node = node;
  }

  // Whether commands are refused.
  update(samples) {
    const event = samples.last;
    this.#askClock();
    this.#rejected.push([event.now_ms, event.rejected_connections]);
    while (this.#rejected.length > 1 && this.#rejected[1][0] <= event.now_ms - MINUTE) this.#rejected.shift();
    const lines = [refusal(event, samples.refusesSince), pause(event), this.#turnedAway(), this.#jumped(event.now_ms)];
    this.#show(lines.filter((line) => line !== null));
    return event.refusal !== "";
  }

  clear() {
    this.#rejected = [];
    this.#show([]);
  }

  #turnedAway() {
    const more = this.#rejected[this.#rejected.length - 1][1] - this.#rejected[0][1];
    if (!(more > 0)) return null;
    return [`${count(more)} connections were refused in the last minute.`, "maxclients, or the limit of open files, is reached, or they come from where protected-mode lets nobody in."];
  }

  #jumped(now) {
    if (this.#jump === null || this.#jump.at < now - HOUR) return null;
    const { at, ms } = this.#jump;
    return [`The server's clock was set ${ms < 0 ? "back" : "forward"} by ${span(Math.abs(ms))} at ${instant(at, now)}.`,
      "Windows of time around it count what they can."];
  }

  // Jumps are in INFO, which is asked once a minute.
  async #askClock() {
    if (Date.now() - this.#asked < ASK_MS) return;
    this.#asked = Date.now();
    try {
      const [info] = await batch([["INFO", "server"]]);
      if (info instanceof ApiError) return;
      const rows = infoRows(info), at = Number(rows.clock_last_jump_at_ms ?? 0);
      this.#jump = Number(rows.clock_jumps ?? 0) > 0 && at > 0 ? { at, ms: Number(rows.clock_last_jump_ms) } : null;
    } catch {
      // Refused, or out of reach: the stream of events says so.
    }
  }

  // Written only when it changes: it is read out.
  #show(lines) {
    const text = JSON.stringify(lines);
    if (text === this.#shown) return;
    this.#shown = text;
    this.#node.hidden = lines.length === 0;
    this.#node.replaceChildren(...lines.map(([what, help, said]) => el("div", {}, el("p", {}, el("strong", {}, what), help ? ` ${help}` : ""),
      said ? el("p", { class: "said" }, el("code", {}, said)) : null)));
  }
}
