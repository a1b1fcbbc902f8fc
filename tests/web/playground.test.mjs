// SPDX-License-Identifier: MIT
// The playground: the numbers of its WebAssembly are the program's, and the page does what it says.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { folder, open, readTrace, sidewaysRoom, symport } from "./support.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const file = join(root, "web/playground/playground.html");
/** A part of the page that imports nothing. */
const part = (name) => {
  const text = readFileSync(join(root, "web/playground", name));
  return import(`data:text/javascript;base64,${text.toString("base64")}`);
};
const { Engine } = await part("engine.js");
const { commandText, fragmentOf, readFragment } = await part("settings.js");
/** Of the two programs' numbers, whose libraries and products round differently: relative to a number, and
    to the first one of its run. Where a teleport ends, and so the gradient there, is known to the root of the
    rounding only. */
const relative = 1e-9, ofTheFirst = 1e-12, ofGradients = 1e-7;
/** Of the first loss. Below, rounding decides what a rehearsal finds, and so how long it takes. */
const rounded = 1e-9;

let page, module, engine;
before(async () => {
  const text = readFileSync(file, "utf8");
  const packed = /id="module">([^<]*)</.exec(text)[1];
  module = new WebAssembly.Module(gunzipSync(Buffer.from(packed, "base64")));
  engine = new Engine(module);
  copyFileSync(file, join(folder, "playground.html"));
  page = await open("playground.html");
});

const near = (a, b, what, first = 1, part = relative) => {
  if (Number.isNaN(a) && Number.isNaN(b)) return;
  assert.ok(Math.abs(a - b) <= part * Math.abs(b) + ofTheFirst * Math.abs(first), `${what}: ${a} and ${b}`);
};
const loss = (name) => page.evaluate((key) => Number(document.querySelector("#function-summary").dataset[key]), name);
/** Does something that starts a run, and waits for its picture. */
async function redrawn(action, id = "plane") {
  const draws = () => page.evaluate((one) => Number(document.getElementById(one).dataset.draws ?? 0), id);
  const before = await draws();
  await action();
  await page.waitForFunction(([one, count]) => Number(document.getElementById(one).dataset.draws) > count,
                             [id, before]);
}
/** The final losses of the commands that the page shows, by the program. */
async function lossesOfCommands() {
  await page.waitForTimeout(50);
  const commands = (await page.textContent("#commands")).split("\n");
  return commands.map((command) => {
    assert.match(command, /^symport (optimize|train) /);
    const text = execFileSync("sh", ["-c", `${command.replace("symport", '"$SYMPORT_PROGRAM"')} --json --quiet`],
                              { encoding: "utf8" });
    return JSON.parse(text).final_loss;
  });
}

test("is made from the sources as they are, and is below a megabyte", () => {
  execFileSync("python3", [join(root, "web/playground/make_page.py"), "--check", file]);
  assert.ok(statSync(file).size < 1e6);
});

test("of the library nothing is missing in the module except what computes in float", () => {
  const names = WebAssembly.Module.imports(module).map(({ name }) => name).filter((name) => name.startsWith("_Z"));
  assert.deepEqual(names.filter((name) => !/I[^_]*f[^_]*E/.test(name)), []);
});

