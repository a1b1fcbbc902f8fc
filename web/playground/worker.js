// SPDX-License-Identifier: MIT
// Runs in a worker of its own, so that the page never waits: one job after the other.
import { Engine } from "./engine.js";

let engine;

const jobs = {
  /** Runs on a function: conditions are those of a factorization. */
  optimize({ words }) {
    const about = engine.openFunction(words);
    const end = engine.run();
    return { about, end, trace: engine.trace(), teleports: engine.teleports(),
             conditions: engine.conditions() };
  },
  /** The run of a plane with teleports and without, level lines if asked for, and the orbit of the
      first teleport that was made, else of the start. */
  both({ words, plain, levels, count }) {
    const found = { plain: jobs.optimize({ words: plain }), run: jobs.optimize({ words }) };
    if (levels) found.levels = engine.levelLines(levels, levels.columns, levels.rows);
    const { teleports, trace } = found.run;
    const first = teleports.accepted.indexOf(1);
    const from = first < 0 ? [trace.x1[0], trace.x2[0]]
                           : [teleports.fromX1[first], teleports.fromX2[first]];
    const to = first < 0 ? from : [teleports.toX1[first], teleports.toX2[first]];
    found.orbit = engine.orbit(from, count, to);
    return found;
  },
  /** Another orbit of a function. */
  orbit({ through, mark, count, words }) {
    engine.openFunction(words);
    return { orbit: engine.orbit(through, count, mark) };
  },
  /** Trains a network; `tell` hears of it several times a second. */
  train({ words, view, pause }, tell) {
    const about = engine.openNetwork(words);
    const picture = () => engine.region(view, view.columns, view.rows);
    tell({ about, samples: engine.samples(), region: picture(), accuracy: engine.accuracy() });
    let last = performance.now();
    const end = engine.run(() => {
      if (performance.now() - last >= pause) {
        tell({ news: engine.news(), region: picture(), accuracy: engine.accuracy() });
        last = performance.now();
      }
      return true;
    });
    return { end, trace: engine.trace(), teleports: engine.teleports(), region: picture(),
             accuracy: engine.accuracy() };
  },
};

onmessage = ({ data }) => {
  if (data.module) {
    engine = new Engine(data.module);
    return;
  }
  const { id, kind, job } = data;
  try {
    const result = jobs[kind](job, (news) => postMessage({ id, news }));
    postMessage({ id, result });
  } catch (error) {
    postMessage({ id, error: error.message });
  }
};
