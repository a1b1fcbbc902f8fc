// SPDX-License-Identifier: MIT
// The pages of `symport reproduce`: a figure of trajectories with curves that go back and forth, and a
// sweep with a map of numbers and curves along an axis.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { curveBox, download, downloadTable, folder, open, readText, readTrace, sidewaysRoom,
         symport } from "./support.mjs";

const sweep = `
title = "a sweep"
see = "Large rates diverge."
command = "train"
seeds = [1, 2, 3]
[options]
data = "regression"
steps = 60
[axis.steps]
label = "ascent steps"
values = [1, 4]
search-steps = [1, 4]
[axis.rate]
label = "teleport rate"
values = [1e-9, 1e-7, 1e-5]
search-rate = [1e-9, 1e-7, 1e-5]
[[run]]
name = "plain"
[[run]]
name = "paper mode"
teleport = "5"
symmetry = "paper"
over = ["steps", "rate"]
[[run]]
name = "exact"
teleport = "5"
over = "steps"
[[figure]]
id = "map"
title = "Steps to a loss of 30"
see = "Some are faster."
label = "speed-up in steps"
runs = ["paper mode"]
column = "step"
at_loss = 30
speed_up_over = "plain"
[[figure]]
id = "along"
title = "Loss at the end"
see = "It falls."
label = "training loss"
runs = ["exact"]
column = "train_loss"
[[expect]]
run = "exact"
column = "train_loss"
relative_to = "plain"
reduce = "largest"
quick = [0, 1]
`;

const trajectory = `
title = "an ellipse"
see = "It goes straight."
command = "optimize"
seeds = [0]
[options]
function = "ellipse:5"
lr = 0.08
steps = 20
[[run]]
name = "gradient descent"
[[run]]
name = "Newton"
optimizer = "newton"
lr = 1
[[run]]
name = "teleportation"
teleport = "0,4"
objective = "gradient_norm"
[[expect]]
run = "teleportation"
column = "loss"
relative_to = "gradient descent"
quick = [0, 1e-3]
`;

let page, map;
before(async () => {
  for (const [name, text] of Object.entries({ sweep, trajectory })) {
    mkdirSync(join(folder, "experiments", name), { recursive: true });
    writeFileSync(join(folder, "experiments", name, "experiment.toml"), text);
  }
  symport("reproduce", "--experiments", "experiments", "--out", "out", "--figures", "pictures");
  page = await open("out/trajectory.html");
  map = await open("out/sweep.html");
});

test("says what one should see and whether it was seen", async () => {
  assert.match(await page.locator(".whole").textContent(), /as expected\s+To be seen: It goes straight. Found with 1 seed: 1 of the 1 expected/);
  assert.equal(await page.locator(".whole .badge").textContent(), "as expected");
  const [row] = await downloadTable(page, "expected");
  const last = (run) => Number(readTrace(`out/trajectory/${run}-0`).at(-1).loss);
  assert.equal(Number(row.found), last("teleportation") / last("gradient-descent"));
});

test("has all trajectories, and each can be stepped through", async () => {
  const marker = page.locator("#level-sets .marker");
  const place = async () => [await marker.getAttribute("cx"), await marker.getAttribute("cy")];
  assert.equal(await page.locator("#level-sets g.trajectory").count(), 3);
  for (const [i, run] of ["gradient-descent", "newton", "teleportation"].entries()) {
    await page.selectOption("#level-sets select", String(i));
    const start = await place();
    await page.click("#level-sets [data-move=forward]");
    assert.notDeepEqual(await place(), start, run);
    const frame = page.locator("#level-sets .position");
    const row = (await frame.textContent()).startsWith("step 1:") ? 1 : 0;
    assert.equal(Number(await frame.getAttribute("data-loss")),
                 Number(readTrace(`out/trajectory/${run}-0`)[row].loss));
  }
});

test("all trajectories can be stepped through together", async () => {
  await page.selectOption("#level-sets select", "-1");
  const places = () => page.locator("#level-sets .marker").evaluateAll(
    (all) => all.map((marker) => [marker.getAttribute("cx"), marker.getAttribute("cy")]));
  const start = await places();
  assert.equal(start.length, 3);
  // The one with teleports leads: before and after the first, then step 1, where Newton has arrived.
  for (let i = 0; i < 2; ++i) await page.click("#level-sets [data-move=forward]");
  const moved = await places();
  for (const i of [0, 1, 2]) assert.notDeepEqual(moved[i], start[i]);
  const loss = (run) => Number(readTrace(`out/trajectory/${run}-0`)[1].loss);
  const text = await page.locator("#level-sets .position").textContent();
  assert.match(text, /^step 1, loss: teleportation [\d.]+, gradient descent [\d.]+, Newton 0$/);
  assert.equal(Number(await page.getAttribute("#level-sets .position", "data-loss")), loss("teleportation"));
  assert.equal(loss("newton"), 0);
});

