// SPDX-License-Identifier: MIT
// The documentation site (scripts/site) from disk, in a real browser: links, errors, requests, search, keyboard, phone, dark.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const site = mkdtempSync(join(tmpdir(), "symport-site-"));
const at = (file) => pathToFileURL(join(site, file)).href;
let browser;
before(async () => {
  execFileSync("/usr/bin/python3", [join(root, "site/build.py"), site],
               { encoding: "utf8", env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" } });
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM_PROGRAM });
});
after(async () => {
  await browser?.close();
  rmSync(site, { recursive: true });
});

// The playground, which the site only has a copy of, has tests of its own.
const pages = () => readdirSync(site, { recursive: true })
  .filter((file) => file.endsWith(".html") && file !== "play.html").sort();

/** A tab that notes errors and every request that is not for a file of the site. */
async function tab({ width = 1280, colorScheme = "light", javaScriptEnabled = true } = {}) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, javaScriptEnabled, reducedMotion: "reduce" });
  const page = await context.newPage();
  page.problems = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) page.problems.push(`${page.url()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => page.problems.push(`${page.url()}: ${error.message}`));
  page.on("requestfailed", (request) => {
    // The icon may still be on its way when the next page is opened.
    const how = request.failure().errorText;
    if (how !== "net::ERR_ABORTED") page.problems.push(`${page.url()}: no ${request.url()}: ${how}`);
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(pathToFileURL(site).href) && !request.url().startsWith("data:")) {
      page.problems.push(`${page.url()}: request of ${request.url()}`);
    }
  });
  return page;
}

const decode = (text) => text.replaceAll("&amp;", "&").replaceAll("&#x27;", "'").replaceAll("&quot;", '"');

/** What is wrong with the links, anchors and resources of these pages. */
function deadLinks(files) {
  const anchors = new Map();
  const of = (file) => {
    if (!anchors.has(file)) {
      const ids = [...readFileSync(join(site, file), "utf8").matchAll(/\sid="([^"]*)"/g)].map((match) => decode(match[1]));
      anchors.set(file, ids);
    }
    return anchors.get(file);
  };
  const known = new Set(readdirSync(site, { recursive: true }));
  const faults = [];
  for (const file of files) {
    const text = readFileSync(join(site, file), "utf8");
    const ids = of(file);
    for (const id of ids.filter((one, k) => ids.indexOf(one) !== k)) faults.push(`${file}: two elements have the id ${id}`);
    for (const [, tag, attribute, raw] of text.matchAll(/<(\w+)\b[^>]*?\s(href|src)="([^"]*)"/g)) {
      const target = decode(raw);
      if (/^https?:/.test(target) && tag === "a") continue;
      if (/^[a-z]+:/.test(target)) { faults.push(`${file}: ${tag} ${attribute} of ${target}`); continue; }
      const [name, anchor] = target.split("#");
      const other = name ? relative(site, resolve(site, dirname(file), name)) : file;
      if (!known.has(other)) faults.push(`${file}: link to ${target}: no such file`);
      else if (anchor && other.endsWith(".html") && !of(other).includes(decodeURIComponent(anchor))) {
        faults.push(`${file}: link to ${target}: no such anchor`);
      }
    }
  }
  return faults;
}

test("no link, anchor or resource leads nowhere or elsewhere", () => {
  assert.ok(pages().length > 60, `${pages().length} pages`);
  assert.deepEqual(deadLinks(pages()), []);
});

test("planted dead links are found", () => {
  writeFileSync(join(site, "planted.html"), '<p id="a"></p><b id="a"></b><a href="nosuch.html">x</a><a href="index.html#nosuch">x</a>'
    + '<img src="https://example.org/x.png"><a href="index.html">fine</a>');
  const faults = deadLinks(["planted.html"]);
  rmSync(join(site, "planted.html"));
  assert.equal(faults.length, 4, faults.join("\n"));
});

test("every page opens without errors or requests, and fits a phone", async () => {
  const page = await tab({ width: 360 });
  const wide = [];
  for (const file of pages()) {
    await page.goto(at(file));
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    if (width > 360) wide.push(`${file}: ${width}`);
    assert.ok((await page.title()).includes("Symport"), file);
  }
  assert.deepEqual(wide, []);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test("the search finds pages, types and equations, and is operated by keys", async () => {
  const page = await tab();
  await page.goto(at("mathematics/slots.html"));
  await page.keyboard.press("/");
  await page.keyboard.type("OrbitAscent");
  await page.waitForSelector("#results [role=option]");
  assert.equal(await page.textContent("#results [aria-selected=true] strong"), "OrbitAscent");
  await page.keyboard.press("Enter");
  await page.waitForURL(/api\/search\.html#OrbitAscent$/);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("white gauge damp");
  await page.waitForSelector("#results [role=option]");
  const found = await page.$$eval("#results [role=option]", (options) => options.map((option) => option.textContent).join("\n"));
  assert.match(found, /Round trips/);
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.getAttribute("#results [role=option]:nth-child(2)", "aria-selected"), "true");
  await page.fill(".search input", "xyzzy nothing");
  assert.match(await page.textContent(".search .note"), /Nothing found/);
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate(() => document.querySelector(".search").open), false);
  assert.equal(await page.evaluate(() => document.activeElement.className), "find");
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test("keys reach the content, the menu of a phone and the colours", async () => {
  const page = await tab({ width: 390 });
  await page.goto(at("index.html"));
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "content");
  await page.focus(".menu");
  await page.keyboard.press("Enter");
  assert.ok(await page.isVisible("#navigation"));
  await page.keyboard.press("Tab");
  assert.ok(await page.evaluate(() => document.activeElement.closest("#navigation, .brand") !== null));
  await page.keyboard.press("Escape");
  assert.equal(await page.isVisible("#navigation"), false);
  assert.equal(await page.evaluate(() => document.activeElement.className), "menu");
  await page.focus(".theme");
  const light = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.keyboard.press("Enter");
  assert.notEqual(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), light);
  await page.goto(at("safety.html"));
  assert.equal(await page.getAttribute(".theme", "aria-pressed"), "true", "the choice holds on the next page");
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

/** The smallest contrast of text on a page, by the rule of the Web Content Accessibility Guidelines, and where. */
function smallestContrast() {
  const parse = (text) => text.match(/[\d.]+/g).map(Number);
  const channel = (value) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const ground = (element) => {
    const layers = [];
    for (let one = element; one; one = one.parentElement) {
      const text = getComputedStyle(one).backgroundColor;
      // color-mix gives "color(srgb r g b / a)" with parts of one.
      const [r, g, b, a = 1] = text.startsWith("color(") ? parse(text.slice(10)).map((x, k) => (k < 3 ? x * 255 : x)) : parse(text);
      layers.push([r, g, b, a]);
      if (a === 1) break;
    }
    return layers.reverse().reduce((under, [r, g, b, a]) => [r, g, b].map((x, k) => a * x + (1 - a) * under[k]), [255, 255, 255]);
  };
  let worst = { ratio: 99 };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || element.closest("svg, script, .anchor, .copy, dialog, .skip") || !element.checkVisibility()) continue;
    const [one, other] = [luminance(parse(getComputedStyle(element).color)), luminance(ground(element))];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (ratio < worst.ratio) worst = { ratio, text: walker.currentNode.data.trim().slice(0, 60), element: element.outerHTML.slice(0, 80) };
  }
  return worst;
}

test("text can be read in light and dark colours", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const page = await tab({ colorScheme });
    for (const file of ["index.html", "start/paper.html", "mathematics/networks.html", "api/search.html", "gallery.html", "examples/index.html"]) {
      await page.goto(at(file));
      const worst = await page.evaluate(smallestContrast);
      assert.ok(worst.ratio >= 4.5, `${file}, ${colorScheme}: ${JSON.stringify(worst)}`);
    }
    await page.context().close();
  }
});

test("equations are typeset, numbered and cited", async () => {
  const page = await tab();
  await page.goto(at("mathematics/white_gauge.html"));
  assert.ok(await page.evaluate(() => document.querySelectorAll(".equation math").length) > 8);
  assert.ok(await page.evaluate(() => document.fonts.load('16px "STIX Two Math"').then((fonts) => fonts.length === 1)));
  // (G2) is defined on another page.
  await page.click('main p a.cite:has-text("G2")');
  await page.waitForURL(/mathematics\/networks\.html#G2$/);
  const formula = await page.$("#G2 math msubsup, #G2 math msub");
  assert.ok(formula);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test("pages can be read without a script", async () => {
  const page = await tab({ width: 390, javaScriptEnabled: false });
  await page.goto(at("round_trips.html"));
  assert.ok(await page.isVisible("#navigation"));
  assert.ok(await page.isVisible("main h1"));
  assert.equal(await page.isVisible(".find"), false);
  await page.context().close();
});
