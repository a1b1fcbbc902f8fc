// SPDX-License-Identifier: MIT
// The first tab: a function of two variables, a run on it, and the orbits that it teleports along.
import { Chart } from "./chart.js";
import { Latest } from "./computer.js";
import { Plane } from "./plane.js";
import { endText, fillTable, keyOf, numberText, statusText } from "./rows.js";
import { readForm } from "./settings.js";

const orbitCount = 360;
const sampling = 240;

/** What the page begins with for each choice of a function. `formula` ones can be edited. */
const presets = {
  rosenbrock: { function: "rosenbrock", start: [-1, -1], lr: "0.001", steps: "500",
                teleport: "every:100+99", box: [-2, -2, 2, 3] },
  booth: { function: "booth", start: [5, -5], lr: "0.05", steps: "40", teleport: "4",
           box: [-6, -8, 10, 10] },
  ellipse: { function: "ellipse:5", start: [2, 1], lr: "0.02", steps: "100", teleport: "0",
             box: [-3.2, -2.2, 3.2, 2.2] },
  quadratic: { function: "quadratic:2,100", start: [1, 1], lr: "0.004", steps: "300", teleport: "0",
               box: [-12, -1.6, 12, 1.6] },
  hyperbola: { formula: "(x1*x2 - 1)^2", symmetry: "scaling", start: [3, 0.9], lr: "0.02",
               steps: "100", teleport: "0", box: [-0.5, -0.5, 5, 5] },
  valley: { formula: "(x1 - 1)^2 + 100*(x2 - sin(2*x1))^2", symmetry: "variables",
            h: "10*(x2 - sin(2*x1)), x1 - 1", inverse: "x2 + 1, x1/10 + sin(2*(x2 + 1))",
            start: [-1.5, 1], lr: "0.001", steps: "500", teleport: "every:50",
            box: [-2.6, -2.2, 3.6, 2.2] },
  own: { formula: "log(1 + x1^2 + 5*x2^2)", symmetry: "ellipse:5", start: [2, 1], lr: "0.1",
         steps: "100", teleport: "0", box: [-3.2, -2.2, 3.2, 2.2] },
};

export class FunctionsTab {
  name = "functions";
  #form;
  #plane;
  #loss;
  #along;
  #latest;
  #orbits;
  #words = [];
  #plainWords = [];
  #found = null;    // the run with teleports
  #plain = null;    // and the one without
  #orbit = null;
  #orbitOf = -1;    // the teleport that it belongs to; -1: the start
  #levelsOf = "";   // for which the level lines are
  #row = Infinity;  // of the trace, up to which it is drawn
  #playing = 0;
  #changed;

