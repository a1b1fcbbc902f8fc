// SPDX-License-Identifier: MIT
// What the tests of the report's pages share: runs made by the program, a page in a real browser that
// notes every error and every request, and the files as tables.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

export const folder = mkdtempSync(join(tmpdir(), "symport-web-"));
let browser;
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

export function symport(...words) {
  return execFileSync(process.env.SYMPORT_PROGRAM, words, {
    cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"],
  });
}

/** Opens a page of `folder`; `page.problems` are its errors and the requests it should not make.
    `prepare` runs in the page before its own script. */
export async function open(file, { width = 1100, colorScheme = "light", prepare } = {}) {
  browser ??= await chromium.launch({ executablePath: process.env.CHROMIUM_PROGRAM });
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme,
                                       acceptDownloads: true });
  const url = pathToFileURL(join(folder, file)).href;
  page.problems = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) page.problems.push(message.text());
  });
  page.on("pageerror", (error) => page.problems.push(error.message));
  page.on("request", (request) => {
    if (request.url() !== url && !/^(data|blob):/.test(request.url())) {
      page.problems.push(`request of ${request.url()}`);
    }
  });
  if (prepare) await page.addInitScript(prepare);
  await page.goto(url);
  await page.waitForFunction(() => document.documentElement.classList.contains("live"));
  return page;
}

/** Lines of cells; no cell of the tested files has a comma or a quote in it that matters. */
export function parseCsv(text) {
  const split = (line) => (line.match(/("([^"]|"")*"|[^,]*)(,|$)/g) ?? [])
    .map((cell) => cell.replace(/,$/, ""))
    .map((cell) => (cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell));
  const [head, ...rows] = text.trimEnd().split("\n");
  const names = head.split(",");
  return rows.map((row) => {
    const cells = split(row);
    return Object.fromEntries(names.map((name, i) => [name, cells[i]]));
  });
}

export const readText = (file) => readFileSync(join(folder, file), "utf8");
export const readTrace = (run) => parseCsv(readText(join(run, "trace.csv")));

/** What a button of the figure or table downloads. */
export async function download(page, id, kind) {
  const [result] = await Promise.all([
    page.waitForEvent("download"),
    page.click(`[data-download="${kind}"][data-of="${id}"]`),
  ]);
  assert.equal(result.suggestedFilename(), `${id}.${kind}`);
  return readFileSync(await result.path());
}

export const downloadTable = async (page, id) => parseCsv((await download(page, id, "csv")).toString());

/** The horizontal range that a figure shows. */
export async function shownRange(page, id) {
  const text = await page.getAttribute(`#${id} .plot`, "data-range");
  return text.split(" ").map(Number);
}

/** Where a figure's curves are on the screen; scrolls there. */
export async function curveBox(page, id) {
  const over = page.locator(`#${id} .u-over`);
  await over.scrollIntoViewIfNeeded();
  return over.boundingBox();
}

export async function hover(page, id, part) {
  const box = await curveBox(page, id);
  await page.mouse.move(box.x + box.width * part, box.y + box.height / 2);
}

export async function sidewaysRoom(page) {
  return page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
}
