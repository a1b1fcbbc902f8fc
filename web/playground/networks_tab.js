// SPDX-License-Identifier: MIT
// The second tab: a small network on two spirals, trained in three ways side by side.
import { Chart } from "./chart.js";
import { draw, scaleOf } from "./picture.js";
import { fillTable, keyOf, numberText, statusText } from "./rows.js";
import { readForm } from "./settings.js";
import { colour } from "./theme.js";

const methods = [
  { id: "plain", name: "plain", colour: 0 },
  { id: "moved", name: "with teleports", colour: 1 },
  { id: "trips", name: "round trips", colour: 2 },
];
const view = { x0: -1.15, y0: -1.15, x1: 1.15, y1: 1.15, columns: 48, rows: 48 };
/** Milliseconds between two pictures of a run. */
const pause = 60;
const side = 300;

/** A colour of the style sheet as red, green, blue. */
function channels(name) {
  const hex = colour(name).replace("#", "");
  return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

/** Samples and what the network makes of the plane around them. */
class Region {
  #svg;
  #image;
  #points;
  #canvas = document.createElement("canvas");
  #region = null;

  constructor(svg) {
    this.#svg = svg;
    svg.setAttribute("viewBox", `0 0 ${side} ${side}`);
    this.#canvas.width = view.columns;
    this.#canvas.height = view.rows;
    this.#image = draw("image", { width: side, height: side, preserveAspectRatio: "none" });
    this.#points = draw("g", { class: "samples" });
    svg.append(this.#image, this.#points);
  }

  showSamples({ x, y, label }) {
    const px = scaleOf(view.x0, view.x1, 0, side), py = scaleOf(view.y0, view.y1, side, 0);
    this.#points.replaceChildren(...Array.from(x, (_, i) => draw("circle", {
      class: `sample class${label[i]}`, r: 2.4, cx: px(x[i]).toFixed(1), cy: py(y[i]).toFixed(1),
    })));
  }

  show(region = this.#region) {
    if (!region) return;
    this.#region = region;
    const [zero, one, paper] = ["--s6", "--s1", "--paper"].map(channels);
    const context = this.#canvas.getContext("2d");
    const picture = context.createImageData(view.columns, view.rows);
    for (let row = 0; row < view.rows; ++row) {
      for (let column = 0; column < view.columns; ++column) {
        const p = region[(view.rows - 1 - row) * view.columns + column];
        const at = 4 * (row * view.columns + column);
        const strength = Number.isFinite(p) ? 0.42 * Math.abs(2 * p - 1) : 0;
        const hue = p > 0.5 ? one : zero;
        for (let k = 0; k < 3; ++k) {
          picture.data[at + k] = paper[k] + (hue[k] - paper[k]) * strength;
        }
        picture.data[at + 3] = 255;
      }
    }
    context.putImageData(picture, 0, 0);
    this.#image.setAttribute("href", this.#canvas.toDataURL());
    this.#svg.dataset.draws = Number(this.#svg.dataset.draws ?? 0) + 1;
  }
}

export class NetworksTab {
  name = "networks";
  #form;
  #computers;
  #changed;
  #regions = {};
  #chart;
  #runs = {};
  #button;
  #waiting = false;

