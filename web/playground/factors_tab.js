// SPDX-License-Identifier: MIT
// The third tab: |Y - UV|^2 with a condition number to choose, minimised by three methods.
import { Chart } from "./chart.js";
import { Latest } from "./computer.js";
import { fillTable, keyOf, numberText, statusText } from "./rows.js";
import { readForm } from "./settings.js";

const methods = [
  { id: "plain", name: "plain", colour: 0 },
  { id: "moved", name: "teleports", colour: 1 },
  { id: "trips", name: "round trips", colour: 2 },
];

export class FactorsTab {
  name = "factors";
  #form;
  #latest;  // one for each method: the quick ones do not wait for the others
  #changed;
  #chart;
  #problems = [];
  #runs = [];  // with the words that they are of

  constructor(panel, computers, changed) {
    this.#form = panel.querySelector("form");
    this.#latest = computers.map((computer) => new Latest(computer, 3000));
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
    const all = JSON.stringify(words);
    methods.forEach(({ id }, i) => this.#latest[i].ask("optimize", { words: words[id] }, (run) => {
      this.#tell(i, "");
      this.#runs[i] = { ...run, all };
      this.#draw();
    }, (error) => this.#tell(i, error.message)));
  }

  #tell(i, problem) {
    this.#problems[i] = problem;
    const element = this.#form.querySelector(".problem");
    element.textContent = [...new Set(this.#problems.filter(Boolean))].join("\n");
    element.hidden = element.textContent === "";
  }

  /** Runs that are under way are shown as they were with the last settings. */
  #draw() {
    const shown = methods.map((method, i) => ({ ...method, run: this.#runs[i] })).filter(({ run }) => run);
    this.#chart.show(shown.map(({ name, colour, run }) => ({
      name, colour, x: run.trace.step, y: run.trace.loss,
    })), { ceiling: 100 * shown[0].run.trace.loss[0] });
    const body = document.querySelector("#factor-results");
    fillTable(body, shown.map(({ name, colour, run: { end, trace, conditions } }) => {
      const first = trace.loss.findIndex((loss) => loss < 1e-8);
      return [keyOf(colour, name), numberText(end.loss), first < 0 ? "\u2013" : trace.step[first],
              Math.round(end.evaluations),
              conditions.length ? `${numberText(conditions[2])}, ${numberText(conditions[3])}` : "",
              statusText(end)];
    }));
    // For tests: once all are of the same settings.
    const complete = shown.length === methods.length && shown.every(({ run }) => run.all === shown[0].run.all);
    if (complete) body.dataset.losses = JSON.stringify(shown.map(({ run }) => run.end.loss));
    else delete body.dataset.losses;
    const [u, v] = shown[0].run.conditions;
    document.querySelector("#factor-summary").textContent = shown[0].run.conditions.length
      ? `At the start UᵀU has the condition number ${numberText(u)}, VVᵀ ${numberText(v)}.` : "";
  }
}
