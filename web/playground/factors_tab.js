// SPDX-License-Identifier: MIT
// The third tab: |Y - UV|^2 with a condition number to choose, minimised in three ways.
import { Chart } from "./chart.js";
import { Latest } from "./computer.js";
import { fillTable, keyOf, numberText, statusText } from "./rows.js";
import { readForm } from "./settings.js";

const methods = [
  { id: "plain", name: "plain", colour: 0 },
  { id: "moved", name: "a teleport before every step", colour: 1 },
  { id: "trips", name: "round trips", colour: 2 },
];

export class FactorsTab {
  name = "factors";
  #form;
  #latest;
  #changed;
  #chart;
  #runs = null;

  constructor(panel, computers, changed) {
    this.#form = panel.querySelector("form");
    this.#latest = new Latest(computers[0], 3000);
    this.#changed = changed;
    this.#chart = new Chart(panel.querySelector("#factor-loss"), {
      xLabel: "step", yLabel: "|Y − UV|²", logarithmic: true, width: 820, height: 430 });
    this.#form.addEventListener("input", () => {
      this.#condition();
      this.refresh();
      this.#changed();
    });
    this.#condition();
  }

  /** What the slider says. */
  #condition() {
    const { power } = this.#form.elements;
    this.#form.querySelector("#condition").textContent = String(this.#conditionNumber());
    power.setAttribute("aria-valuetext", String(this.#conditionNumber()));
  }
  #conditionNumber() { return Number((10 ** Number(this.#form.elements.power.value)).toPrecision(2)); }

  #words() {
    const form = readForm(this.#form);
    const parts = [form.rows, form.cols, form.rank, this.#conditionNumber()];
    if (Number(form.imbalance) !== 1) parts.push(form.imbalance);
    const common = [`factorization:${parts.join(",")}`, "--steps", form.steps];
    return {
      plain: [...common, "--lr", form.lr],
      moved: [...common, "--lr", form.lr, "--teleport", "every:1", "--search", "closed"],
      trips: [...common, "--round-trip", ...(form.theta ? ["--lr", form.theta] : [])],
    };
  }

  get commands() {
    const words = this.#words();
    return methods.map(({ id }) => ["optimize", words[id]]);
  }

  restored() {
    this.#condition();
    this.refresh();
  }

  refresh() {
    const words = this.#words();
    const problem = this.#form.querySelector(".problem");
    this.#latest.ask("several", { runs: methods.map(({ id }) => words[id]) }, (runs) => {
      problem.hidden = true;
      this.#runs = runs;
      this.#draw();
    }, (error) => {
      problem.textContent = error.message;
      problem.hidden = false;
    });
  }

  #draw() {
    this.#chart.show(methods.map(({ name, colour }, i) => ({
      name, colour, x: this.#runs[i].trace.step, y: this.#runs[i].trace.loss,
    })), { ceiling: 100 * this.#runs[0].trace.loss[0] });
    const body = document.querySelector("#factor-results");
    fillTable(body, methods.map(({ name, colour }, i) => {
      const { end, trace, conditions } = this.#runs[i];
      const first = trace.loss.findIndex((loss) => loss < 1e-8);
      return [keyOf(colour, name), numberText(end.loss), first < 0 ? "\u2013" : trace.step[first],
              Math.round(end.evaluations),
              conditions.length ? `${numberText(conditions[2])}, ${numberText(conditions[3])}` : "",
              statusText(end)];
    }));
    body.dataset.losses = JSON.stringify(this.#runs.map((run) => run.end.loss));
    const [u, v] = this.#runs[0].conditions;
    document.querySelector("#factor-summary").textContent = this.#runs[0].conditions.length
      ? `At the start UᵀU has the condition number ${numberText(u)}, VVᵀ ${numberText(v)}.` : "";
  }
}
