// SPDX-License-Identifier: MIT
// A function of two variables from above: level lines, ways, an orbit, and a start to drag.
import { axes, draw, narrow, pathOf, scaleOf } from "./picture.js";
import { shortText } from "./format.js";

const width = narrow ? 420 : 640, height = narrow ? 400 : 560;
const frame = { left: 52, top: 30, right: width - 14, bottom: height - 46 };
/** Points of a way: a picture shows no more. */
const mostPoints = 3000;

export class Plane {
  #svg;
  #layers = {};
  #handle;
  #box = { x0: -1, y0: -1, x1: 1, y1: 1 };
  #start = [0, 0];
  #moved;

  /** `moved(start, done)` hears where the start is dragged; done: it was let go. */
  constructor(svg, moved) {
    this.#svg = svg;
    this.#moved = moved;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.classList.add("plane");
    const clipped = draw("g", { "clip-path": "url(#plane-clip)" });
    for (const name of ["levels", "orbit", "ways", "jumps", "marks"]) {
      this.#layers[name] = draw("g");
      clipped.append(this.#layers[name]);
    }
    this.#layers.axes = draw("g");
    this.#handle = draw("g", {
      class: "handle", tabindex: 0, role: "slider", "aria-label":
      "Start of the run: drag it, or move it with the arrow keys, with Shift in larger steps",
    }, draw("circle", { class: "grip unexported", r: 24 }), draw("circle", { class: "knob", r: 8 }));
    const ground = draw("rect", { class: "ground", x: frame.left, y: frame.top,
                                  width: frame.right - frame.left,
                                  height: frame.bottom - frame.top });
    svg.append(draw("clipPath", { id: "plane-clip" }, ground.cloneNode()), ground,
               this.#layers.axes, clipped, this.#handle);
    ground.addEventListener("click", (event) => this.#to(this.#place(event), true));
    this.#handle.addEventListener("pointerdown", (event) => this.#drag(event));
    this.#handle.addEventListener("keydown", (event) => this.#key(event));
  }

  get svg() { return this.#svg; }
  get box() { return { ...this.#box }; }
  set box(box) {
    this.#box = box;
    this.#frame();
    this.start = this.#start;
  }
  #x() { return scaleOf(this.#box.x0, this.#box.x1, frame.left, frame.right); }
  #y() { return scaleOf(this.#box.y0, this.#box.y1, frame.bottom, frame.top); }

  get start() { return [...this.#start]; }
  set start(point) {
    this.#start = point;
    const [px, py] = [this.#x()(point[0]), this.#y()(point[1])];
    if (!Number.isFinite(px) || !Number.isFinite(py)) return;
    this.#handle.setAttribute("transform", `translate(${px.toFixed(2)} ${py.toFixed(2)})`);
    this.#handle.setAttribute("aria-valuenow", shortText(point[0]));
    this.#handle.setAttribute("aria-valuetext",
                              `x1 ${shortText(point[0])}, x2 ${shortText(point[1])}`);
  }

  /** Where an event is, to about a pixel. */
  #place(event) {
    const bounds = this.#svg.getBoundingClientRect();
    const px = ((event.clientX - bounds.left) / bounds.width) * width;
    const py = ((event.clientY - bounds.top) / bounds.height) * height;
    const kept = (value, low, high) => Math.min(Math.max(value, low), high);
    return [this.#x().inverse(kept(px, frame.left, frame.right)),
            this.#y().inverse(kept(py, frame.top, frame.bottom))];
  }
  /** Rounded to what the picture can show, so that links and commands stay short. */
  #to(point, done) {
    const digits = (extent) => Math.max(0, 3 - Math.floor(Math.log10(extent)));
    const [dx, dy] = [this.#box.x1 - this.#box.x0, this.#box.y1 - this.#box.y0];
    this.start = [Number(point[0].toFixed(Math.min(12, digits(dx)))),
                  Number(point[1].toFixed(Math.min(12, digits(dy))))];
    this.#moved(this.start, done);
  }
  #drag(event) {
    event.preventDefault();
    this.#handle.focus();
    this.#handle.setPointerCapture(event.pointerId);
    const move = (one) => this.#to(this.#place(one), false);
    const end = (one) => {
      this.#handle.removeEventListener("pointermove", move);
      this.#to(one.type === "pointerup" ? this.#place(one) : this.#start, true);
    };
    this.#handle.addEventListener("pointermove", move);
    this.#handle.addEventListener("pointerup", end, { once: true });
    this.#handle.addEventListener("pointercancel", end, { once: true });
  }
  #key(event) {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] };
    const to = way[event.key];
    if (!to) return;
    event.preventDefault();
    const part = event.shiftKey ? 0.05 : 0.005;
    this.#to([this.#start[0] + to[0] * part * (this.#box.x1 - this.#box.x0),
              this.#start[1] + to[1] * part * (this.#box.y1 - this.#box.y0)], true);
  }

  #frame() {
    this.#layers.axes.replaceChildren(axes(frame, this.#x(), this.#y(),
                                           { xLabel: "x₁", yLabel: "x₂", xTicks: 7, yTicks: 7 }));
  }

  showLevels(lines) {
    const x = this.#x(), y = this.#y();
    const levels = [...new Set(lines.map((line) => line.level))];
    this.#layers.levels.replaceChildren(...levels.map((level, i) => draw("path", {
      class: "level", "data-level": level, opacity: (0.85 - (0.5 * i) / levels.length).toFixed(2),
      d: lines.filter((line) => line.level === level).map(({ points }) => {
        const xs = points.filter((_, k) => k % 2 === 0), ys = points.filter((_, k) => k % 2 === 1);
        return pathOf(xs, ys, x, y);
      }).join(""),
    })));
  }

  showOrbit(orbit) {
    this.#layers.orbit.replaceChildren();
    if (!orbit) return;
    this.#layers.orbit.append(
      draw("path", { class: "orbit", d: pathOf(orbit.x1, orbit.x2, this.#x(), this.#y()) }));
  }

  /** ways: {name, colour, trace, teleports}, up to row `until` of the trace of the last one. */
  showWays(ways, until) {
    const x = this.#x(), y = this.#y();
    const nodes = [], jumps = [];
    for (const { name, colour, trace, teleports } of ways) {
      const rows = Math.min(trace.step.length, until + 1);
      // A teleport interrupts the way: it goes to the point before it, and on from the one after.
      const xs = [], ys = [];
      let jump = 0;
      const stride = Math.ceil(rows / mostPoints);
      for (let i = 0; i < rows; ++i) {
        if (trace.teleported[i]) {
          while (jump < teleports.step.length
                 && !(teleports.step[jump] === trace.step[i] && teleports.accepted[jump])) ++jump;
          if (jump < teleports.step.length) {
            xs.push(teleports.fromX1[jump], NaN);
            ys.push(teleports.fromX2[jump], NaN);
            jumps.push(draw("path", { class: "jump", d: pathOf(
              [teleports.fromX1[jump], teleports.toX1[jump]],
              [teleports.fromX2[jump], teleports.toX2[jump]], x, y) }),
              draw("circle", { class: "teleport", r: 4, cx: x(teleports.toX1[jump]).toFixed(1),
                               cy: y(teleports.toX2[jump]).toFixed(1) }));
          }
        }
        if (i % stride !== 0 && i !== rows - 1 && !trace.teleported[i]) continue;
        xs.push(trace.x1[i]);
        ys.push(trace.x2[i]);
      }
      nodes.push(draw("path", { class: `way s${colour}`, "data-name": name, "data-points": rows,
                                d: pathOf(xs, ys, x, y) }));
    }
    this.#layers.ways.replaceChildren(...nodes);
    this.#layers.jumps.replaceChildren(...jumps);
    const marks = [];
    const last = ways[ways.length - 1]?.trace;
    if (last) {
      const row = Math.min(last.step.length - 1, until);
      const [px, py] = [x(last.x1[row]), y(last.x2[row])];
      if (Number.isFinite(px) && Number.isFinite(py)) {
        marks.push(draw("circle", { class: "marker", r: 5, cx: px.toFixed(1), cy: py.toFixed(1) }));
      }
    }
    if (this.minimizer) {
      const [px, py] = [x(this.minimizer[0]), y(this.minimizer[1])];
      marks.push(draw("path", { class: "minimum", d: `M${px - 6} ${py}h12M${px} ${py - 6}v12` }));
    }
    this.#layers.marks.replaceChildren(...marks);
    this.#svg.dataset.draws = Number(this.#svg.dataset.draws ?? 0) + 1;
  }
}
