// SPDX-License-Identifier: MIT
// A map of numbers: the picture is the program's; this shows the exact number of a cell under the
// pointer, or where the arrow keys have gone.
import { exactText, shortText } from "./format.js";

const cellHint = "Hover over a cell, or use the arrow keys, for its number.";

export class HeatMap {
  constructor(element, figure) {
    this.figure = figure;
    this.holder = element.querySelector(".static");
    this.output = element.querySelector(".position");
    // In the document row by row, as the numbers are.
    this.cells = [...element.querySelectorAll("svg .cell")];
    this.output.textContent = cellHint;
    this.cells.forEach((cell, i) => cell.addEventListener("pointerenter", () => this.show(i)));
    this.holder.addEventListener("pointerleave", () => this.show(null));
    this.holder.addEventListener("keydown", (event) => this.key(event));
  }

  show(index) {
    if (this.index != null) this.cells[this.index].classList.remove("chosen");
    this.index = index;
    if (index === null) {
      this.output.textContent = cellHint;
      delete this.output.dataset.value;
      return;
    }
    const { figure } = this;
    const columns = figure.x.length;
    this.cells[index].classList.add("chosen");
    const value = figure.values[index];
    const number = Number.isFinite(value) ? shortText(value) : "left out";
    this.output.textContent =
      `${figure.xAxis.key} ${shortText(figure.x[index % columns])}, ${figure.yAxis.key} ` +
      `${shortText(figure.y[Math.floor(index / columns)])}: ${number}`;
    this.output.dataset.value = exactText(value);
  }

  key(event) {
    const columns = this.figure.x.length;
    const moves = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: columns, ArrowDown: -columns };
    if (!(event.key in moves)) return;
    event.preventDefault();
    if (this.index == null) {
      this.show(0);
      return;
    }
    const next = this.index + moves[event.key];
    const sideways = Math.abs(moves[event.key]) === 1 && columns > 1;
    const sameRow = Math.floor(next / columns) === Math.floor(this.index / columns);
    if (next >= 0 && next < this.cells.length && (!sideways || sameRow)) this.show(next);
  }
}
