// Ten minutes of the stream of events: totals become rates between two events.

const KEPT = 600;

// From cumulative counts [[upper bound in µs, how many up to it], …] of two events: the bound within
// which `share` of what lies between them is; NaN if nothing does.
function percentile(before, after, share) {
  const known = new Map(before);
  let earlier = 0;
  const grown = after.map(([bound, total]) => {
    if (known.has(bound)) earlier = known.get(bound);
    return [bound, total - earlier];
  });
  const all = grown.length > 0 ? grown[grown.length - 1][1] : 0;
  if (all <= 0) return NaN;
  return grown.find(([, total]) => total >= share * all)[0];
}

function perSecond(before, after, ms) {
  return after >= before && ms > 0 ? ((after - before) * 1000) / ms : NaN;
}

export class Samples {
  #before = null;
  points = [];  // {at, requests, allowed, denials, p50, p99, longest, used, resident}
  last = null;  // the latest event
  span = NaN;   // between the two latest events, in ms of whole seconds

  // Forgets all when the server is another one than before.
  take(event) {
    const before = this.#before;
    if (before !== null && before.run_id !== event.run_id) {
      this.points = [];
      this.#before = null;
      this.span = NaN;
    }
    if (this.#before !== null && event.now_ms > before.now_ms) this.#add(before, event);
    this.#before = event;
    this.last = event;
  }

  #add(before, event) {
    const ms = event.now_ms - before.now_ms;
    this.span = Math.max(1000, Math.round(ms / 1000) * 1000);
    const turns = event.turns ?? {}, earlier = before.turns ?? {};
    this.points.push({
      at: event.now_ms,
      requests: perSecond(before.commands, event.commands, ms),
      denials: perSecond(before.denied, event.denied, ms),
      allowed: perSecond(before.allowed, event.allowed, ms),
      p50: percentile(earlier.upto ?? [], turns.upto ?? [], 0.5),
      p99: percentile(earlier.upto ?? [], turns.upto ?? [], 0.99),
      longest: turns.longest_us,
      used: event.memory?.used,
      resident: event.memory?.resident,
    });
    if (this.points.length > KEPT) this.points.shift();
  }

  get latest() {
    return this.points[this.points.length - 1] ?? null;
  }
}
