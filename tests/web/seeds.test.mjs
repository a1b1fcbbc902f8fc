// SPDX-License-Identifier: MIT
// The page of a network's training with several seeds, with and without a teleport, under a name that
// tries to be markup.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { downloadTable, open, readTrace, sidewaysRoom, symport } from "./support.mjs";

const seeds = ["0", "1", "2"];
const hostile = "</script><img src=x onerror=alert(1)>";
let page;
before(async () => {
  for (const seed of seeds) {
    const words = ["train", "--data", "regression", "--steps", "60", "--seed", seed];
    symport(...words, "--out", `runs/plain${seed}`);
    symport(...words, "--teleport", "5", "--out", `runs/a${hostile}/teleport${seed}`);
  }
  symport("report", "runs", "--out", "page.html", "--title", hostile);
  page = await open("page.html");
});

test("seeds form one series each", async () => {
  const entries = page.locator("#loss .series");
  assert.equal(await entries.count(), 2);
  for (const i of [0, 1]) assert.equal(await entries.nth(i).getAttribute("data-points"), "61");
  assert.equal(await page.locator("#runs tbody tr").count(), 6);
  assert.equal(await page.locator("#certificates tbody tr").count(), 3);
});

test("curves are the mean and the standard deviation of the traces", async () => {
  const rows = await downloadTable(page, "loss");
  const folders = { "no teleports": "runs/plain", "teleports at 5": `runs/a${hostile}/teleport` };
  const near = (a, b, what) => assert.ok(Math.abs(a - b) <= 1e-12 * Math.abs(b), `${what}: ${a}, ${b}`);
  for (const [name, folder] of Object.entries(folders)) {
    const traces = seeds.map((seed) => readTrace(folder + seed));
    const mine = rows.filter((row) => row.series === name);
    assert.equal(mine.length, 61);
    for (const [i, row] of mine.entries()) {
      const values = traces.map((trace) => Number(trace[i].train_loss));
      const mean = values.reduce((a, b) => a + b) / values.length;
      const deviation = Math.sqrt(values.reduce((sum, v) => sum + (v - mean) ** 2, 0) / 2);
      near(Number(row.train_loss), mean, "mean");
      near(Number(row.upper), mean + deviation, "upper");
      near(Number(row.lower), Math.max(mean - deviation, Math.min(...values)), "lower");
      near(Number(row.seconds), traces.reduce((sum, t) => sum + Number(t[i].seconds), 0) / 3, "seconds");
    }
  }
});

test("the sentence says how many seeds agree", async () => {
  const last = (folder) => Number(readTrace(folder).at(-1).train_loss);
  const lower = seeds.filter((seed) => last(`runs/a${hostile}/teleport${seed}`) < last(`runs/plain${seed}`));
  const text = await page.locator("#loss .finding").textContent();
  assert.match(text, /at equal cost, \d+ gradients, .* lower with in \d of 3 seeds; in the end/);
  assert.ok(text.split("; in the end")[1].includes(`lower with in ${lower.length} of 3 seeds`), text);
});

test("the switch changes the axis", async () => {
  await page.click("#loss .switch >> text=seconds");
  assert.equal(await page.getAttribute("#loss .plot", "data-axis"), "seconds");
});

test("a hostile name is text", async () => {
  assert.equal(await page.locator("img").count(), 0);
  assert.equal(await page.locator("h1").textContent(), hostile);
  assert.equal(await page.title(), hostile);
  assert.match(await page.locator("#runs tbody").textContent(), /<\/script><img src=x/);
});

test("fits a phone, light and dark", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const phone = await open("page.html", { width: 400, colorScheme });
    assert.ok(await sidewaysRoom(phone) <= 0);
    assert.deepEqual(phone.problems, []);
    await phone.close();
  }
});

test("made no errors and no requests", () => assert.deepEqual(page.problems, []));
