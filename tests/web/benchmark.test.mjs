// SPDX-License-Identifier: MIT
// The page of a benchmark: profiles, standings, a table for each problem, the verdict.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { downloadTable, open, parseCsv, readText, shownRange, sidewaysRoom, symport } from "./support.mjs";

const methods = ["gd", "momentum", "newton:lr=1", "gd+teleport:every:10", "gd+gl:5"];
const problems = ["ellipse", "booth", "quadratic:4,10", "regression"];
const seeds = 2;
let page, result;
before(async () => {
  result = JSON.parse(symport("benchmark", "quick", ...problems.flatMap((p) => ["--problems", p]),
                              ...methods.flatMap((m) => ["--methods", m]), "--budget", "150evals",
                              "--grid", "1e-3..0.1:1", "--tuning-seeds", "1", "--seeds", String(seeds),
                              "--out", "out", "--json"));
  page = await open("out/benchmark.html");
});

test("has both profiles and the sensitivity to the learning rate", async () => {
  const ids = await page.locator("figure").evaluateAll((all) => all.map((f) => f.id));
  assert.deepEqual(ids, ["profile-evaluations", "profile-seconds", "sensitivity"]);
  assert.equal(await page.locator("#profile-evaluations .finding").textContent()
    .then((text) => text.includes(result.verdict_in_evaluations.text)), true);
  for (const id of ids) assert.match(readText(`out/${id}.svg`), /^<svg|^<\?xml/);
});

test("the profiles are those of the costs", async () => {
  const rows = await downloadTable(page, "profile-evaluations");
  for (const { method, pairs, ratios_in_evaluations: ratios } of result.profiles[0].methods) {
    const mine = rows.filter((row) => row.series === method);
    assert.ok(mine.length > 10);
    assert.equal(pairs, problems.length * seeds);
    for (const row of mine) {
      assert.equal(Number(row.share), ratios.filter((ratio) => ratio <= Number(row.factor)).length / pairs);
    }
  }
  assert.equal((await shownRange(page, "profile-evaluations"))[0], 1);
});

test("the tables say what the JSON and the CSV say", async () => {
  const standings = await downloadTable(page, "standings");
  assert.deepEqual(standings.map((row) => row.method), result.standings.map((s) => s.method));
  for (const [i, row] of standings.entries()) {
    assert.equal(Number(row["efficiency in evaluations"]), result.standings[i].in_evaluations.efficiency);
  }
  const runs = parseCsv(readText("out/results.csv"));
  const fitting = result.problems.flatMap((p) => p.methods).filter((m) => m.fits).length;
  assert.equal(runs.length, seeds * fitting);
  const misfits = await downloadTable(page, "misfits");
  assert.ok(misfits.some((row) => row.method === "gd+gl:5" && row.problems.includes("ellipse")));
  const ellipse = await downloadTable(page, "problem-1");
  assert.equal(ellipse.length, methods.length - 1);
});

test("fits a phone, light and dark, without errors and requests", async () => {
  const backgrounds = [];
  for (const colorScheme of ["light", "dark"]) {
    const phone = await open("out/benchmark.html", { width: 400, colorScheme });
    assert.ok(await sidewaysRoom(phone) <= 0);
    assert.deepEqual(phone.problems, []);
    backgrounds.push(await phone.evaluate(() => getComputedStyle(document.body).backgroundColor));
    await phone.close();
  }
  assert.notEqual(backgrounds[0], backgrounds[1]);
  assert.deepEqual(page.problems, []);
});
