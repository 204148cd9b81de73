// The beginning of a value of Redis's own types.

import { ApiError, fields } from "./api.js";
import { el, panel, table } from "./dom.js";
import { clock, count, some } from "./format.js";
import { showKey } from "./words.js";

const SHOWN = 50, SHOWN_BYTES = 2000;

// How many there are, the beginning, and the columns of it, by type.
const READERS = {
  string: (key) => ({ size: ["STRLEN", key], read: ["GETRANGE", key, "0", String(SHOWN_BYTES - 1)], what: "bytes" }),
  list: (key) => ({ size: ["LLEN", key], read: ["LRANGE", key, "0", String(SHOWN - 1)], what: "elements", columns: ["Element"] }),
  hash: (key) => ({ size: ["HLEN", key], read: ["HSCAN", key, "0", "COUNT", String(SHOWN)], what: "fields",
    columns: ["Field", "Value"], scan: true }),
  set: (key) => ({ size: ["SCARD", key], read: ["SSCAN", key, "0", "COUNT", String(SHOWN)], what: "members",
    columns: ["Member"], scan: true }),
  zset: (key) => ({ size: ["ZCARD", key], read: ["ZSCAN", key, "0", "COUNT", String(SHOWN)], what: "members",
    columns: ["Member", "Score"], scan: true }),
};

function rowsOf(list, width) {
  const rows = [];
  for (let i = 0; i + width <= list.length && rows.length < SHOWN; i += width) {
    rows.push(list.slice(i, i + width).map((value) => el("code", {}, showKey(value))));
  }
  return rows;
}

export async function showPlain(subject) {
  const reader = READERS[subject.type]?.(subject.key);
  if (reader === undefined) return [];
  const [size, reply] = await subject.ask([reader.size, reader.read]);
  for (const one of [size, reply]) if (one instanceof ApiError) throw one;
  const place = panel("Value", { id: "value", wide: true });
  place.span(`${count(size)} ${reader.what}, at ${clock(subject.now)}`);
  if (reader.columns === undefined) {
    const shown = el("pre", { tabindex: "0" }, showKey(reply));
    place.show(shown, size > SHOWN_BYTES ? el("p", { class: "muted" }, some(SHOWN_BYTES, size, reader.what)) : "");
    return [{ panel: place }];
  }
  const rows = rowsOf(reader.scan ? fields(reply)[1] : reply, reader.columns.length);
  place.show(table(some(rows.length, size, reader.what), reader.columns.map((name) => ({ name })), rows, { captioned: true }));
  return [{ panel: place }];
}
