// How often something has happened, in which span of time, and a chart of it.

import { actions } from "./actions.js";
import { ApiError, named } from "./api.js";
import { input, question } from "./ask.js";
import { Chart } from "./charts.js";
import { el, facts, field, panel } from "./dom.js";
import { clock, count, DAY, HOUR, instant, lately, MINUTE, parseDuration, span } from "./format.js";

const STEPS = 96;
const SPANS = [MINUTE, 10 * MINUTE, HOUR, DAY, 7 * DAY, 30 * DAY];
const SHOWN = ["window_ms", "hits", "newest_ms", "ends_ms"];

// The bars of a chart: each step is drawn from its begin to its end.
function stepped(context) {
  const { drawingContext: pen, points, color } = context;
  const bottom = context.dygraph.toDomYCoord(0);
  const width = points.length > 1 ? Math.max(1, (points[1].canvasx - points[0].canvasx) * 0.8) : 8;
  pen.fillStyle = color;
  for (const point of points) {
    if (Number.isFinite(point.canvasy)) pen.fillRect(point.canvasx - width / 2, point.canvasy, width, bottom - point.canvasy);
  }
}


function countsIn(spans, subject, counts) {
  return facts(spans.map((ms, i) => [`In the last ${lately(ms)}`, counts[i] instanceof ApiError ? counts[i].message
    : `${count(counts[i])}, at ${clock(subject.now)}`]));
}

function asker(subject, window) {
  const chosen = input("window", { value: "5m", size: "8" });
  return question(field("In the last", chosen), "Count", async () => {
    const ms = parseDuration(chosen.value.trim());
    if (!(ms > 0)) throw new Error("A span is written as 500ms, 5s, 10m, 24h or 7d.");
    if (ms > window) throw new Error(`The key keeps hits for ${span(window)}: for longer it cannot say.`);
    const hits = await subject.one("HITS.COUNT", subject.key, "WINDOW", `${ms}ms`);
    return el("p", {}, `${count(hits)} in the last ${lately(ms)}, at ${clock(Date.now())}.`);
  });
}

export async function showHits(subject) {
  const at = `${subject.now}ms`;
  const it = named(await subject.one("HITS.SHOW", subject.key), SHOWN);
  const window = it.window_ms;
  const spans = [...SPANS.filter((ms) => ms < window), window];
  const step = Math.max(1, Math.ceil(window / STEPS));
  const from = subject.now - step * Math.ceil(window / step);
  const [range, ...counts] = await subject.ask([["HITS.RANGE", subject.key, "FROM", `${Math.max(0, from)}ms`, "TO", at, "STEP", `${step}ms`],
    ...spans.map((ms) => ["HITS.COUNT", subject.key, "WINDOW", `${ms}ms`, "AT", at])]);
  const total = panel("Hits", { id: "hits", wide: true });
  total.span(`${count(it.hits)} in the last ${lately(window)}, at ${clock(subject.now)}`);
  total.show(countsIn(spans, subject, counts), facts([["Newest", instant(it.newest_ms, subject.now)],
    ["The last hit leaves", instant(it.ends_ms, subject.now)]]), asker(subject, window),
  actions(subject, [["Take the newest back", ["HITS.UNDO", subject.key, "1"]]]));
  if (range instanceof ApiError) return [{ panel: total }];
  const course = panel("When they happened", { id: "hits-course", wide: true });
  const chart = new Chart("Hits by time", [{ name: `hits in ${span(step)}`, colour: "--series-1" }], count,
    (at) => `from ${clock(at.getTime() - step / 2)} to ${clock(at.getTime() + step / 2)}`, { plotter: stepped, strokeWidth: 0 });
  course.span(`the last ${lately(window)}, in steps of ${span(step)}, to ${clock(subject.now)}`);
  course.show(chart.node);
  const rows = range.map((hits, i) => [new Date(Math.max(0, from) + i * step + step / 2), hits]);
  return [{ panel: total }, { panel: course, charts: [{ chart, rows }] }];
}
