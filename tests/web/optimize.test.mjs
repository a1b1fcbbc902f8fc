// SPDX-License-Identifier: MIT
// The page of two runs on a function of two variables.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { curveBox, download, downloadTable, hover, open, readText, readTrace, shownRange, sidewaysRoom, symport } from "./support.mjs";

let page, plain, teleported;
before(async () => {
  symport("optimize", "rosenbrock", "--out", "plain");
  symport("optimize", "rosenbrock", "--teleport", "every:100+99", "--out", "teleported");
  symport("report", "plain", "teleported", "--out", "page.html", "--figures", "figures");
  plain = readTrace("plain");
  teleported = readTrace("teleported");
  page = await open("page.html");
});

test("has the expected figures, series and points", async () => {
  assert.deepEqual(await page.locator("figure").evaluateAll((all) => all.map((f) => f.id)),
                   ["level-sets", "loss", "gradient", "gradient-loss"]);
  const points = await page.locator("#loss .series").evaluateAll(
    (all) => all.map((entry) => Number(entry.dataset.points)));
  assert.deepEqual(points, [plain.length, teleported.length]);
  assert.equal(await page.locator("#loss canvas").count(), 1);
  assert.equal(await page.locator("#level-sets g.trajectory").count(), 2);
  const teleports = readText("teleported/teleports.jsonl").trim().split("\n").map((l) => JSON.parse(l));
  assert.equal(await page.locator("#certificates tbody tr").count(), teleports.length);
  assert.equal(await page.locator("#level-sets .trajectory .jump").count(),
               teleports.filter((one) => one.accepted).length);
});

test("numbers equal the trace files", async () => {
  for (const [id, column] of [["loss", "loss"], ["gradient", "grad_sq"]]) {
    const rows = await downloadTable(page, id);
    const expected = [...plain, ...teleported];
    assert.equal(rows.length, expected.length);
    for (const [i, row] of rows.entries()) {
      for (const name of ["step", "seconds", "evaluations", column]) {
        assert.equal(Number(row[name]), Number(expected[i][name]), `${id} row ${i} ${name}`);
      }
    }
  }
  const certificates = await downloadTable(page, "certificates");
  const lines = readText("teleported/teleports.jsonl").trim().split("\n").map((l) => JSON.parse(l));
  assert.deepEqual(certificates.map((row) => Number(row.drift)), lines.map((one) => one.drift));
  const way = (await downloadTable(page, "level-sets")).filter((row) => row.kind !== "before_teleport");
  assert.deepEqual(way.map((row) => [row.x1, row.x2, row.loss].map(Number)),
                   [...plain, ...teleported].map((row) => [row.x1, row.x2, row.loss].map(Number)));
});

test("hovering shows the exact value", async () => {
  await hover(page, "loss", 0.43);
  const shown = page.locator("#loss .series output");
  for (const [i, trace] of [plain, teleported].entries()) {
    const at = Number(await shown.nth(i).getAttribute("data-at"));
    assert.ok(Math.abs(at - 430) < 5, String(at));
    const row = trace.find((one) => Number(one.step) === at);
    assert.equal(Number(await shown.nth(i).getAttribute("data-value")), Number(row.loss));
    assert.notEqual(await shown.nth(i).textContent(), "");
  }
});

test("stepping through the trajectory moves the marker", async () => {
  const marker = page.locator("#level-sets .marker");
  const place = async () => [await marker.getAttribute("cx"), await marker.getAttribute("cy")];
  const output = page.locator("#level-sets .position");
  const start = await place();
  await page.click("#level-sets [data-move=forward]");
  assert.notDeepEqual(await place(), start);
  assert.match(await output.textContent(), /^step 1:/);
  assert.equal(Number(await output.getAttribute("data-loss")), Number(teleported[1].loss));
  await page.click("#level-sets [data-move=next-jump]");
  assert.match(await output.textContent(), /^step 99, after the teleport/);
  const landed = await place();
  await page.click("#level-sets [data-move=back]");
  assert.match(await output.textContent(), /^step 99, before the teleport/);
  assert.notDeepEqual(await place(), landed);
  await page.focus("#level-sets input[type=range]");
  await page.keyboard.press("End");
  assert.match(await output.textContent(), /^step 1000/);
  await page.keyboard.press("Home");
  assert.deepEqual(await place(), start);
  const frame = () => page.locator("#level-sets input[type=range]").inputValue().then(Number);
  await page.click("#level-sets [data-move=play]");
  await page.waitForFunction(() => Number(document.querySelector("#level-sets input").value) > 3);
  await page.click("#level-sets [data-move=play]");
  const paused = await frame();
  await page.waitForTimeout(150);
  assert.equal(await frame(), paused);
  await page.selectOption("#level-sets select", "0");
  assert.equal(Number(await output.getAttribute("data-loss")), Number(plain[0].loss));
});