const runs = [
  ["optimize", "rosenbrock", "--lr", "0.001", "--steps", "300"],
  ["optimize", "rosenbrock", "--start", "-1.2,0.7", "--steps", "300", "--teleport", "every:100+99"],
  ["optimize", "booth", "--teleport", "4", "--search", "fixed", "--search-rate", "0.001"],
  ["optimize", "ellipse:5", "--optimizer", "adam", "--lr", "0.05", "--teleport", "0,20"],
  ["optimize", "quadratic:2,100", "--lr", "auto", "--steps", "20", "--teleport", "0"],
  ["optimize", "(x1*x2 - 1)^2", "--symmetry", "scaling", "--start", "3,0.9", "--lr", "0.02", "--steps", "50",
   "--teleport", "0"],
  ["optimize", "(x1 - 1)^2 + 100*(x2 - sin(2*x1))^2", "--symmetry",
   "variables:10*(x2 - sin(2*x1)),x1 - 1:x2 + 1,x1/10 + sin(2*(x2 + 1))", "--start", "-1.5,1", "--lr", "0.001",
   "--steps", "100", "--teleport", "every:50"],
  ["optimize", "factorization:8,6,3,100", "--lr", "0.1", "--steps", "50", "--teleport", "every:1", "--search",
   "closed"],
  ["optimize", "factorization:8,6,3,100", "--steps", "30", "--round-trip"],
  ["train", "--data", "spirals", "--samples", "60", "--layers", "2,8,8,2", "--bias", "--lr", "0.5", "--steps", "30"],
  ["train", "--data", "spirals", "--samples", "60", "--layers", "2,8,8,2", "--lr", "0.5", "--steps", "20",
   "--teleport", "0,10"],
  ["train", "--data", "spirals", "--samples", "60", "--layers", "2,8,8,2", "--activation", "tanh", "--steps", "20",
   "--round-trip"],
];
for (const [i, [command, ...words]] of runs.entries()) {
  test(`computes what the program does: ${commandText(command, words)}`, () => {
    if (command === "optimize") engine.openFunction(words);
    else engine.openNetwork(words);
    const end = engine.run();
    const trace = engine.trace();
    symport(command, ...words, "--out", `run${i}`, "--quiet");
    const expected = readTrace(`run${i}`);
    assert.deepEqual([...trace.step], expected.map((row) => Number(row.step)));
    const lossOf = (row) => Number(row.loss ?? row.train_loss);
    for (const [k, row] of expected.entries()) {
      near(trace.loss[k], lossOf(row), `loss of row ${k}`, lossOf(expected[0]));
      near(trace.gradSq[k], Number(row.grad_sq), `|gradient|^2 of row ${k}`, Number(expected[0].grad_sq), ofGradients);
      if (lossOf(row) > rounded * lossOf(expected[0])) {
        assert.equal(trace.evaluations[k], Number(row.evaluations), `evaluations of row ${k}`);
        assert.equal(trace.teleported[k], Number(row.teleported), `teleport of row ${k}`);
      }
      if (row.x2 === undefined || row.x3 !== undefined) continue;
      near(trace.x1[k], Number(row.x1), `x1 of row ${k}`);
      near(trace.x2[k], Number(row.x2), `x2 of row ${k}`);
    }
    near(end.loss, lossOf(expected.at(-1)), "final loss", lossOf(expected[0]));
  });
}

test("an orbit keeps the loss, and a teleport is its best point", () => {
  engine.openFunction(["rosenbrock", "--start", "-1,-1", "--teleport", "0", "--objective", "gradient_norm",
                       "--rehearsal", "0"]);
  engine.run();
  const teleports = engine.teleports();
  assert.deepEqual([...teleports.accepted], [1]);
  const orbit = engine.orbit([-1, -1], 720, [teleports.toX1[0], teleports.toX2[0]]);
  for (const one of orbit.loss) near(one / orbit.loss[0], 1, "loss along the orbit");
  const best = Math.max(...orbit.gradSq);
  assert.ok(teleports.gradSqAfter[0] >= best * (1 - 1e-9), `${teleports.gradSqAfter[0]} and ${best}`);
  assert.ok(orbit.gradSq[orbit.marked] > 0.9 * best);
});

test("errors are the program's", () => {
  assert.throws(() => engine.openFunction(["rosenbrok"]), /did you mean 'rosenbrock'/);
  assert.throws(() => engine.openFunction(["rosenbrock", "--lr", "x"]), /^Error: --lr: /);
  assert.throws(() => engine.openFunction(["x1*x2", "--symmetry", "rotation", "--start", "1,2"]),
                /not a symmetry/);
  assert.throws(() => engine.openFunction(["rosenbrock", "--nonsense", "1"]), /--nonsense/);
  assert.throws(() => engine.openNetwork(["--data", "mnist"]), /generated data only/);
});

test("fragments and commands hold any text", () => {
  const defaults = { formula: "", lr: "0.1" };
  const settings = { formula: "sin(x1)^2 & x2 = 'é' %", lr: "0.1" };
  const fragment = fragmentOf("functions", settings, defaults);
  assert.deepEqual(readFragment(fragment, ["functions"]), { tab: "functions", settings: { formula: settings.formula } });
  assert.equal(readFragment("#elsewhere", ["functions"]), null);
  assert.deepEqual(readFragment("#functions&a=%E0%A4%A&b=1", ["functions"]).settings, { b: "1" });
  assert.equal(commandText("optimize", ["it's", "a-b"]), "symport optimize 'it'\\''s' a-b");
});

