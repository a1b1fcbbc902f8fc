// SPDX-License-Identifier: MIT
// Curves on a canvas, by uPlot: it draws the lowest and the highest point in each column of pixels,
// so that long series stay quick; hovering and downloads read the columns themselves.
import { isAscending, nearestIndex } from "./data.js";
import { exactText, shortText } from "./format.js";
import { corners, drawFree, nearestRow } from "./free_curves.js";
import { colour } from "./theme.js";
import { tickLabel, tickValues } from "./ticks.js";

const hint = "Hover for values, drag to zoom, double-click for the whole.";

/** What an axis can show of a column; null is a gap. */
function drawable(column, logarithmic) {
  return Array.from(column, (v) => (Number.isFinite(v) && (v > 0 || !logarithmic) ? v : null));
}

/** The range of an axis around values, up to what it shows at most. */
function rangeOf(low, high, axis) {
  const top = high == null ? high : Math.min(high, Math.max(axis.most ?? Infinity, low));
  return paddedRange(low, top, axis.log);
}

function withOpacity(hex, opacity) {
  return hex + Math.round(opacity * 255).toString(16).padStart(2, "0");
}

function sameColumns(columns) {
  return columns.every(
    (c) => c === columns[0] ||
      (c.length === columns[0].length && c.every((v, i) => v === columns[0][i])));
}

/** One common horizontal column, and the others along it. */
function aligned(tables) {
  if (sameColumns(tables.map((table) => table[0]))) {
    return [tables[0][0], ...tables.flatMap((table) => table.slice(1))];
  }
  return uPlot.join(tables.map(([x, ...ys]) => [Array.from(x), ...ys]));
}

function paddedRange(low, high, logarithmic) {
  if (low == null || high == null) return logarithmic ? [0.1, 10] : [0, 1];
  if (logarithmic) {
    const [bottom, top] = [Math.log10(low), Math.log10(high)];
    const room = high > low ? Math.max(0.04 * (top - bottom), 0.05) : 0.5;
    return [10 ** Math.max(bottom - room, -307), 10 ** Math.min(top + room, 308)];
  }
  const room = high > low ? 0.05 * (high - low) : Math.abs(low) / 2 || 1;
  return [low - room, high + room];
}

export class CurvePlot {
  constructor(element, figure) {
    this.element = element;
    this.figure = figure;
    this.axis = 0;
    this.hidden = new Set();
    this.holder = element.querySelector(".plot");
    this.entries = [...element.querySelectorAll(".legend .series")];
    this.position = element.querySelector(".legend .position");
    this.canDraw = figure.series.length > 0;
    if (!this.canDraw) {
      element.classList.add("still");
      return;
    }
    this.free = !figure.series.every((series) => series.x.every(isAscending));
    this.build();
    this.listen();
  }