  /** `computers`: three workers. */
  constructor(panel, computers, changed) {
    this.#form = panel.querySelector("form");
    this.#computers = computers;
    this.#changed = changed;
    this.#chart = new Chart(panel.querySelector("#network-loss"), {
      xLabel: "step", yLabel: "loss", logarithmic: true, width: 820, height: 430 });
    for (const { id, name, colour } of methods) {
      this.#regions[id] = new Region(panel.querySelector(`#region-${id}`));
      panel.querySelector(`#region-${id}-title`).append(keyOf(colour, name));
    }
    this.#button = panel.querySelector("#train");
    this.#button.addEventListener("click", () => (this.running ? this.#stop() : this.refresh()));
    this.#form.addEventListener("change", () => {
      this.#changed();
      this.refresh();
    });
    panel.querySelector("#against").addEventListener("change", () => this.#draw());
  }

  get running() { return Object.values(this.#runs).some((run) => !run.end && !run.error); }

  #words() {
    const form = readForm(this.#form);
    const common = ["--data", "spirals", "--samples", form.samples, "--layers", form.layers,
                    "--activation", form.activation, ...(form.bias ? ["--bias"] : []),
                    "--steps", form.steps, "--seed", form.seed];
    return {
      plain: [...common, "--lr", form.lr],
      moved: [...common, "--lr", form.lr, "--teleport", form.teleport],
      trips: [...common, "--round-trip", ...(form.theta ? ["--lr", form.theta] : []),
              ...(form.damping ? ["--damping", form.damping] : [])],
    };
  }

  get commands() {
    const words = this.#words();
    return methods.map(({ id }) => ["train", words[id]]);
  }

  restored() { this.refresh(); }

  #stop() {
    methods.forEach(({ id }, i) => {
      this.#computers[i].stop();
      if (this.#runs[id] && !this.#runs[id].end) this.#runs[id].error = "stopped";
    });
    this.#draw();
  }

  /** Trains again from the start. */
  refresh() {
    const words = this.#words();
    methods.forEach(({ id }, i) => {
      const run = { step: [], loss: [], accuracy: NaN };
      this.#runs[id] = run;
      this.#computers[i].run("train", { words: words[id], view, pause }, (news) => {
        if (news.samples) this.#regions[id].showSamples(news.samples);
        if (news.news) {
          run.step.push(...news.news.step);
          run.loss.push(...news.news.loss);
        }
        run.accuracy = news.accuracy;
        run.region = news.region;
        this.#later();
      }).then((found) => {
        Object.assign(run, { end: found.end, step: found.trace.step, loss: found.trace.loss,
                             evaluations: found.trace.evaluations,
                             marked: found.trace.teleported, region: found.region,
                             accuracy: found.accuracy, teleports: found.teleports });
        this.#later();
      }, (error) => {
        run.error = error.message;
        this.#later();
      });
    });
    this.#later();
  }

  #later() {
    if (this.#waiting) return;
    this.#waiting = true;
    requestAnimationFrame(() => {
      this.#waiting = false;
      this.#draw();
    });
  }

  recolour() { Object.values(this.#regions).forEach((region) => region.show()); }

  #draw() {
    const ended = methods.every(({ id }) => this.#runs[id]?.end);
    const against = document.querySelector("#against");
    against.querySelector("[value=evaluations]").disabled = !ended;
    const byGradients = ended && new FormData(against).get("against") === "evaluations";
    this.#chart.xLabel = byGradients ? "gradients, teleports included" : "step";
    const curves = [];
    const rows = [];
    const problems = [];
    for (const { id, name, colour } of methods) {
      const run = this.#runs[id];
      if (!run) continue;
      if (run.region) {
        this.#regions[id].show(run.region);
        run.region = null;
      }
      curves.push({ name, colour, x: byGradients ? run.evaluations : run.step, y: run.loss,
                    marked: run.marked });
      const last = run.loss[run.loss.length - 1] ?? NaN;
      const made = run.teleports?.accepted.reduce((sum, one) => sum + one, 0);
      rows.push([keyOf(colour, name), run.end || run.loss.length ? numberText(run.end?.loss ?? last) : "…",
                 Number.isFinite(run.accuracy) ? `${(100 * run.accuracy).toFixed(1)} %` : "",
                 run.end?.steps ?? run.step[run.step.length - 1] ?? 0,
                 run.end ? Math.round(run.end.evaluations) : "",
                 run.teleports?.step.length ? `${made} of ${run.teleports.step.length}` : "\u2013",
                 run.error === "stopped" ? "stopped" : run.error ? "not run"
                   : run.end ? statusText(run.end) : "…"]);
      if (run.error && run.error !== "stopped") problems.push(`${name}: ${run.error}`);
    }
    const start = Math.max(...curves.map(({ y }) => y[0] ?? 1));
    this.#chart.show(curves, { ceiling: 100 * start,
                               xRange: byGradients ? null : [0, Number(readForm(this.#form).steps) || 1] });
    const body = document.querySelector("#network-results");
    fillTable(body, rows);
    body.dataset.losses = JSON.stringify(methods.map(({ id }) => this.#runs[id]?.end?.loss ?? null));
    const { teleports } = this.#runs.moved ?? {};
    const refused = teleports ? teleports.accepted.indexOf(0) : -1;
    document.querySelector("#network-summary").textContent = refused < 0 ? ""
      : `The first teleport that was refused, before step ${teleports.step[refused]}: ${teleports.reasons[refused]}.`;
    const problem = this.#form.querySelector(".problem");
    problem.textContent = problems.join("\n");
    problem.hidden = problems.length === 0;
    this.#button.textContent = this.running ? "Stop" : "Train again";
  }
}