test("curves that go back and forth are hovered, followed and hidden", async () => {
  const picture = () => page.evaluate(() => document.querySelector("#gradient-loss canvas").toDataURL());
  const trace = readTrace("out/trajectory/gradient-descent-0");
  const box = await curveBox(page, "gradient-loss");
  await page.mouse.move(box.x + box.width * 0.9, box.y + box.height * 0.3);
  const output = page.locator("#gradient-loss .series output").first();
  const hovered = async () => [Number(await output.getAttribute("data-at")),
                               Number(await output.getAttribute("data-value"))];
  const known = trace.map((row) => [Number(row.loss), Number(row.grad_sq)]);
  const found = await hovered();
  assert.ok(known.some(([x, y]) => x === found[0] && y === found[1]), String(found));
  // The arrow keys go from row to row.
  await page.focus("#gradient-loss .plot");
  const row = Number(await output.getAttribute("data-row"));
  await page.keyboard.press("ArrowRight");
  assert.deepEqual(await hovered(), known[row + 1]);
  const all = await picture();
  await page.locator("#gradient-loss .series").nth(2).click();
  assert.notEqual(await picture(), all);
  await page.locator("#gradient-loss .series").nth(2).click();
  await page.click("#gradient-loss [data-zoom=in]");
  assert.notEqual(await picture(), all);
  await page.click("#gradient-loss [data-zoom=reset]");
  const rows = (await downloadTable(page, "gradient-loss")).filter((r) => r.series === "gradient descent");
  assert.deepEqual(rows.map((r) => [Number(r.loss), Number(r.grad_sq)]), known);
});

test("the map has a cell for every combination, from the traces", async () => {
  const cells = await downloadTable(map, "map-paper-mode");
  assert.equal(cells.length, 6);
  assert.equal(await map.locator("#map-paper-mode .cell").count(), 6);
  const first = (run, seed) => {
    const row = readTrace(`out/sweep/${run}-${seed}`).find((r) => Number(r.train_loss) <= 30);
    return row ? Number(row.step) : Infinity;
  };
  let left_out = 0;
  for (const cell of cells) {
    const rate = Number(cell.rate).toExponential().replace(/e-(\d)$/, "e-0$1");
    const values = [1, 2, 3].map((seed) =>
      first("plain", seed) / first(`paper-mode-steps-${cell.steps}-rate-${rate}`, seed));
    const median = values.sort((a, b) => a - b)[1];
    if (median === 0) ++left_out;
    assert.equal(Number(cell.speed_up), median === 0 ? NaN : median, JSON.stringify(cell));
  }
  assert.equal(await map.locator("#map-paper-mode .cell.omitted").count(), left_out);
  assert.ok(left_out > 0 && left_out < 6, String(left_out));
});

test("a cell tells its number by pointer and by key", async () => {
  const output = map.locator("#map-paper-mode .position");
  const cells = await downloadTable(map, "map-paper-mode");
  await map.locator("#map-paper-mode .cell").nth(1).hover();
  assert.equal(Number(await output.getAttribute("data-value")), Number(cells[1].speed_up));
  assert.match(await output.textContent(), /^steps 4, rate 1e-9/);
  await map.focus("#map-paper-mode .static");
  await map.keyboard.press("ArrowUp");
  assert.equal(await output.getAttribute("data-value"), cells[3].speed_up);
  await map.keyboard.press("ArrowRight");
  assert.equal(await output.getAttribute("data-value"), cells[3].speed_up, "the row ends there");
  assert.equal(await map.locator("#map-paper-mode .cell.chosen").count(), 1);
});

test("the curve along an axis has a point for every value", async () => {
  const rows = await downloadTable(map, "along");
  assert.deepEqual(rows.map((row) => row.steps), ["1", "4"]);
  for (const row of rows) {
    const ends = [1, 2, 3].map((seed) =>
      Number(readTrace(`out/sweep/exact-steps-${row.steps}-${seed}`).at(-1).train_loss));
    assert.equal(Number(row.train_loss), ends.sort((a, b) => a - b)[1]);
  }
  assert.equal(await map.locator("#runs tbody tr").count(), 27);
});

test("figures can be had as SVG and PNG, and are files", async () => {
  for (const [where, id, file] of [[map, "map-paper-mode", "sweep-map-paper-mode"],
                                   [page, "gradient-loss", "trajectory-gradient-loss"]]) {
    const svg = (await download(where, id, "svg")).toString();
    const written = readText(`pictures/${file}.svg`);
    for (const part of ["<path", "<rect", "<text"]) {
      assert.equal(svg.split(part).length, written.split(part).length, part);
    }
    const png = await download(where, id, "png");
    assert.equal(png.readUInt32BE(16), 3 * 720);
  }
});

test("is dark when asked to, fits a phone, and made no errors and no requests", async () => {
  const paper = (of) => of.evaluate(() => getComputedStyle(document.querySelector(".cell.s6, .cell.s1")).fill);
  const light = await paper(map);
  await map.click(".theme");
  assert.notEqual(await paper(map), light);
  for (const file of ["out/trajectory.html", "out/sweep.html"]) {
    const phone = await open(file, { width: 400, colorScheme: "dark" });
    assert.ok(await sidewaysRoom(phone) <= 0, file);
    assert.deepEqual(phone.problems, []);
    await phone.close();
  }
  assert.deepEqual([...page.problems, ...map.problems], []);
});
