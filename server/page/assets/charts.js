// Charts by dygraphs, in the page's own colours, with a legend that is also read out.

import { el, setText } from "./dom.js";

const shown = new Set();
// Its own legend writes styles into markup, which the page's policy forbids.
Dygraph.PLUGINS = Dygraph.PLUGINS.filter((plugin) => plugin !== Dygraph.Plugins.Legend);

// What a custom property of the style sheet comes to, light or dark.
function colour(name) {
  const probe = el("span", { hidden: true });
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

function colours(series) {
  return {
    colors: series.map((one) => colour(one.colour)),
    gridLineColor: colour("--line"), axisLineColor: colour("--line"),
  };
}

// All charts are drawn anew: the colours have changed.
export function recolour() {
  for (const chart of shown) chart.recolour();
}

export class Chart {
  #graph = null;
  #series;
  #values;
  #when;
  #format;
  #timed;
  #options;

  // series: [{name, colour: "--series-1", dashed}]; format: what a value is shown as; when: what a row's
  // time is shown as, `last` if it is the newest; options: dygraphs' own.
  constructor(title, series, format, when, options = {}) {
    this.#series = series;
    this.#format = format;
    this.#timed = when;
    this.#options = options;
    this.#values = series.map(() => el("b", {}, "–"));
    this.#when = el("span", { class: "when" });
    const legend = el("figcaption", {}, series.map((one, i) => {
      const key = el("span", { class: "key", "aria-hidden": "true" });
      key.style.background = `var(${one.colour})`;
      return el("span", { class: "entry" }, key, `${one.name} `, this.#values[i]);
    }), this.#when);
    this.plot = el("div", { class: "plot", role: "img", "aria-label": `${title}: the chart of the figures beside it` });
    this.node = el("figure", { class: "chart" }, this.plot, legend);
    shown.add(this);
  }

  // rows: [[Date, number or null, …], …], in order of time.
  draw(rows) {
    this.rows = rows;
    if (!this.plot.isConnected || this.plot.clientWidth === 0) return;
    if (rows.length < 1) return;
    if (this.#graph !== null) this.#graph.updateOptions({ file: rows });
    else this.#graph = new Dygraph(this.plot, rows, this.#all());
    this.#say(rows[rows.length - 1]);
  }

  // Fits its place again, which may have been hidden when it was drawn.
  fit() {
    if (this.#graph !== null) this.#graph.resize();
    else if (this.rows) this.draw(this.rows);
  }

  recolour() {
    this.#graph?.updateOptions(colours(this.#series));
  }

  forget() {
    shown.delete(this);
    this.#graph?.destroy();
    this.#graph = null;
  }

  #all() {
    return {
      labels: ["time", ...this.#series.map((one) => one.name)], legend: "never", strokeWidth: 1.5,
      axisLabelFontSize: 11, drawGapEdgePoints: true, includeZero: true, connectSeparatedPoints: false,
      highlightCircleSize: 3, interactionModel: {}, rightGap: 8,
      axes: { y: { axisLabelWidth: 58, axisLabelFormatter: (value) => this.#format(value) },
        x: { drawGrid: false } },
      highlightCallback: (_event, _x, _points, row) => this.#say(this.rows[row]),
      unhighlightCallback: () => this.#say(this.rows[this.rows.length - 1]),
      series: Object.fromEntries(this.#series.map((one) => [one.name, { strokePattern: one.dashed ? [5, 3] : null }])),
      ...colours(this.#series), ...this.#options,
    };
  }

  #say(row) {
    if (!row) return;
    row.slice(1).forEach((value, i) => setText(this.#values[i], this.#format(value === null ? NaN : value)));
    setText(this.#when, this.#timed(row[0], row === this.rows[this.rows.length - 1]));
  }
}
