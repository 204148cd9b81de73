// A quota book: its size, a product's limits, what a user bought and may still buy.

import { actions } from "./actions.js";
import { fields, named } from "./api.js";
import { input, question } from "./ask.js";
import { el, facts, field, panel, table } from "./dom.js";
import { bytes, clock, count, instant, lately, some } from "./format.js";
import { readKey, showKey } from "./words.js";

const MOST_LINES = 200, MOST_PRODUCTS = 200;
const STATS = ["limits", "users", "purchases", "bytes"];
const LINE = ["order", "sku", "action", "qty", "ts_ms", "held_until_ms"];
const LIMIT = ["action", "limit", "window_ms", "set_at_ms"];
const USE = ["action", "limit", "window_ms", "used", "left", "next_ms"];

const action = (id) => (id === "0" ? "any (0)" : showKey(id));

// Asks with one word.
function asker(label, button, answer) {
  const word = input(label.toLowerCase());
  return question(field(label, word), button, () => answer(readKey(word.value)));
}

async function user(subject, id) {
  const lefts = await subject.one("QUOTA.LEFTBYUSER", subject.key, id);
  const history = await subject.one("QUOTA.HISTORY", subject.key, id);
  const now = Date.now();
  const all = (lefts[0] ?? []).map((product) => fields(product)[0]);
  const bought = all.slice(0, MOST_PRODUCTS);
  const uses = bought.length > 0 ? await subject.one("QUOTA.SHOW", subject.key, id, ...bought) : [];
  const rows = bought.flatMap((sku, i) => fields(uses[i]).map((one) => named(one, USE)).map((use) => [showKey(sku),
    action(use.action), count(use.limit), lately(use.window_ms), count(use.used), count(use.left),
    use.next_ms > 0 ? instant(use.next_ms, now) : "–"]));
  const lines = history.map((line) => named(line, LINE)).reverse();
  return [el("p", {}, `${showKey(id)} at ${clock(now)}:`),
    rows.length > 0 ? table(`What ${showKey(id)} may still buy of ${some(bought.length, all.length, all.length === 1 ? "product" : "products")}, at ${clock(now)}`,
      [{ name: "Product" }, { name: "Action" }, { name: "Limit", number: true }, { name: "In the last" },
        { name: "Used", number: true }, { name: "Left", number: true }, { name: "Some is free" }], rows, { captioned: true }) : el("p", { class: "muted" }, "Bought nothing that has a limit."),
    lines.length > 0 ? table(`${some(Math.min(MOST_LINES, lines.length), lines.length, "kept lines of orders")}, the newest first`,
      [{ name: "Order" }, { name: "Product" }, { name: "Action" }, { name: "Quantity", number: true }, { name: "When" }, { name: "Held until" }],
      lines.slice(0, MOST_LINES).map((line) => [showKey(line.order), showKey(line.sku), action(line.action), count(line.qty),
        instant(line.ts_ms, now), line.held_until_ms > 0 ? instant(line.held_until_ms, now) : "–"]), { captioned: true }) : null,
    actions(subject, [[`Forget what ${showKey(id)} bought`, ["QUOTA.RESET", subject.key, id]]])].filter((part) => part !== null);
}

async function product(subject, sku) {
  const reply = await subject.one("QUOTA.LIMITS", subject.key, sku);
  const now = Date.now();
  const limits = (reply[0] ?? []).map((one) => named(one, LIMIT));
  if (limits.length === 0) return [el("p", {}, `${showKey(sku)} has no limit, at ${clock(now)}.`)];
  return [table(`Limits of ${showKey(sku)}, at ${clock(now)}`, [{ name: "Action" }, { name: "Limit", number: true },
    { name: "In the last" }, { name: "Set" }], limits.map((one) => [action(one.action), count(one.limit), lately(one.window_ms),
    instant(one.set_at_ms, now)]), { captioned: true })];
}

export async function showQuota(subject) {
  const stats = named(await subject.one("QUOTA.STATS", subject.key), STATS);
  const book = panel("Quota book", { id: "quota" });
  book.span(`at ${clock(subject.now)}`);
  book.show(facts([["Limits", count(stats.limits)], ["Users", count(stats.users)], ["Purchases kept", count(stats.purchases)],
    ["Bytes", bytes(stats.bytes)]]));
  const users = panel("A user", { id: "quota-user", wide: true });
  users.show(asker("User", "What may they still buy?", (id) => user(subject, id)));
  const products = panel("A product", { id: "quota-product" });
  products.show(asker("Product", "Which limits has it?", (sku) => product(subject, sku)));
  return [{ panel: book }, { panel: products }, { panel: users }];
}