test("the switch changes the axis", async () => {
  assert.deepEqual(await shownRange(page, "loss"), [0, 1000]);
  await page.click("#loss .switch >> text=seconds");
  assert.equal(await page.getAttribute("#loss .plot", "data-axis"), "seconds");
  const longest = Math.max(...[...plain, ...teleported].map((row) => Number(row.seconds)));
  assert.equal((await shownRange(page, "loss"))[1], longest);
  await hover(page, "loss", 0.5);
  const output = page.locator("#loss .series output").nth(1);
  const at = Number(await output.getAttribute("data-at"));
  const row = teleported.find((one) => Number(one.seconds) === at);
  assert.equal(Number(await output.getAttribute("data-value")), Number(row.loss));
  await page.click("#loss .switch >> text=step");
  assert.deepEqual(await shownRange(page, "loss"), [0, 1000]);
});

test("zooms by mouse, button and key, and back", async () => {
  const box = await curveBox(page, "gradient");
  await page.mouse.move(box.x + box.width * 0.25, box.y + box.height * 0.5);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + box.height * 0.5, { steps: 4 });
  await page.mouse.up();
  const [low, high] = await shownRange(page, "gradient");
  assert.ok(Math.abs(low - 250) < 5 && Math.abs(high - 500) < 5, `${low} ${high}`);
  await page.mouse.dblclick(box.x + box.width * 0.5, box.y + box.height * 0.5);
  assert.deepEqual(await shownRange(page, "gradient"), [0, 1000]);
  await page.click("#gradient [data-zoom=in]");
  const zoomed = await shownRange(page, "gradient");
  assert.ok(zoomed[1] - zoomed[0] < 510, String(zoomed));
  await page.focus("#gradient .plot");
  await page.keyboard.press("0");
  assert.deepEqual(await shownRange(page, "gradient"), [0, 1000]);
  await page.keyboard.press("ArrowRight");
  assert.notEqual(await page.locator("#gradient .series output").first().textContent(), "");
});

test("series can be hidden", async () => {
  const picture = () => page.evaluate(() => document.querySelector("#loss canvas").toDataURL());
  const both = await picture();
  const entry = page.locator("#loss .series").nth(1);
  await entry.click();
  assert.equal(await entry.getAttribute("aria-pressed"), "false");
  assert.notEqual(await picture(), both);
  await entry.click();
  assert.equal(await entry.getAttribute("aria-pressed"), "true");
});

test("figures can be had as SVG and PNG", async () => {
  const count = (text, what) => text.split(what).length;
  for (const id of ["level-sets", "loss"]) {
    const svg = (await download(page, id, "svg")).toString();
    const file = readText(`figures/${id}.svg`);
    for (const part of ["<path", "<text", "<circle"]) assert.equal(count(svg, part), count(file, part));
    const png = await download(page, id, "png");
    assert.equal(png.subarray(1, 4).toString(), "PNG");
    assert.equal(png.readUInt32BE(16), 3 * 720);
  }
});

test("everything can be reached by the keyboard", async () => {
  await page.evaluate(() => document.activeElement.blur());
  const reached = new Set();
  for (let i = 0; i < 60; ++i) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => {
      const a = document.activeElement;
      return [a.closest("figure, .table")?.id, a.tagName, a.className,
              a.dataset.move ?? a.dataset.download ?? a.dataset.zoom ?? a.type ?? ""].join(" ");
    }));
  }
  for (const what of [" BUTTON theme button", "level-sets SELECT  select-one", "level-sets BUTTON  play",
                      "level-sets INPUT  range", "loss INPUT  radio", "loss DIV plot ",
                      "loss BUTTON series button", "loss BUTTON  csv", "gradient BUTTON  reset",
                      "certificates DIV scroll "]) {
    assert.ok(reached.has(what), `${what} is not among\n${[...reached].join("\n")}`);
  }
});

test("is dark when the system is, and when asked to", async () => {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const curve = () => page.evaluate(() => document.querySelector("#loss canvas").toDataURL());
  const [light, lightCurve] = [await ground(), await curve()];
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForTimeout(50);
  const dark = await ground();
  assert.notEqual(dark, light);
  assert.notEqual(await curve(), lightCurve);
  await page.click(".theme");
  assert.equal(await ground(), light);
  await page.click(".theme");
  assert.equal(await ground(), dark);
});

test("fits a phone", async () => {
  const phone = await open("page.html", { width: 400 });
  assert.ok(await sidewaysRoom(phone) <= 0);
  assert.ok((await phone.locator("#loss canvas").boundingBox()).width <= 400);
  assert.deepEqual(phone.problems, []);
  await phone.close();
});

test("made no errors and no requests", () => assert.deepEqual(page.problems, []));

test("nothing can be loaded into it", async () => {
  const blocked = await page.evaluate(() => new Promise((resolve) => {
    document.addEventListener("securitypolicyviolation", (e) => resolve(e.effectiveDirective));
    const image = new Image();
    image.src = "http://127.0.0.1:9/x.png";
    setTimeout(() => resolve("not blocked"), 2000);
  }));
  assert.equal(blocked, "img-src");
});
