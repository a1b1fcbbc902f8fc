// SPDX-License-Identifier: MIT
// The page of a comparison: median curves, the performance profile, the verdicts.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { curveBox, downloadTable, folder, open, parseCsv, readText, shownRange, sidewaysRoom,
         symport } from "./support.mjs";

const methods = ["gd", "newton", "gd+teleport:at=0", "gd+random:every=20"];
const problems = ["quadratic", "booth"];
const seeds = 6;
let page, result;
before(async () => {
  result = JSON.parse(symport("compare", ...problems, ...methods.flatMap((m) => ["--method", m]),
                              "--budget", "3000evals", "--grid", "1e-3..1:2", "--seeds", String(seeds),
                              "--out", "runs", "--report", "page.html", "--json"));
  page = await open("page.html");
});

test("has the profile and, for each problem, the curves of every method", async () => {
  const ids = await page.locator("figure").evaluateAll((all) => all.map((f) => f.id));
  assert.deepEqual(ids, ["profile", "1-loss", "2-loss"]);
  for (const id of ids) {
    const names = await page.locator(`[id="${id}"] .series span`).allTextContents();
    assert.deepEqual(names, methods);
  }
});

test("the profile is that of the costs, as step curves", async () => {
  const rows = await downloadTable(page, "profile");
  const pairs = problems.length * seeds;
  for (const [m, method] of methods.entries()) {
    const ratios = result.profile[m].ratios;
    const mine = rows.filter((row) => row.series === method);
    assert.ok(mine.length > 40);
    for (const row of mine) {
      const solved = ratios.filter((ratio) => ratio <= Number(row.factor)).length;
      assert.equal(Number(row.share), solved / pairs);
    }
    for (const ratio of ratios) assert.ok(mine.some((row) => Number(row.factor) === ratio));
  }
});

test("curves begin at the median and the quartiles of the runs", async () => {
  const rows = await downloadTable(page, "1-loss");
  const runs = parseCsv(readText("runs/runs.csv"));
  for (const method of methods) {
    const mine = rows.filter((row) => row.series === method);
    const first = mine[0];
    const trace = (seed) => parseCsv(readFileSync(join(
      folder, "runs/quadratic", `${method.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}-${seed}`, "trace.csv"), "utf8"));
    const starts = Array.from({ length: seeds }, (_, seed) => Number(trace(seed)[0].loss)).sort((a, b) => a - b);
    const quantile = (part) => {
      const below = Math.floor(part * (seeds - 1)), above = Math.ceil(part * (seeds - 1));
      return starts[below] + (part * (seeds - 1) - below) * (starts[above] - starts[below]);
    };
    const near = (found, expected) => assert.ok(Math.abs(found / expected - 1) < 1e-12, `${found}, not ${expected}`);
    near(Number(first.loss), quantile(0.5));
    near(Number(first.lower), quantile(0.25));
    near(Number(first.upper), quantile(0.75));
    assert.ok(mine.every((row, i) => i === 0 || Number(row.evaluations) >= Number(mine[i - 1].evaluations)));
    assert.ok(Number(mine.at(-1).evaluations) <= 3000);
    assert.equal(runs.filter((row) => row.method === method && row.problem === "quadratic").length, seeds);
  }
});

test("the tables say what the JSON says", async () => {
  const table = await downloadTable(page, "1-methods");
  for (const [m, row] of table.entries()) {
    const entry = result.problems[0].methods[m];
    assert.equal(row.method, entry.method);
    assert.equal(Number(row.reached), entry.reached);
    const median = entry.evaluations.median;
    assert.equal(Number(row.evaluations.replace("inf", "Infinity")), median === "inf" ? Infinity : median);
  }
  const words = await page.locator("details").first().textContent();
  const plain = words.replaceAll(/\s+/g, " ");
  for (const verdict of result.verdicts) assert.ok(plain.includes(verdict.text), verdict.text);
  assert.match(await page.locator("#profile .finding").textContent(), /the target should be reached sooner/);
});

test("the switch changes the axis, the profile's is logarithmic", async () => {
  assert.equal(await page.getAttribute("[id='1-loss'] .plot", "data-axis"), "evaluations");
  await page.click("[id='1-loss'] .switch >> text=seconds");
  assert.equal(await page.getAttribute("[id='1-loss'] .plot", "data-axis"), "seconds");
  const [low, high] = await shownRange(page, "profile");
  assert.equal(low, 1);
  assert.ok(high > 2);
  assert.ok((await curveBox(page, "profile")).width > 300);
});

test("fits a phone, light and dark, without errors and requests", async () => {
  const backgrounds = [];
  for (const colorScheme of ["light", "dark"]) {
    const phone = await open("page.html", { width: 400, colorScheme });
    assert.ok(await sidewaysRoom(phone) <= 0);
    assert.deepEqual(phone.problems, []);
    backgrounds.push(await phone.evaluate(() => getComputedStyle(document.body).backgroundColor));
    await phone.close();
  }
  assert.notEqual(backgrounds[0], backgrounds[1]);
  assert.deepEqual(page.problems, []);
});
