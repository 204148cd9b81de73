// A reply of any command as a tree that people can read.

import { el } from "./dom.js";
import { clock } from "./format.js";
import { isBytes, quoteWord } from "./words.js";

const MOST = 500, DEEPEST = 8;
// Where unix milliseconds and seconds of this century are, so that an instant is also told as a time.
const FROM_MS = 1e12, TO_MS = 4.1e12;

function number(value, name) {
  const instant = Number.isInteger(value) && value >= FROM_MS && value < TO_MS && (name === undefined || /_ms$|time/i.test(name));
  return el("span", {}, String(value), instant ? el("small", { class: "muted" }, ` ${clock(value)}`) : null);
}

function item(value, depth, name) {
  if (value === null) return el("i", {}, "nothing (null)");
  if (typeof value === "number") return number(value, name);
  if (typeof value === "boolean") return el("span", {}, String(value));
  if (typeof value === "string" && value.includes("\n")) return el("pre", { tabindex: "0" }, value);
  if (typeof value === "string" || isBytes(value)) return el("code", {}, quoteWord(value));
  if (depth >= DEEPEST) return el("code", {}, JSON.stringify(value));
  return Array.isArray(value) ? numbered(value, depth) : byName(value, depth);
}

function rest(shown, all) {
  return all > shown ? el("p", { class: "muted" }, `${all - shown} more are not shown.`) : null;
}

function numbered(values, depth) {
  if (values.length === 0) return el("i", {}, "an empty list");
  return el("div", {}, el("ol", {}, values.slice(0, MOST).map((value) => el("li", {}, item(value, depth + 1)))),
    rest(MOST, values.length));
}

function byName(object, depth) {
  const entries = Object.entries(object);
  if (entries.length === 0) return el("i", {}, "an empty list");
  return el("div", {}, el("dl", { class: "named" }, entries.slice(0, MOST).map(([name, value]) =>
    el("div", {}, el("dt", {}, name), el("dd", {}, item(value, depth + 1, name))))), rest(MOST, entries.length));
}

export function replyView(value) {
  return item(value, 0);
}
