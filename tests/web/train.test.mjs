// SPDX-License-Identifier: MIT
// The page of a classifier's training on mini-batches, with validation.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { npz } from "./npz.mjs";
import { downloadTable, folder, open, readTrace, shownRange, sidewaysRoom, symport } from "./support.mjs";

/** 300 points of three classes around three directions, from a small generator of its own. */
function classes() {
  let state = 1;
  const random = () => (state = (state * 16807) % 2147483647) / 2147483647 - 0.5;
  const X = new Float64Array(300 * 4), y = new BigInt64Array(300);
  for (let i = 0; i < 300; ++i) {
    y[i] = BigInt(i % 3);
    for (let k = 0; k < 4; ++k) X[4 * i + k] = random() + (k === i % 3 ? 1 : 0);
  }
  return { X: [X, [300, 4]], y: [y, [300]] };
}

const runs = ["plain", "teleported"];
let page, traces;
before(async () => {
  writeFileSync(join(folder, "classes.npz"), npz(classes()));
  const words = ["train", "--data", "classes.npz", "--layers", "4,16,16,3", "--batch", "20", "--epochs",
                 "8", "--validation", "60", "--lr", "0.02", "--symmetry", "rescale"];
  symport(...words, "--out", "plain");
  symport(...words, "--teleport", "1", "--out", "teleported");
  symport("report", ...runs, "--out", "page.html");
  traces = runs.map(readTrace);
  page = await open("page.html");
});

test("has a figure for every measure, with all points", async () => {
  const ids = await page.locator("figure").evaluateAll((all) => all.map((f) => f.id));
  assert.deepEqual(ids, ["loss", "validation-loss", "validation-accuracy", "gradient", "gradient-loss"]);
  for (const id of ids) {
    const points = await page.locator(`#${id} .series`).evaluateAll(
      (all) => all.map((entry) => Number(entry.dataset.points)));
    assert.deepEqual(points, traces.map((trace) => trace.length));
  }
});

test("numbers equal the trace files", async () => {
  const columns = { loss: "train_loss", "validation-loss": "valid_loss",
                    "validation-accuracy": "valid_accuracy", gradient: "grad_sq" };
  for (const [id, column] of Object.entries(columns)) {
    const rows = await downloadTable(page, id);
    assert.deepEqual(rows.map((row) => [row.epoch, row.seconds, row[column]].map(Number)),
                     traces.flat().map((row) => [row.epoch, row.seconds, row[column]].map(Number)));
  }
});

test("is drawn against epochs, and against seconds after the switch", async () => {
  const last = (column) => Math.max(...traces.flat().map((row) => Number(row[column])));
  assert.deepEqual(await shownRange(page, "loss"), [0, last("epoch")]);
  await page.click("#loss .switch >> text=seconds");
  assert.equal((await shownRange(page, "loss"))[1], last("seconds"));
});

test("shows the configuration, the seed and the version", async () => {
  const text = await page.locator("details").first().textContent();
  assert.match(text, /layers = \[4, 16, 16, 3\]/);
  assert.match(text, /seed = 0/);
  assert.match(await page.locator("footer").textContent(), /symport \d+\.\d+\.\d+ on .*processor/);
});

test("fits a phone, and made no errors and no requests", async () => {
  const phone = await open("page.html", { width: 400, colorScheme: "dark" });
  assert.ok(await sidewaysRoom(phone) <= 0);
  assert.deepEqual([...phone.problems, ...page.problems], []);
});
