// Numbers, sizes, instants and spans of time as people read them.

const SECOND = 1000;
export const MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

export function count(value) {
  return typeof value === "number" && Number.isFinite(value) ? whole.format(value) : "–";
}

// "The first 50 of 120 entries", or "7 entries", of what is shown in part.
export function some(shown, all, what) {
  return shown < all ? `The first ${count(shown)} of ${count(all)} ${what}` : `${count(all)} ${what}`;
}

// Per second: small rates keep a decimal.
export function rate(value) {
  if (!Number.isFinite(value)) return "–";
  return value < 10 ? short.format(value) : whole.format(value);
}

export function percent(share) {
  if (!Number.isFinite(share)) return "–";
  return share > 0 && share < 0.001 ? "< 0.1%" : `${short.format(share * 100)}%`;
}

export function bytes(value) {
  if (!Number.isFinite(value)) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let place = 0;
  while (value >= 1024 && place + 1 < units.length) {
    value /= 1024;
    place += 1;
  }
  return `${place === 0 ? value : value.toFixed(value < 10 ? 2 : 1)} ${units[place]}`;
}

export function micros(value) {
  if (!Number.isFinite(value)) return "–";
  if (value < 1000) return `${whole.format(value)} µs`;
  if (value < 1e6) return `${short.format(value / 1000)} ms`;
  return `${short.format(value / 1e6)} s`;
}

const UNITS = [["day", DAY], ["hour", HOUR], ["minute", MINUTE], ["second", SECOND]];

function plural(n, unit) {
  return `${n} ${unit}${n === 1 ? "" : "s"}`;
}

// "24 hours", "10 minutes", "1 day 2 hours", "350 ms": at most two units. Up to two
// days are said in hours, as windows are.
export function span(ms) {
  if (!Number.isFinite(ms)) return "–";
  if (ms < SECOND) return `${whole.format(ms)} ms`;
  if (ms < 10 * SECOND && ms % SECOND !== 0) return `${short.format(ms / SECOND)} seconds`;
  if (ms === DAY) return "24 hours";
  const parts = [];
  let rest = Math.round(ms / SECOND) * SECOND;
  for (const [unit, size] of UNITS) {
    const n = Math.floor(rest / size);
    if (n > 0) parts.push(plural(n, unit));
    else if (parts.length > 0) break;
    rest -= n * size;
    if (parts.length === 2) break;
  }
  return parts.join(" ");
}

// The same after "in the last": "minute", "24 hours".
export function lately(ms) {
  return span(ms).replace(/^1 (?=(second|minute|hour|day)$)/, "");
}

const time = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const date = new Intl.DateTimeFormat("en-CA", { year: "numeric", month: "2-digit", day: "2-digit" });

// "12:03:10" in the reader's zone, with its date if that is not today's.
export function clock(ms) {
  if (!Number.isFinite(ms) || Math.abs(ms) > 8.64e15) return "–";
  const at = new Date(ms);
  const day = date.format(at);
  return day === date.format(new Date()) ? time.format(at) : `${day} ${time.format(at)}`;
}

// "12:03:10, in 53 seconds" or "12:03:10, 53 seconds ago".
export function instant(ms, now) {
  if (!Number.isFinite(ms)) return "–";
  const away = ms - now;
  if (Math.abs(away) < SECOND) return `${clock(ms)}, now`;
  return away > 0 ? `${clock(ms)}, in ${span(away)}` : `${clock(ms)}, ${span(-away)} ago`;
}

// "500ms", "5s", "10m", "24h", "7d", or seconds, as ms; NaN for anything else.
export function parseDuration(text) {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(String(text));
  if (!match) return NaN;
  return Number(match[1]) * { ms: 1, s: SECOND, m: MINUTE, h: HOUR, d: DAY }[match[2] ?? "s"];
}
