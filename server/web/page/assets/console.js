// The fourth view: commands by hand, completed while they are typed.

import { confirmRun } from "./actions.js";
import { ApiError, infoPairs, infoRows, inDatabase } from "./api.js";
import { el, setText } from "./dom.js";
import { clock, count } from "./format.js";
import { replyView } from "./reply_view.js";
import { Syntax } from "./syntax.js";
import { quoteLine, splitWords } from "./words.js";

const KEPT = 50;
// What ends the server, empties it, or stops it for others is run after a question only.
const GRAVE = /^(SHUTDOWN|FLUSHALL|FLUSHDB|SWAPDB|DEBUG|CONFIG SET|CLIENT (PAUSE|KILL)|ACL (SETUSER|DELUSER)|POLICY\.DEL)( |$)/i;

const keys = (n) => (n === 1 ? "1 key" : `${count(n)} keys`);

export class Console {
  #syntax = new Syntax();
  #line = el("input", { name: "command", autocomplete: "off", spellcheck: "false", autocapitalize: "off", role: "combobox",
    "aria-expanded": "false", "aria-controls": "completions", "aria-autocomplete": "list", "aria-describedby": "syntax",
    placeholder: "LIMIT.TAKE user:7 SLIDING 5 10m" });
  #choices = el("ul", { id: "completions", role: "listbox", "aria-label": "Commands", hidden: true });
  #hint = el("p", { id: "syntax", "aria-live": "polite" });
  #log = el("div", { id: "replies", role: "log", "aria-label": "Replies", tabindex: "0" });
  #chosen = -1;
  #found = [];   // completions that are listed
  #before = [];  // lines that were run, the latest last
  #database = "0";  // that SELECT chose here
  #place = 0;    // in #before, while the arrows go through it

  constructor(section) {
    const form = el("form", { class: "row", onsubmit: (event) => { event.preventDefault(); this.#run(); } },
      el("label", { class: "grow" }, "Command", this.#line), el("button", { class: "primary" }, "Run"));
    section.append(form, this.#choices, this.#hint, this.#log);
    this.#line.addEventListener("input", () => this.#typed());
    this.#line.addEventListener("focus", () => this.#syntax.load().then(() => this.#typed()));
    this.#line.addEventListener("blur", () => setTimeout(() => this.#close(), 150));
    this.#line.addEventListener("keydown", (event) => this.#pressed(event));
    this.#typed();
  }

  visible(line) {
    if (line) {
      this.#line.value = line;
      this.#typed();
    }
    this.#line.focus();
  }

  forget() {
    this.#syntax.forget();
  }

  #typed() {
    const line = this.#line.value, known = this.#syntax.of(line);
    const found = this.#syntax.completions(line);
    this.#chosen = -1;
    this.#found = found;
    this.#choices.replaceChildren(...found.map((one, i) => el("li", { role: "option", id: `choice-${i}`, "aria-selected": "false",
      onmousedown: (event) => { event.preventDefault(); this.#take(one.line); } },
    el("b", {}, one.name), ` ${one.syntax}`, el("small", {}, one.summary))));
    this.#open(found.length > 0);
    if (known) setText(this.#hint, `${known.name} ${known.syntax}: ${known.summary}`);
    else setText(this.#hint, line.trim() === "" ? "Tab completes; the arrows choose, or bring earlier lines back; Escape closes the list." : "");
  }

  #open(open) {
    this.#choices.hidden = !open;
    this.#line.setAttribute("aria-expanded", String(open));
    if (!open) this.#line.removeAttribute("aria-activedescendant");
  }

  #close() {
    this.#open(false);
    this.#chosen = -1;
  }

  #take(line) {
    this.#line.value = `${line} `;
    this.#typed();
    this.#close();
  }

  #mark(step) {
    const options = [...this.#choices.children];
    this.#chosen = (this.#chosen + step + options.length) % options.length;
    options.forEach((option, i) => option.setAttribute("aria-selected", String(i === this.#chosen)));
    options[this.#chosen].scrollIntoView({ block: "nearest" });
    this.#line.setAttribute("aria-activedescendant", options[this.#chosen].id);
  }

  #pressed(event) {
    const open = !this.#choices.hidden, step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape" && open) this.#close();
    else if (step && open) this.#mark(this.#chosen < 0 && step < 0 ? 0 : step);
    else if (step) this.#recall(step);
    else if (event.key === "Tab" && open && !event.shiftKey) this.#takeMarked();
    else if (event.key === "Enter" && open && this.#chosen >= 0) this.#takeMarked();
    else return;
    event.preventDefault();
  }

  #takeMarked() {
    this.#take(this.#found[Math.max(0, this.#chosen)].line);
  }

  #recall(step) {
    this.#place = Math.max(0, Math.min(this.#before.length, this.#place + step));
    this.#line.value = this.#before[this.#place] ?? "";
    this.#typed();
    this.#close();
  }

  // How many keys go with FLUSHALL and FLUSHDB.
  async #deletes(words) {
    const name = String(words[0]).toUpperCase();
    if (!["FLUSHALL", "FLUSHDB"].includes(name)) return "";
    try {
      const [info, own] = await inDatabase(this.#database, [["INFO", "keyspace"], ["DBSIZE"]]);
      if (name === "FLUSHDB") return own instanceof ApiError ? "" : `It deletes ${keys(own)} of database ${this.#database}.`;
      if (info instanceof ApiError) return "";
      const sizes = Object.values(infoRows(info)).map((row) => infoPairs(row).keys ?? 0);
      const all = sizes.reduce((sum, n) => sum + n, 0);
      return `It deletes ${keys(all)} in ${sizes.length === 1 ? "1 database" : `${sizes.length} databases`}.`;
    } catch {
      return "";
    }
  }

  async #run() {
    const line = this.#line.value.trim(), words = splitWords(line);
    if (words === null) return setText(this.#hint, "A quote is not closed.");
    if (words.length === 0) return;
    if (GRAVE.test(words.slice(0, 2).join(" ")) && !(await confirmRun(words, this.#database, await this.#deletes(words)))) return;
    if (this.#before[this.#before.length - 1] !== line) this.#before.push(line);
    this.#place = this.#before.length;
    this.#line.value = "";
    this.#typed();
    const answer = el("div", { class: "answer", "aria-busy": "true" }, "…");
    this.#log.prepend(el("article", {}, el("h3", {}, el("code", {}, quoteLine(words)), el("small", {}, ` in database ${this.#database}, at ${clock(Date.now())}`)), answer));
    while (this.#log.childElementCount > KEPT) this.#log.lastElementChild.remove();
    try {
      const [reply] = await inDatabase(this.#database, [words]);
      if (reply instanceof ApiError) throw reply;
      if (/^select$/i.test(words[0])) this.#database = words[1];
      answer.replaceChildren(replyView(reply));
    } catch (error) {
      answer.replaceChildren(el("p", { class: "error" }, error.message));
    }
    answer.removeAttribute("aria-busy");
  }
}