test("draws level lines, both ways, the orbit and the charts", async () => {
  for (const last of ["#plane .level >> nth=7", "#plane .jump >> nth=0", "#loss .curve >> nth=1", "#along .spot"]) {
    await page.locator(last).waitFor({ state: "attached" });
  }
  assert.ok(await page.locator("#plane .level").count() >= 8);
  assert.equal(await page.locator("#plane .way").count(), 2);
  assert.equal(await page.locator("#plane .orbit").count(), 1);
  assert.equal(await page.locator("#loss .curve").count(), 2);
  assert.equal(await page.locator("#along .spot").count(), 1);
  assert.ok(await page.locator("#plane .jump").count() >= 1);
  assert.ok(await loss("loss") < await loss("plainLoss"));
});

test("the start follows the mouse, and everything follows the start", async () => {
  const box = await page.locator("#plane .knob").boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const was = await loss("loss");
  await redrawn(async () => {
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 60, y - 80, { steps: 5 });
    await page.mouse.up();
  });
  const start = await page.evaluate(() => ["start1", "start2"].map((name) => document.querySelector(`[name=${name}]`).value));
  assert.ok(Number(start[0]) > -0.9 && Number(start[1]) > -0.9, String(start));
  await page.waitForFunction((before) => Number(document.querySelector("#function-summary").dataset.loss) !== before, was);
  assert.match(await page.textContent("#commands"), new RegExp(`--start ${start.join(",")} `));
  await redrawn(() => page.locator("#plane > .ground").click({ position: { x: 100, y: 100 } }));
});

test("arrow keys move the start", async () => {
  await page.focus("#plane .handle");
  const value = () => page.inputValue("[name=start1]").then(Number);
  const was = await value();
  await redrawn(() => page.keyboard.press("ArrowRight"));
  const small = await value() - was;
  await redrawn(() => page.keyboard.press("Shift+ArrowRight"));
  assert.ok(small > 0 && await value() - was - small > 5 * small);
  assert.match(await page.getAttribute("#plane .handle", "aria-valuetext"), /^x1 .*, x2 /);
});

test("pictures keep pace with a dragged start", async () => {
  const { frames, draws } = await page.evaluate(() => new Promise((resolve) => {
    const svg = document.getElementById("plane"), handle = svg.querySelector(".handle");
    const box = svg.getBoundingClientRect();
    const at = (type, x) => handle.dispatchEvent(new PointerEvent(type, {
      pointerId: 1, clientX: box.left + x, clientY: box.top + box.height / 2 }));
    handle.setPointerCapture = () => {};
    const first = Number(svg.dataset.draws);
    let frames = 0;
    at("pointerdown", 200);
    const frame = () => {
      at("pointermove", 200 + frames);
      if (++frames < 60) {
        requestAnimationFrame(frame);
      } else {
        at("pointerup", 200 + frames);
        resolve({ frames, draws: Number(svg.dataset.draws) - first });
      }
    };
    requestAnimationFrame(frame);
  }));
  console.log(`${draws} pictures in ${frames} frames`);
  assert.ok(draws >= 10, `${draws} pictures in ${frames} frames`);
});

test("the player goes through the run", async () => {
  await page.focus(".player input");
  await redrawn(() => page.keyboard.press("Home"));
  assert.match(await page.textContent(".player output"), /^step 0:/);
  assert.equal(await page.getAttribute("#plane .way[data-name='with teleports']", "data-points"), "1");
  await page.click(".player button");
  await page.waitForFunction(() => Number(document.querySelector(".player input").value) > 5);
  await page.click(".player button");
  await redrawn(() => page.locator(".player input").press("End"));
});

test("each function runs, and the program repeats it", async () => {
  const names = await page.locator("[name=function] option").evaluateAll((all) => all.map((one) => one.value));
  assert.equal(names.length, 7);
  for (const name of names) {
    await redrawn(() => page.selectOption("[name=function]", name));
    assert.equal(await page.locator("#functions-panel .problem").isVisible(), false, name);
    const [found] = await lossesOfCommands();
    near(await loss("loss"), found, name);
  }
});

test("a formula that does not fit is an error, not a crash", async () => {
  await page.selectOption("[name=function]", "own");
  await page.fill("[name=formula]", "x1*x2 +");
  await page.waitForSelector("#functions-panel .problem:visible");
  assert.match(await page.textContent("#functions-panel .problem"), /function/);
  await page.fill("[name=formula]", "sqrt(1 + x1^2 + 5*x2^2)");
  await page.waitForSelector("#functions-panel .problem", { state: "hidden" });
  const [found] = await lossesOfCommands();
  near(await loss("loss"), found, "own formula");
});

