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

// Values at which an axis has its labels: dygraphs' own know no units.
function ticksAt(values, options, low, high) {
  const format = options("axisLabelFormatter");
  // The ends of an axis of logarithms are not exact.
  return values.filter((v) => v >= low - Math.abs(low) / 1e6 && v <= high * 1.000001)
    .map((v) => ({ v, label: format(v).replace(/\.(\d*?)0+(?= |$)/, (_all, kept) => (kept === "" ? "" : `.${kept}`)) }));
}

// 1, 2 and 5 of each power of ten, or as many of them as there is room for.
export function decimalTicks(low, high, pixels, options) {
  return evenTicks(low, high, pixels, options, 1);
}

// The same of B, KiB, MiB …: 5 MiB, not 4.77.
export function byteTicks(low, high, pixels, options) {
  const unit = 1024 ** Math.max(0, Math.floor(Math.log(Math.max(1, high)) / Math.log(1024)));
  return evenTicks(low, high, pixels, options, unit);
}

function evenTicks(low, high, pixels, options, unit) {
  const rough = (high - low) / Math.max(2, Math.floor(pixels / 28)) / unit;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((one) => one * power >= rough) * power * unit;
  const values = [];
  for (let n = Math.ceil(low / step); n * step <= high; n += 1) values.push(n * step);
  return ticksAt(values, options, low, high);
}

// 1, 10, 100 …, for an axis of logarithms.
export function powerTicks(low, high, _pixels, options) {
  const values = [];
  for (let value = 1; value <= high * 1.000001; value *= 10) values.push(value);
  return ticksAt(values, options, low, high);
}

export class Chart {
  #graph = null;
  #series;
  #values;
  #when;
  #format;
  #timed;
  #options;
  #ticker;

  // series: [{name, colour: "--series-1", dashed}]; format: what a value is shown as; when: what a row's
  // time is shown as, `last` if it is the newest; ticker: where the axis has labels; options: dygraphs' own.
  constructor(title, series, format, when, { ticker = decimalTicks, ...options } = {}) {
    this.#series = series;
    this.#format = format;
    this.#timed = when;
    this.#options = options;
    this.#ticker = ticker;
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
  draw(rows, options = {}) {
    this.rows = rows;
    if (!this.plot.isConnected || this.plot.clientWidth === 0) return;
    if (rows.length < 1) return;
    if (this.#graph !== null) this.#graph.updateOptions({ file: rows, ...options });
    else this.#graph = new Dygraph(this.plot, rows, { ...this.#all(), ...options });
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
      axes: { y: { axisLabelWidth: 58, ticker: this.#ticker, axisLabelFormatter: (value) => this.#format(value) },
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
