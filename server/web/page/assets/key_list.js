// Keys by a pattern, with SCAN: some at a time, so that the server never waits for a long answer.

import { ApiError, fields, inDatabase } from "./api.js";
import { el, field } from "./dom.js";
import { clock, count } from "./format.js";
import { packKey, readKey, showKey } from "./words.js";

const TYPES = ["limit", "hits", "active", "quota", "string", "list", "hash", "set", "zset"];
const WANTED = 50;            // keys each time
const FIRST = 50, LARGEST = 1000, STEPS = 30;  // COUNT of SCAN, which doubles while few match, and how often

export class KeyList {
  #database;  // gives the database that is chosen
  #pattern = el("input", { name: "pattern", value: "*", autocomplete: "off", spellcheck: "false", autocapitalize: "off" });
  #type = el("select", { name: "type" }, el("option", { value: "" }, "any type"), TYPES.map((name) => el("option", {}, name)));
  #result = el("div", { "aria-live": "polite" });
  #keys = [];
  #cursor = "0";
  #turn = 0;  // of the search that is shown

  constructor(database) {
    this.#database = database;
    const form = el("form", { class: "row", onsubmit: (event) => { event.preventDefault(); this.#begin(); } },
      el("label", { class: "grow" }, "Pattern", this.#pattern), field("Type", this.#type), el("button", {}, "List keys"));
    this.node = el("details", { class: "keys" }, el("summary", {}, "List keys"), form, this.#result);
  }

  #begin() {
    this.#keys = [];
    this.#cursor = "0";
    this.#more({ database: this.#database(), pattern: readKey(this.#pattern.value || "*"), type: this.#type.value });
  }

  async #more(search) {
    const turn = ++this.#turn, most = this.#keys.length + WANTED;
    this.#result.setAttribute("aria-busy", "true");
    try {
      for (let i = 0, step = FIRST; i < STEPS && this.#keys.length < most; i += 1, step = Math.min(LARGEST, step * 2)) {
        const words = ["SCAN", this.#cursor, "MATCH", search.pattern, "COUNT", String(step), ...(search.type ? ["TYPE", search.type] : [])];
        const [reply] = await inDatabase(search.database, [words]);
        if (turn !== this.#turn) return;
        if (reply instanceof ApiError) throw reply;
        const [cursor, keys] = fields(reply);
        this.#cursor = String(cursor);
        this.#keys.push(...fields(keys));
        if (this.#cursor === "0") break;
      }
      this.#show(search);
    } catch (error) {
      if (turn === this.#turn) this.#result.replaceChildren(el("p", { class: "error" }, error.message));
    }
    this.#result.removeAttribute("aria-busy");
  }

  #show(search) {
    const done = this.#cursor === "0";
    const links = this.#keys.map((key) => el("li", {}, el("a", { class: "key",
      href: `#lookup?key=${encodeURIComponent(packKey(key))}&db=${search.database}` }, showKey(key))));
    const caption = `${links.length === 1 ? "1 key" : `${count(links.length)} keys`}${done ? "" : " so far"}, in database ${search.database}, at ${clock(Date.now())}`;
    this.#result.replaceChildren(...(links.length > 0 ? [el("p", { class: "muted" }, caption), el("ul", { class: "panel" }, links)]
      : [el("p", { class: "muted" }, done ? "No key matches." : "None yet: there are many keys of other names.")]));
    if (!done) this.#result.append(el("div", { class: "actions" }, el("button", { type: "button", onclick: () => this.#more(search) }, "Look further")));
  }
}