  listen() {
    for (const input of this.element.querySelectorAll(".switch input")) {
      input.addEventListener("change", () => this.showAxis(Number(input.value)));
    }
    this.entries.forEach((entry, i) => entry.addEventListener("click", () => this.toggle(i)));
    for (const button of this.element.querySelectorAll("[data-zoom]")) {
      button.addEventListener("click", () => this.zoom(button.dataset.zoom));
    }
    this.holder.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.resize()).observe(this.holder);
  }

  size() {
    const width = Math.max(240, Math.floor(this.holder.clientWidth));
    return { width, height: Math.round(Math.min(420, Math.max(260, width * 0.55))) };
  }

  build() {
    this.plot?.destroy();
    const { figure, axis } = this;
    const xAxis = figure.xAxes[axis];
    const yAxis = figure.yAxis;
    const tables = [];
    const series = [{}];
    const bands = [];
    if (this.free) {
      tables.push(corners(figure, axis, this.hidden));
      series.push({ stroke: "transparent", width: 0, points: { show: false } });
    }
    this.lines = [];  // the place of each series among uPlot's
    for (const [i, one] of this.free ? [] : figure.series.entries()) {
      const table = [one.x[axis], drawable(one.y, yAxis.log)];
      const stroke = () => colour(`--s${one.colour}`);
      const show = !this.hidden.has(i);
      this.lines.push(series.length);
      series.push({ stroke, width: 1.8, show, points: { show: one.y.length <= 40, size: 5, fill: stroke } });
      if (one.lower) {
        table.push(drawable(one.upper, yAxis.log), drawable(one.lower, yAxis.log));
        bands.push({ series: [series.length, series.length + 1],
                     fill: () => withOpacity(stroke(), 0.18) });
        for (let k = 0; k < 2; ++k) {
          series.push({ show, stroke: "transparent", width: 0, points: { show: false } });
        }
      }
      tables.push(table);
    }
    const font = `13px ${getComputedStyle(this.holder).fontFamily}`;
    const look = ({ label, log: logarithmic, whole, ticks }, count) => ({
      label, font, labelFont: font, labelSize: 22, labelGap: 2,
      stroke: () => colour("--soft"),
      grid: { stroke: () => colour("--grid"), width: 1 },
      ticks: { stroke: () => colour("--grid"), width: 1, size: 5 },
      splits: (u, index, low, high) => ticks?.filter((value) => value >= low && value <= high) ??
        tickValues(low, high, count(u), logarithmic)
          .filter((value) => !whole || Number.isInteger(value)),
      values: (u, splits) => splits.map((value) => (ticks ? String(value)
                                                          : tickLabel(value, logarithmic))),
      filter: (u, splits) => splits,
    });
    this.plot = new uPlot(
      {
        ...this.size(),
        series,
        bands,
        scales: {
          x: { time: false, distr: xAxis.log ? 3 : 1,
               range: (u, low, high) => (high > low ? [low, high] : [low, low + 1]) },
          y: { distr: yAxis.log ? 3 : 1,
               range: (u, low, high) => {
                 // Of free curves uPlot knows the corners only.
                 const whole = this.free && !(high > low);
                 const [from, to] = whole ? corners(figure, axis, this.hidden)[1] : [low, high];
                 return rangeOf(from, to, yAxis);
               } },
        },
        axes: [
          { ...look(xAxis, (u) => Math.max(2, u.bbox.width / devicePixelRatio / 90)),
            size: 34 },
          { ...look(yAxis, () => 7), size: 52 },
        ],
        legend: { show: false },
        cursor: {
          drag: { x: true, y: true, uni: 40 },
          dataIdx: (u, seriesIndex, index) => this.nearestDrawn(u, seriesIndex, index),
          points: { show: !this.free, size: 8, width: 2 },
        },
        hooks: {
          setCursor: [(u) => this.showValues(u)],
          setScale: [(u, key) => {
            if (key === "x") this.holder.dataset.range = `${u.scales.x.min} ${u.scales.x.max}`;
          }],
          draw: [(u) => {
            if (this.free) {
              drawFree(u, figure, axis, this.hidden, (one) => colour(`--s${one.colour}`));
            }
            this.drawTeleports(u);
          }],
        },
      },
      aligned(tables),
      this.holder,
    );
    this.holder.dataset.axis = xAxis.key;
  }

  /** Where series have rows of their own, the row of this one that is nearest to the cursor. */
  nearestDrawn(u, seriesIndex, index) {
    const values = u.data[seriesIndex];
    if (index == null || values[index] !== undefined) return index;
    for (let away = 1; away < values.length; ++away) {
      if (values[index - away] !== undefined && index - away >= 0) return index - away;
      if (values[index + away] !== undefined && index + away < values.length) return index + away;
    }
    return index;
  }

  drawTeleports(u) {
    const { ctx, bbox } = u;
    const ratio = devicePixelRatio;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left - 4 * ratio, bbox.top - 4 * ratio, bbox.width + 8 * ratio,
             bbox.height + 8 * ratio);
    ctx.clip();
    ctx.fillStyle = colour("--teleport");
    ctx.strokeStyle = colour("--paper");
    ctx.lineWidth = ratio;
    for (const [i, one] of this.figure.series.entries()) {
      if (this.hidden.has(i)) continue;
      let last = [-1e9, -1e9];
      for (const at of one.teleports) {
        const value = one.y[at];
        if (!Number.isFinite(value) || (value <= 0 && this.figure.yAxis.log)) continue;
        const x = u.valToPos(one.x[this.axis][at], "x", true);
        const y = u.valToPos(value, "y", true);
        if (Math.hypot(x - last[0], y - last[1]) < 4 * ratio) continue;
        if (x < bbox.left - 1 || x > bbox.left + bbox.width + 1) continue;
        last = [x, y];
        ctx.beginPath();
        ctx.arc(x, y, 3.4 * ratio, 0, 2 * Math.PI);
        ctx.fill();
        ctx.stroke();
      }
    }
    ctx.restore();
  }

  /** The exact numbers at the cursor, in the legend. */
  showValues(u) {
    const { figure, axis } = this;
    const away = u.cursor.left == null || u.cursor.left < 0;
    const at = away ? null : u.posToVal(u.cursor.left, "x");
    const places = new Set();
    for (const [i, one] of figure.series.entries()) {
      const output = this.entries[i].querySelector("output");
      if (away) {
        output.textContent = "";
        delete output.dataset.value;
        continue;
      }
      const row = this.free
        ? nearestRow(u, figure, axis, one, u.cursor.left * devicePixelRatio + u.bbox.left,
                     u.cursor.top * devicePixelRatio + u.bbox.top)
        : nearestIndex(one.x[axis], at);
      output.dataset.row = row;
      if (!this.hidden.has(i)) places.add(shortText(one.x[axis][row]));
      output.dataset.value = exactText(one.y[row]);
      output.dataset.at = exactText(one.x[axis][row]);
      output.title = exactText(one.y[row]);
      output.textContent = this.free
        ? `${shortText(one.y[row])} at ${shortText(one.x[axis][row])}` : shortText(one.y[row]);
      if (one.upper) output.textContent += ` (${shortText(one.lower[row])} … ${shortText(one.upper[row])})`;
    }
    const key = figure.xAxes[axis].key;
    if (this.free) {
      this.position.textContent = away ? hint : "The point of each curve nearest to the cursor:";
      return;
    }
    this.position.textContent = away ? hint : `${key} ${[...places].slice(0, 2).join(", ")}`;
  }

  showAxis(axis) {
    this.axis = axis;
    for (const picture of this.element.querySelectorAll(".static")) {
      picture.hidden = Number(picture.dataset.axis) !== axis;
    }
    this.build();
  }

  toggle(i) {
    if (this.hidden.has(i)) this.hidden.delete(i);
    else this.hidden.add(i);
    const show = !this.hidden.has(i);
    this.entries[i].setAttribute("aria-pressed", String(show));
    if (this.free) {
      this.build();
      return;
    }
    const line = this.lines[i];
    const count = this.figure.series[i].lower ? 3 : 1;
    this.plot.batch(() => {
      for (let k = 0; k < count; ++k) this.plot.setSeries(line + k, { show });
    });
  }

  zoom(how) {
    const u = this.plot;
    if (how === "reset") {
      u.setData(u.data, true);
      return;
    }
    const { min, max } = u.scales.x;
    const log = this.figure.xAxes[this.axis].log;
    const to = log ? Math.log10 : (v) => v;
    const from = log ? (v) => 10 ** v : (v) => v;
    const hovered = u.cursor.left >= 0 ? u.posToVal(u.cursor.left, "x") : null;
    const middle = to(hovered ?? from((to(min) + to(max)) / 2));
    const factor = how === "in" ? 0.5 : 2;
    const column = u.data[0];
    const low = Math.max(to(column[0]), middle - (middle - to(min)) * factor);
    const high = Math.min(to(column[column.length - 1]), middle + (to(max) - middle) * factor);
    if (high > low) u.setScale("x", { min: from(low), max: from(high) });
  }

  key(event) {
    const u = this.plot;
    const moves = { ArrowLeft: -1, ArrowRight: 1 };
    if (event.key in moves && this.free) {
      this.follow((event.shiftKey ? 20 : 1) * moves[event.key]);
    } else if (event.key in moves) {
      const width = u.over.clientWidth;
      const now = u.cursor.left >= 0 ? u.cursor.left : width / 2;
      const far = event.shiftKey ? 20 : 1;
      const left = Math.min(width, Math.max(0, now + far * moves[event.key]));
      u.setCursor({ left, top: u.over.clientHeight / 2 });
    } else if (event.key === "+" || event.key === "=") this.zoom("in");
    else if (event.key === "-") this.zoom("out");
    else if (event.key === "0" || event.key === "Escape") this.zoom("reset");
    else return;
    event.preventDefault();
  }

  /** Moves the cursor along the first curve that is shown, by rows. */
  follow(by) {
    const first = this.figure.series.findIndex((_, i) => !this.hidden.has(i));
    if (first < 0) return;
    const one = this.figure.series[first];
    const now = this.entries[first].querySelector("output").dataset;
    const row = "value" in now ? Number(now.row) + by : 0;
    const to = Math.min(one.y.length - 1, Math.max(0, row));
    this.plot.setCursor({ left: this.plot.valToPos(one.x[this.axis][to], "x"),
                          top: this.plot.valToPos(one.y[to], "y") });
  }

  resize() {
    const size = this.size();
    if (size.width !== this.plot.width || size.height !== this.plot.height) this.plot.setSize(size);
  }

  recolour() {
    if (this.canDraw) this.plot.redraw(false);
  }
}
