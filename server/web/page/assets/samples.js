// The last hour of figures: the past as the server has kept it, and the points that its events bring.

const EMPTY = { fine: [], coarse: [] };
const FINE_MS = 600_000;  // how far back the fine points go
const ERRORS_MS = 60_000;

function perSecond(point, name) {
  return (point[name] * 1000) / point.span_ms;
}

// A point by the names of its fields, with rates for its counts.
function read(fields, values) {
  const point = Object.fromEntries(fields.map((name, i) => [name, values[i]]));
  return { ...point, at: point.at_ms, requests: perSecond(point, "requests"), allowed: perSecond(point, "allowed"),
    denied: perSecond(point, "denied"), errors: perSecond(point, "errors") };
}

export class Samples {
  #fields = null;
  #points = EMPTY;
  #errors = [];  // [at, {kind: total}] of the last minute
  last = null;   // the latest event

  // What GET /history has answered, which is asked before each stream of events: it replaces all that is
  // known, of another server too.
  past(history) {
    this.#fields = history.fields;
    const all = (scale) => history[scale].map((values) => read(history.fields, values));
    this.#points = { fine: all("fine"), coarse: all("coarse") };
  }

  take(event) {
    if (this.#fields !== null) for (const scale of ["fine", "coarse"]) this.#add(this.#points[scale], event.latest[scale]);
    const fine = this.#points.fine;
    while (fine.length > 0 && fine[0].at < event.now_ms - FINE_MS) fine.shift();
    while (this.#points.coarse.length > 360) this.#points.coarse.shift();
    // Counts of another server, or of before CONFIG RESETSTAT.
    if (this.#errors.length > 0 && this.#errors[this.#errors.length - 1][2] !== event.counted_since_ms) this.#errors = [];
    this.#errors.push([event.now_ms, Object.fromEntries(event.errors_by_kind), event.counted_since_ms]);
    while (this.#errors.length > 1 && this.#errors[1][0] <= event.now_ms - ERRORS_MS) this.#errors.shift();
    this.last = event;
  }

  // A point that is not later than those that are known means that the clock was set back.
  #add(points, values) {
    if (values.length === 0) return;
    const point = read(this.#fields, values), newest = points[points.length - 1];
    if (newest && newest.at === point.at) return;
    while (points.length > 0 && points[points.length - 1].at > point.at) points.pop();
    points.push(point);
  }

  // scale: "fine", the last ten minutes, or "coarse", the last hour.
  points(scale) {
    return this.#points[scale];
  }

  get latest() {
    return this.#points.fine[this.#points.fine.length - 1] ?? null;
  }

  // Since when commands are refused, as far as it is known: unix ms.
  get refusesSince() {
    let since = this.last?.now_ms;
    for (const scale of ["fine", "coarse"]) {
      const points = this.#points[scale];
      let place = points.length;
      while (place > 0 && (points[place - 1].refuses || points[place - 1].at > since)) place -= 1;
      if (place < points.length && points[place].at < since) since = points[place].at;
      if (place > 0) break;  // What was before was not refused.
    }
    return since;
  }

  // [[kind, errors in the last minute], …] and over which time, in ms.
  get errors() {
    if (this.#errors.length === 0) return { rows: [], ms: 0 };
    const [from, before] = this.#errors[0], [to, now] = this.#errors[this.#errors.length - 1];
    return { rows: Object.entries(now).map(([kind, all]) => [kind, all - (before[kind] ?? 0), all]), ms: to - from };
  }
}
