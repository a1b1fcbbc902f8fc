// SPDX-License-Identifier: MIT
// Runs that go wrong or nowhere make a page like others.
import assert from "node:assert/strict";
import { test } from "node:test";
import { downloadTable, open, readTrace, symport } from "./support.mjs";

test("a diverged run and one without steps are shown without errors", async () => {
  assert.throws(() => symport("optimize", "booth", "--lr", "10", "--steps", "5000", "--out", "runs/far"),
                { status: 1 });
  symport("optimize", "booth", "--optimizer", "adam", "--lr", "0.3", "--teleport", "3,9", "--out",
          "runs/adam");
  symport("optimize", "ellipse", "--steps", "0", "--out", "runs/still");
  symport("report", "runs", "--out", "page.html");
  const page = await open("page.html");
  assert.equal(await page.locator("figure").count(), 8);
  assert.match(await page.locator("#\\31-loss .finding").textContent(), /diverged/);
  const numbers = (rows) => rows.map((row) => row.loss.replace("inf", "Infinity")).map(Number);
  assert.deepEqual(numbers(await downloadTable(page, "1-loss")),
                   numbers([...readTrace("runs/adam"), ...readTrace("runs/far")]));
  await page.locator("#\\31-level-sets select").selectOption("1");
  await page.focus("#\\31-level-sets input[type=range]");
  await page.keyboard.press("End");
  assert.deepEqual(page.problems, []);
});
