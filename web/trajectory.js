// SPDX-License-Identifier: MIT
// Steps through trajectories on level sets. The picture is the program's; this adds markers and the
// ways up to them.
import { afterTeleport, nearestIndex } from "./data.js";
import { exactText, shortText } from "./format.js";

const kinds = ["", "before the teleport", "after the teleport"];

function svgElement(name, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

/** One trajectory: its marker, and the way up to it. */
class Walker {
  constructor(figure, way) {
    this.figure = figure;
    this.way = way;
    this.count = way.x.length;
    this.trail = svgElement("path", { class: `trail t${way.colour}`, fill: "none" });
    this.jumps = svgElement("path", { class: "trail jump", fill: "none" });
    this.marker = svgElement("circle", { class: "marker", r: 6 });
    this.landings = [];
    this.kept = [];  // frames far enough from the one before to be drawn
    let last = [-1e9, -1e9];
    for (let i = 0; i < this.count; ++i) {
      const jump = way.kind[i] === afterTeleport;
      if (jump && i > 0) this.landings.push(i);
      const here = this.place(i);
      const near = Math.hypot(here[0] - last[0], here[1] - last[1]) < 0.5;
      if (!here.every(Number.isFinite) || (near && !jump && way.kind[i + 1] !== afterTeleport)) continue;
      this.kept.push(i);
      last = here;
    }
  }

  /** Pixels of a frame; one far outside stays where SVG has numbers. */
  place(i) {
    const [left, top, right, bottom] = this.figure.area;
    const [x0, y0, x1, y1] = this.figure.box;
    const pixel = (value) => Math.min(1e5, Math.max(-1e5, value));
    return [
      pixel(left + ((this.way.x[i] - x0) / (x1 - x0)) * (right - left)),
      pixel(bottom - ((this.way.y[i] - y0) / (y1 - y0)) * (bottom - top)),
    ];
  }

  /** The last frame of a step or of those before it. */
  frameOf(step) {
    let frame = nearestIndex(this.way.step, step);
    while (frame + 1 < this.count && this.way.step[frame + 1] <= step) ++frame;
    return frame;
  }

  show(frame) {
    const { way } = this;
    const place = this.place(frame);
    if (place.every(Number.isFinite)) {
      this.marker.setAttribute("cx", place[0].toFixed(2));
      this.marker.setAttribute("cy", place[1].toFixed(2));
    }
    let steps = "", jumps = "", before = null;
    for (const i of this.kept) {
      if (i > frame) break;
      const here = this.place(i).map((v) => v.toFixed(1)).join(" ");
      if (way.kind[i] === afterTeleport && before !== null) {
        jumps += `M${before}L${here}`;
        steps += `M${here}`;
      } else {
        steps += (steps ? "L" : "M") + here;
      }
      before = here;
    }
    this.trail.setAttribute("d", steps);
    this.jumps.setAttribute("d", jumps);
    this.marker.classList.toggle("landed", way.kind[frame] === afterTeleport);
  }
}

export class TrajectoryPlayer {
  constructor(element, figure) {
    this.svg = element.querySelector("svg");
    this.slider = element.querySelector("input[type=range]");
    this.output = element.querySelector(".player .position");
    this.playButton = element.querySelector("[data-move=play]");
    this.walkers = figure.trajectories.map((way) => new Walker(figure, way));
    this.layer = svgElement("g", { class: "player-layer" });
    this.svg.querySelector("g[clip-path]").append(this.layer);

    const choice = element.querySelector("select");
    const first = Math.max(0, figure.trajectories.findIndex((way) => way.kind.includes(afterTeleport)));
    if (choice) {
      choice.value = String(first);
      choice.addEventListener("change", () => this.choose(Number(choice.value)));
    }
    this.slider.addEventListener("input", () => {
      this.pause();
      this.show(Number(this.slider.value));
    });
    for (const button of element.querySelectorAll("[data-move]")) {
      button.addEventListener("click", () => this.move(button.dataset.move));
    }
    this.choose(first);
    this.svg.classList.remove("stepping");
  }

  /** Follows one trajectory, or all of them: then the one with the most frames leads. */
  choose(index) {
    this.pause();
    this.chosen = index < 0 ? [...this.walkers] : [this.walkers[index]];
    this.chosen.sort((a, b) => b.count - a.count);
    [this.leader] = this.chosen;
    this.count = this.leader.count;
    this.landings = this.leader.landings;
    this.slider.max = String(this.count - 1);
    this.svg.querySelectorAll(".trajectory").forEach((group, i) => {
      group.classList.toggle("other", !this.chosen.includes(this.walkers[i]));
    });
    this.layer.replaceChildren(
      ...this.chosen.map((one) => one.trail), ...this.chosen.map((one) => one.jumps),
      ...this.chosen.map((one) => one.marker));
    this.show(0);
  }

  show(frame) {
    this.frame = frame;
    this.slider.value = String(frame);
    this.svg.classList.add("stepping");
    const { step, loss, x, y, kind } = this.leader.way;
    const parts = [];
    for (const one of this.chosen) {
      const at = one === this.leader ? frame : one.frameOf(step[frame]);
      one.show(at);
      parts.push(`${one.way.name} ${shortText(one.way.loss[at])}`);
    }
    const note = kinds[kind[frame]];
    this.output.textContent = this.chosen.length > 1
      ? `step ${step[frame]}, loss: ${parts.join(", ")}`
      : `step ${step[frame]}${note ? `, ${note}` : ""}: loss ${shortText(loss[frame])} at ` +
        `(${shortText(x[frame])}, ${shortText(y[frame])})`;
    this.output.dataset.loss = exactText(loss[frame]);
  }

  move(how) {
    if (how === "play") {
      if (this.playing) this.pause();
      else this.play();
      return;
    }
    this.pause();
    const last = this.count - 1;
    if (how === "back") this.show(Math.max(0, this.frame - 1));
    if (how === "forward") this.show(Math.min(last, this.frame + 1));
    if (how === "next-jump") this.show(this.landings.find((i) => i > this.frame) ?? last);
    if (how === "previous-jump") this.show(this.landings.findLast((i) => i < this.frame) ?? 0);
  }

  /** The whole way in about twelve seconds, with a rest before and after every jump. */
  play() {
    if (this.frame >= this.count - 1) this.show(0);
    this.playing = true;
    this.playButton.classList.add("playing");
    this.playButton.setAttribute("aria-label", "Pause");
    const rate = Math.max(4, this.count / 12) / 1000;
    const rest = Math.min(500, 6000 / (this.landings.length + 1));
    let position = this.frame, before = null, resting = 0;
    const tick = (now) => {
      if (!this.playing) return;
      const passed = before === null ? 0 : Math.min(now - before, 100);
      before = now;
      if (now >= resting) {
        position = Math.min(position + passed * rate, this.count - 1);
        const landing = this.landings.find((i) => i > this.frame && i <= position);
        if (landing !== undefined) {
          position = this.frame < landing - 1 ? landing - 1 : landing;
          resting = now + rest;
        }
        if (Math.floor(position) !== this.frame) this.show(Math.floor(position));
      }
      if (this.frame >= this.count - 1) this.pause();
      else requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  pause() {
    this.playing = false;
    this.playButton.classList.remove("playing");
    this.playButton.setAttribute("aria-label", "Play");
  }
}