  /** `computers`: two workers; `changed` is called when the settings were. */
  constructor(panel, computers, changed) {
    this.#form = panel.querySelector("form");
    this.#changed = changed;
    this.#latest = new Latest(computers[0]);
    this.#orbits = new Latest(computers[1]);
    this.#plane = new Plane(panel.querySelector("#plane"), (start, done) => {
      this.#form.elements.start1.value = String(start[0]);
      this.#form.elements.start2.value = String(start[1]);
      this.refresh();
      if (done) this.#changed();
    });
    this.#loss = new Chart(panel.querySelector("#loss"), {
      xLabel: "step", yLabel: "loss", logarithmic: true });
    this.#along = new Chart(panel.querySelector("#along"), {
      xLabel: "angle along the orbit", yLabel: "|∇L|" });
    panel.querySelector("#way-key").append(keyOf(0, "plain"), keyOf(1, "with teleports"));
    const player = panel.querySelector(".player");
    this.player = { slider: player.querySelector("input"), button: player.querySelector("button"),
                    text: player.querySelector("output") };
    this.player.slider.addEventListener("input", () => this.#show(Number(this.player.slider.value)));
    this.player.button.addEventListener("click", () => this.#play(!this.#playing));
    this.#form.addEventListener("input", (event) => this.#edited(event.target));
    for (const button of panel.querySelectorAll("[data-zoom]")) {
      button.addEventListener("click", () => this.#zoom(button.dataset.zoom));
    }
    this.#fields();
  }

  get commands() { return this.#words.length ? [["optimize", this.#words]] : []; }

  /** After the form was written by somebody else. */
  restored() {
    this.#fields();
    this.#look();
    this.refresh();
  }

  #field(name) { return this.#form.elements[name]; }
  #preset() { return presets[this.#field("function").value] ?? presets.rosenbrock; }

  #edited(field) {
    if (field.name === "function") {
      const preset = this.#preset();
      const values = { ...preset, start1: preset.start[0], start2: preset.start[1] };
      for (const name of ["formula", "symmetry", "h", "inverse", "start1", "start2", "lr", "steps",
                          "teleport"]) {
        this.#field(name).value = values[name] ?? "";
      }
      this.#look();
    }
    if (field.name === "") this.#field("lr").value = String(Number((10 ** field.value).toPrecision(2)));
    this.#fields();
    this.refresh();
    this.#changed();
  }

  /** Shows the fields that matter. */
  #fields() {
    const own = this.#preset().formula !== undefined;
    for (const element of this.#form.querySelectorAll("[data-for=formula]")) element.hidden = !own;
    const variables = own && this.#field("symmetry").value === "variables";
    for (const element of this.#form.querySelectorAll("[data-for=variables]")) {
      element.hidden = !variables;
    }
    const rate = Number(this.#field("lr").value);
    if (rate > 0) this.#form.querySelector("#rate-slider").value = Math.log10(rate);
  }

  #look() {
    const [x0, y0, x1, y1] = this.#preset().box;
    this.#plane.box = { x0, y0, x1, y1 };
  }

  #zoom(way) {
    const { x0, y0, x1, y1 } = this.#plane.box;
    const grow = (factor) => {
      const [dx, dy] = [(x1 - x0) * factor, (y1 - y0) * factor];
      return { x0: x0 - dx, y0: y0 - dy, x1: x1 + dx, y1: y1 + dy };
    };
    if (way === "whole") this.#look();
    else this.#plane.box = grow(way === "out" ? 0.25 : -1 / 6);
    this.refresh();
  }

  #read() {
    const { formula, symmetry, h, inverse, ...form } = readForm(this.#form);
    const preset = this.#preset();
    const own = preset.formula !== undefined;
    const words = [own ? formula : preset.function];
    if (own && symmetry) {
      const tight = (text) => text.split(",").map((part) => part.trim()).join(",");
      words.push("--symmetry",
                 symmetry === "variables" ? `variables:${tight(h)}:${tight(inverse)}` : symmetry);
    }
    words.push("--start", `${form.start1},${form.start2}`);
    if (form.optimizer !== "gd") words.push("--optimizer", form.optimizer);
    if (form.lr) words.push("--lr", form.lr);
    if (form.steps) words.push("--steps", form.steps);
    const plain = [...words];
    if (form.teleport && form.teleport !== "never") {
      words.push("--teleport", form.teleport);
      if (form.search !== "auto") words.push("--search", form.search);
      if (form.objective) words.push("--objective", form.objective);
    }
    return { words, plain, start: [Number(form.start1), Number(form.start2)] };
  }

  refresh() {
    const { words, plain, start } = this.#read();
    this.#words = words;
    this.#plainWords = plain;
    if (start.every(Number.isFinite)) this.#plane.start = start;
    // A start in a fragment may lie outside of what is shown.
    const { x0, y0, x1, y1 } = this.#plane.box;
    if (start[0] < x0 || start[0] > x1 || start[1] < y0 || start[1] > y1) {
      if (start.every(Number.isFinite)) {
        const [dx, dy] = [0.1 * (x1 - x0), 0.1 * (y1 - y0)];
        this.#plane.box = { x0: Math.min(x0, start[0] - dx), y0: Math.min(y0, start[1] - dy),
                            x1: Math.max(x1, start[0] + dx), y1: Math.max(y1, start[1] + dy) };
      }
    }
    const box = this.#plane.box;
    const symmetry = words.indexOf("--symmetry");
    const levelsOf = JSON.stringify([words[0], symmetry < 0 ? "" : words[symmetry + 1], box]);
    const levels = levelsOf === this.#levelsOf ? null : { ...box, columns: sampling, rows: sampling };
    this.#latest.ask("both", { words, plain, levels, count: orbitCount }, (found) => {
      this.#tell("");
      if (levels) {
        this.#levelsOf = levelsOf;
        this.#plane.showLevels(found.levels);
      }
      this.#take(found);
    }, (error) => this.#tell(error.message));
  }

  #tell(problem) {
    const element = this.#form.querySelector(".problem");
    element.textContent = problem;
    element.hidden = problem === "";
  }

  #take({ run, plain, orbit }) {
    this.#found = run;
    this.#plain = plain;
    this.#orbit = orbit;
    this.#orbitOf = run.teleports.accepted.indexOf(1);
    const { about, end, trace, teleports } = run;
    this.#plane.minimizer = about.minimizer?.split(",").map(Number) ?? null;
    const fitting = about.searches?.split(",") ?? [];
    for (const option of this.#field("search").options) {
      option.disabled = fitting.length > 0 && !fitting.includes(option.value);
    }
    const last = trace.step.length - 1;
    const whole = this.#row >= Number(this.player.slider.max);
    this.player.slider.max = last;
    if (whole) this.#row = last;
    this.#row = Math.min(this.#row, last);
    const made = teleports.accepted.reduce((sum, one) => sum + one, 0);
    const rows = [[keyOf(0, "plain"), numberText(plain.end.loss), plain.end.steps,
                   Math.round(plain.end.evaluations), "\u2013", statusText(plain.end)]];
    rows.push([keyOf(1, "with teleports"), numberText(end.loss), end.steps,
               Math.round(end.evaluations), `${made} of ${teleports.step.length}`, statusText(end)]);
    fillTable(document.querySelector("#function-results"), rows);
    const result = document.querySelector("#function-summary");
    result.dataset.loss = String(end.loss);
    result.dataset.plainLoss = String(plain.end.loss);
    const refused = teleports.accepted.indexOf(0);
    result.textContent = made > 0 || teleports.step.length === 0
      ? `${about.formula}${about.symmetry ? `, invariant under ${about.symmetry}` : ""}. With teleports: ${endText(end)}; plain: ${endText(plain.end)}.`
      : `No teleport was made: ${teleports.reasons[Math.max(0, refused)]}.`;
    this.#show(this.#row);
  }

  /** The state at this row of the trace. */
  #show(row) {
    if (!this.#found) return;
    this.#row = row;
    const { trace, teleports } = this.#found, { trace: plainTrace } = this.#plain;
    this.player.slider.value = row;
    const teleported = trace.teleported[row] ? ", after a teleport" : "";
    this.player.text.textContent =
      `step ${trace.step[row]}${teleported}: loss ${numberText(trace.loss[row])}, at `
      + `(${numberText(trace.x1[row])}, ${numberText(trace.x2[row])})`;
    this.#plane.showWays([{ name: "plain", colour: 0, trace: plainTrace, teleports: this.#plain.teleports },
                          { name: "with teleports", colour: 1, trace, teleports }], row);
    this.#loss.show([{ name: "plain", colour: 0, x: plainTrace.step, y: plainTrace.loss },
                     { name: "with teleports", colour: 1, x: trace.step, y: trace.loss,
                       marked: trace.teleported }],
                    { ceiling: 100 * Math.max(trace.loss[0], plainTrace.loss[0]),
                      cursor: row < trace.step.length - 1 ? trace.step[row] : null });
    this.#plane.showOrbit(this.#orbit);
    this.#showAlong();
    this.#otherOrbit(row);
  }

  #showAlong() {
    const orbit = this.#orbit;
    if (!orbit) {
      this.#along.show([{ name: "orbit", colour: 1, x: [0, 1], y: [NaN, NaN] }]);
      return;
    }
    const closed = orbit.at[0] === 0;
    this.#along.xLabel = closed ? "angle along the orbit" : "distance along the orbit";
    this.#along.show([{ name: "orbit", colour: 1, x: orbit.at,
                        y: orbit.gradSq.map(Math.sqrt), spot: orbit.marked }]);
  }

  /** While the run is played: the orbit of the latest teleport. */
  #otherOrbit(row) {
    const { trace, teleports } = this.#found;
    let latest = -1;
    for (let i = 0; i < teleports.step.length; ++i) {
      if (teleports.accepted[i] && teleports.step[i] <= trace.step[row]) latest = i;
    }
    const whole = row >= trace.step.length - 1;
    const first = teleports.accepted.indexOf(1);
    if (whole || latest < 0) latest = first;
    if (latest < 0 || latest === this.#orbitOf) return;
    this.#orbitOf = latest;
    const found = this.#found;
    this.#orbits.ask("orbit", {
      words: this.#words, count: orbitCount,
      through: [teleports.fromX1[latest], teleports.fromX2[latest]],
      mark: [teleports.toX1[latest], teleports.toX2[latest]],
    }, ({ orbit }) => {
      if (found !== this.#found) return;
      this.#orbit = orbit;
      this.#plane.showOrbit(orbit);
      this.#showAlong();
    }, () => {});
  }

  #play(on) {
    cancelAnimationFrame(this.#playing);
    this.#playing = 0;
    this.player.button.setAttribute("aria-pressed", String(on));
    this.player.button.textContent = on ? "Pause" : "Play";
    if (!on) return;
    const last = () => Number(this.player.slider.max);
    if (this.#row >= last()) this.#row = 0;
    // About six seconds for a run, whatever its length.
    let exact = this.#row, before = performance.now();
    const frame = (now) => {
      exact += ((now - before) / 6000) * last();
      before = now;
      const row = Math.min(last(), Math.floor(exact));
      if (row !== this.#row) this.#show(row);
      if (row >= last()) this.#play(false);
      else this.#playing = requestAnimationFrame(frame);
    };
    this.#playing = requestAnimationFrame(frame);
  }
}
