// SPDX-License-Identifier: MIT
// A run of 200,000 steps: its page keeps some of the points, quick to draw, exact where it is read.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { curveBox, downloadTable, hover, open, readTrace, symport } from "./support.mjs";

/** Counts the lines that are drawn on canvases, in the global `lines`. */
function countLines() {
  globalThis.lines = { count: 0 };
  const original = Path2D.prototype.lineTo;
  Path2D.prototype.lineTo = function (x, y) {
    ++globalThis.lines.count;
    original.call(this, x, y);
  };
}

const points = 200001, kept = 2000;
let page, trace;
before(async () => {
  symport("optimize", "rosenbrock", "--steps", "200000", "--lr", "1e-4", "--out", "run");
  symport("report", "run", "--out", "page.html");
  trace = readTrace("run");
  page = await open("page.html", { prepare: countLines });
});

test("keeps as many points as a page may have", async () => {
  assert.equal(trace.length, points);
  assert.equal(await page.getAttribute("#loss .series", "data-points"), String(kept));
});

test("is decimated for drawing", async () => {
  const drawn = await page.evaluate(() => lines.count);
  const width = (await curveBox(page, "loss")).width;
  assert.ok(drawn > width, `${drawn} lines`);
  assert.ok(drawn < 20 * width, `${drawn} lines for curves ${width} pixels wide`);
});

test("is zoomed and followed without delay", async () => {
  await curveBox(page, "loss");
  const [zoom, move] = await page.evaluate(async () => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    let start = performance.now();
    document.querySelector("#loss [data-zoom=in]").click();
    await frame();
    const zoom = performance.now() - start;
    document.querySelector("#loss [data-zoom=reset]").click();
    await frame();
    const plot = document.querySelector("#loss .plot");
    start = performance.now();
    for (let i = 0; i < 100; ++i) {
      plot.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
      await null;
    }
    return [zoom, (performance.now() - start) / 100];
  });
  assert.ok(zoom < 1000, `zooming took ${zoom} ms`);
  assert.ok(move < 50, `a move of the cursor took ${move} ms`);
});

test("is exact on hover and download", async () => {
  await hover(page, "loss", 0.61);
  const output = page.locator("#loss .series output");
  const step = Number(await output.getAttribute("data-at"));
  assert.ok(Math.abs(step - 122000) < 1000, String(step));
  assert.equal(Number(await output.getAttribute("data-value")), Number(trace[step].loss));
  const rows = await downloadTable(page, "loss");
  assert.equal(rows.length, kept);
  assert.equal(Number(rows.at(0).step), 0);
  assert.equal(Number(rows.at(-1).step), points - 1);
  const wrong = rows.findIndex((row) => Number(row.loss) !== Number(trace[Number(row.step)].loss));
  assert.equal(wrong, -1);
});

test("made no errors and no requests", () => assert.deepEqual(page.problems, []));