test("a link restores the setting", async () => {
  await redrawn(() => page.selectOption("[name=function]", "valley"));
  await redrawn(() => page.fill("[name=steps]", "77"));
  await page.waitForFunction(() => /steps=77/.test(location.hash));
  const address = page.url();
  const form = () => [...document.querySelector("#functions-panel form").elements].map((one) => one.value);
  const [settings, result] = [await page.evaluate(form), await loss("loss")];
  const other = await open("playground.html");
  await other.evaluate((hash) => { location.hash = hash; }, new URL(address).hash);
  await other.waitForFunction((value) => Number(document.querySelector("#function-summary").dataset.loss) === value, result);
  assert.deepEqual(await other.evaluate(form), settings);
  assert.deepEqual(other.problems, []);
  await other.close();
});

test("pictures are saved as SVG with their own colours", async () => {
  for (const id of ["plane", "loss", "along"]) {
    const [saved] = await Promise.all([page.waitForEvent("download"), page.click(`[data-svg=${id}]`)]);
    assert.equal(saved.suggestedFilename(), `${id}.svg`);
    const text = readFileSync(await saved.path(), "utf8");
    assert.match(text, /^<svg /);
    assert.match(text, /stroke="rgb/);
    assert.doesNotMatch(text, /var\(|unexported/);
  }
});

test("a network is trained in three ways, with the program's numbers", async () => {
  await page.click("#networks-tab");
  await page.fill("[name=layers]", "2,8,8,2");
  await page.fill("#networks-panel [name=samples]", "60");
  await page.fill("#networks-panel [name=steps]", "20");
  await page.locator("#networks-panel [name=steps]").blur();
  await page.waitForFunction(() => {
    const losses = JSON.parse(document.querySelector("#network-results").dataset.losses ?? "[null]");
    return losses.every((one) => one !== null) && document.querySelectorAll("#region-plain .sample").length === 60;
  });
  const shown = await page.evaluate(() => JSON.parse(document.querySelector("#network-results").dataset.losses));
  const expected = await lossesOfCommands();
  assert.equal(expected.length, 3);
  shown.forEach((one, i) => near(one, expected[i], `loss ${i}`));
  assert.match(await page.getAttribute("#region-trips image", "href"), /^data:image\/png/);
  assert.equal(await page.locator("#network-loss .curve").count(), 3);
});

test("a factorization is minimised in three ways, with the program's numbers", async () => {
  await page.click("#factors-tab");
  const complete = () => page.waitForFunction(() => document.querySelector("#factor-results").dataset.losses !== undefined);
  await complete();
  await redrawn(() => page.locator("[name=power]").press("End"), "factor-loss");
  assert.equal(await page.textContent("#condition"), "100000");
  await redrawn(() => page.locator("[name=power]").press("Home"), "factor-loss");
  await redrawn(() => page.fill("#factors-panel [name=steps]", "40"), "factor-loss");
  await page.waitForFunction(() => /, 40,/.test(`, ${[...document.querySelectorAll("#factor-loss .curve")]
    .map((curve) => curve.dataset.points - 1).join(", ")},`));
  await complete();
  const shown = await page.evaluate(() => JSON.parse(document.querySelector("#factor-results").dataset.losses));
  const expected = await lossesOfCommands();
  shown.forEach((one, i) => near(one, expected[i], `loss ${i}`));
});

test("tabs follow the arrow keys", async () => {
  await page.focus("#factors-tab");
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.getAttribute("#functions-tab", "aria-selected"), "true");
  assert.equal(await page.locator("#functions-panel").isVisible(), true);
  assert.equal(await page.locator("#factors-panel").isVisible(), false);
});

test("is dark when the system is, and when asked to", async () => {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await ground();
  assert.notEqual(dark, light);
  await page.click(".theme");
  assert.equal(await ground(), light);
});

test("fits a phone", async () => {
  const phone = await open("playground.html", { width: 390 });
  for (const name of ["networks", "factors", "functions"]) {
    await phone.click(`#${name}-tab`);
    assert.ok(await sidewaysRoom(phone) <= 0, name);
  }
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
