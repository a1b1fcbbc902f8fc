// SPDX-License-Identifier: MIT
// Drawing: elements of SVG, axes, and pictures as files.
import { tickLabel, tickValues } from "./ticks.js";

/** On a phone pictures have fewer units, so that their text can be read. */
export const narrow = innerWidth <= 560;

export function draw(name, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** From numbers to places on the picture: `low` is at `from`, `high` at `to`. */
export function scaleOf(low, high, from, to, logarithmic = false) {
  const f = logarithmic ? Math.log10 : (value) => value;
  const a = f(low), part = (to - from) / (f(high) - a || 1);
  const scale = (value) => from + (f(value) - a) * part;
  scale.inverse = (place) => {
    const value = a + (place - from) / part;
    return logarithmic ? 10 ** value : value;
  };
  return Object.assign(scale, { low, high, logarithmic });
}

/** Lines of a path through points; a point that is no number interrupts it. */
export function pathOf(xs, ys, x, y) {
  let path = "", pen = "M";
  for (let i = 0; i < xs.length; ++i) {
    const px = x(xs[i]), py = y(ys[i]);
    if (!Number.isFinite(px) || !Number.isFinite(py)) {
      pen = "M";
      continue;
    }
    path += `${pen}${px.toFixed(1)} ${py.toFixed(1)}`;
    pen = "L";
  }
  return path;
}

/** Ticks and labels around a box {left, top, right, bottom}. */
export function axes(box, x, y, { xLabel, yLabel, xTicks = 6, yTicks = 5, xText = tickLabel }) {
  const group = draw("g", { class: "axes" });
  for (const value of tickValues(x.low, x.high, xTicks, x.logarithmic)) {
    const at = x(value).toFixed(1);
    group.append(draw("path", { class: "grid", d: `M${at} ${box.top}V${box.bottom}` }),
                 draw("text", { x: at, y: box.bottom + 18, "text-anchor": "middle" },
                      xText(value, x.logarithmic)));
  }
  for (const value of tickValues(y.low, y.high, yTicks, y.logarithmic)) {
    const at = y(value).toFixed(1);
    group.append(draw("path", { class: "grid", d: `M${box.left} ${at}H${box.right}` }),
                 draw("text", { x: box.left - 8, y: Number(at) + 4, "text-anchor": "end" },
                      tickLabel(value, y.logarithmic)));
  }
  group.append(
    draw("text", { class: "label", x: (box.left + box.right) / 2, y: box.bottom + 38,
                   "text-anchor": "middle" }, xLabel),
    draw("text", { class: "label", x: box.left, y: box.top - 9, "text-anchor": "start" }, yLabel));
  return group;
}

const kept = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "opacity",
              "fill-opacity", "font-size", "font-family", "font-weight"];

/** The picture as a file of its own, in the colours that it has on the page. */
export function svgText(svg) {
  const copy = svg.cloneNode(true);
  const originals = svg.querySelectorAll("*"), copies = copy.querySelectorAll("*");
  originals.forEach((original, i) => {
    const style = getComputedStyle(original);
    for (const name of kept) copies[i].setAttribute(name, style.getPropertyValue(name));
  });
  copy.querySelectorAll(".unexported").forEach((element) => element.remove());
  const { width, height } = svg.viewBox.baseVal;
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const ground = getComputedStyle(document.documentElement).getPropertyValue("--paper").trim();
  copy.prepend(draw("rect", { width, height, fill: ground }));
  return `${new XMLSerializer().serializeToString(copy)}\n`;
}

export function saveSvg(svg, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([svgText(svg)], { type: "image/svg+xml" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
