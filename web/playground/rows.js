// SPDX-License-Identifier: MIT
// Words and figures that the tabs share.
import { shortText } from "./format.js";

export const numberText = (value) => (Number.isFinite(value) ? Number(value.toPrecision(4)).toString()
                                      : shortText(value)).replace("-", "\u2212");

/** "step limit" */
export const statusText = ({ status }) => status.replaceAll("_", " ");

/** "loss 1.2e−20 after 1000 steps and 12105 gradients" */
export function endText({ status, steps, evaluations, loss }) {
  const cost = `${steps} steps and ${Math.round(evaluations)} gradients`;
  if (status === "diverged") return `diverged after ${cost}`;
  return `loss ${numberText(loss)} after ${cost}`;
}

export function fillTable(body, rows) {
  body.replaceChildren(...rows.map((cells) => {
    const row = document.createElement("tr");
    cells.forEach((cell, i) => {
      const one = document.createElement(i === 0 ? "th" : "td");
      if (i === 0) one.scope = "row";
      else one.className = "number";
      one.append(cell);
      row.append(one);
    });
    return row;
  }));
}

/** A swatch and a name. */
export function keyOf(colour, name) {
  const span = document.createElement("span");
  span.className = "key";
  const swatch = document.createElement("i");
  swatch.className = `swatch c${colour}`;
  span.append(swatch, name);
  return span;
}
