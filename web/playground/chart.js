// SPDX-License-Identifier: MIT
// Curves over a horizontal axis.
import { axes, draw, narrow, pathOf, scaleOf } from "./picture.js";

/** Points of a curve: a picture shows no more. */
const most = 900;

/** Every k-th of a long list, with its first and last entry; and those that are marked. */
function chosenRows(count, marked) {
  const stride = Math.max(1, Math.ceil(count / most));
  const rows = [];
  for (let i = 0; i < count; ++i) {
    if (i % stride === 0 || i === count - 1 || marked?.[i]) rows.push(i);
  }
  return rows;
}

function rangeOf(curves, logarithmic, ceiling) {
  let low = Infinity, high = -Infinity;
  for (const { y } of curves) {
    for (const value of y) {
      if (!Number.isFinite(value) || value > ceiling || (logarithmic && value <= 0)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  if (!(low <= high)) return [logarithmic ? 0.1 : 0, 1];
  if (logarithmic) {
    low = Math.max(low, high * 1e-36);
    return high / low < 10 ? [low / 2, high * 2] : [low / 1.5, high * 1.5];
  }
  const room = 0.06 * (high - low) || Math.abs(high) || 1;
  return [low >= 0 ? Math.max(0, low - room) : low - room, high + room];
}

export class Chart {
  #svg;
  #settings;
  #box;

  /** settings: xLabel, yLabel, logarithmic; width and height of the picture, except on a phone. */
  constructor(svg, settings) {
    this.#svg = svg;
    this.#settings = settings;
    const { width = 560, height = 300 } = narrow ? { width: 420, height: 290 } : settings;
    this.#box = { left: 58, top: 30, right: width - 22, bottom: height - 48 };
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("role", "img");
    svg.classList.add("chart");
  }

  set xLabel(text) { this.#settings.xLabel = text; }

  /** curves: {name, colour, x, y, marked: 1 where there is a dot, spot: the number of one point}.
      `ceiling`: what is above has no place. `cursor`: a vertical line at this x. */
  show(curves, { ceiling = Infinity, cursor = null, xRange = null } = {}) {
    const { logarithmic } = this.#settings, box = this.#box;
    const [low, high] = rangeOf(curves, logarithmic, ceiling);
    const first = Math.min(...curves.map(({ x }) => x[0] ?? 0));
    const last = Math.max(...curves.map(({ x }) => x[x.length - 1] ?? 1));
    const x = scaleOf(...(xRange ?? [first, Math.max(last, first + 1e-9)]), box.left, box.right);
    const y = scaleOf(low, high, box.bottom, box.top, logarithmic);
    const inside = (value) => (value > high && Number.isFinite(value) ? high * (logarithmic ? 2 : 1.1)
                               : logarithmic && value <= 0 ? NaN : value);
    const layer = draw("g", { "clip-path": `url(#${this.#svg.id}-clip)` });
    for (const { name, colour, x: xs, y: ys, marked, spot } of curves) {
      const rows = chosenRows(xs.length, marked);
      layer.append(draw("path", {
        class: `curve s${colour}`, "data-name": name, "data-points": xs.length,
        d: pathOf(rows.map((i) => xs[i]), rows.map((i) => inside(ys[i])), x, y),
      }));
      const dot = (i, kind, r) => {
        const at = y(inside(ys[i]));
        if (Number.isFinite(at)) layer.append(draw("circle", { class: kind, cx: x(xs[i]), cy: at, r }));
      };
      if (marked) rows.forEach((i) => marked[i] && dot(i, "teleport", 2.6));
      if (spot !== undefined && spot !== null) dot(spot, "spot", 5);
    }
    if (cursor !== null && Number.isFinite(x(cursor))) {
      layer.append(draw("path", { class: "cursor", d: `M${x(cursor)} ${box.top}V${box.bottom}` }));
    }
    this.#svg.replaceChildren(
      draw("clipPath", { id: `${this.#svg.id}-clip` },
           draw("rect", { x: box.left, y: box.top, width: box.right - box.left,
                          height: box.bottom - box.top })),
      axes(box, x, y, this.#settings), layer);
    this.#svg.dataset.draws = Number(this.#svg.dataset.draws ?? 0) + 1;
  }
}
