// SPDX-License-Identifier: MIT
// Brings the page to life: tabs, links, commands, files.
import { Computer, unpackModule } from "./computer.js";
import { FactorsTab } from "./factors_tab.js";
import { FunctionsTab } from "./functions_tab.js";
import { NetworksTab } from "./networks_tab.js";
import { saveSvg } from "./picture.js";
import { commandText, fragmentOf, readForm, readFragment, writeForm } from "./settings.js";
import { watchTheme } from "./theme.js";

const names = ["functions", "networks", "factors"];
const kinds = { functions: FunctionsTab, networks: NetworksTab, factors: FactorsTab };
const tabs = {}, defaults = {};
let current = "";

const panelOf = (name) => document.getElementById(`${name}-panel`);
const formOf = (name) => panelOf(name).querySelector("form");

/** Says what was done, for a moment. */
function announce(text) {
  const place = document.getElementById("announcement");
  place.textContent = text;
  setTimeout(() => { if (place.textContent === text) place.textContent = ""; }, 4000);
}

function showCommands() {
  const commands = tabs[current]?.commands ?? [];
  document.getElementById("commands").textContent =
    commands.map(([command, words]) => commandText(command, words)).join("\n");
}

let noting = 0;
/** Puts the settings into the address; not more often than a browser allows. */
function noteSettings() {
  showCommands();
  clearTimeout(noting);
  noting = setTimeout(() => history.replaceState(null, "", link()), 250);
}
const link = () => fragmentOf(current, readForm(formOf(current)), defaults[current]);

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    announce(`${what} copied`);
  } catch {
    // Pages from a disk may have no clipboard: selected, it can be copied by hand.
    const shown = document.getElementById("commands");
    shown.textContent = text;
    getSelection().selectAllChildren(shown);
    announce(`${what} selected: copy it with your keyboard`);
  }
}

function choose(name, focus = false) {
  current = name;
  for (const one of names) {
    const button = document.getElementById(`${one}-tab`);
    button.setAttribute("aria-selected", String(one === name));
    button.tabIndex = one === name ? 0 : -1;
    panelOf(one).hidden = one !== name;
    if (focus && one === name) button.focus();
  }
}

function follow(fragment) {
  const found = readFragment(fragment, names) ?? { tab: "functions", settings: {} };
  writeForm(formOf(found.tab), found.settings, defaults[found.tab]);
  choose(found.tab);
  tabs[found.tab].restored();
  showCommands();
}

async function begin() {
  const module = await unpackModule(document.getElementById("module").textContent.trim());
  // A worker starts with its first job.
  const computer = () => new Computer(workerSource, module);
  for (const name of names) {
    defaults[name] = readForm(formOf(name));
    tabs[name] = new kinds[name](panelOf(name), [computer(), computer(), computer()],
                                () => noteSettings());
  }
  const started = new Set();
  const open = (name, focus) => {
    choose(name, focus);
    if (!started.has(name)) tabs[name].restored();
    started.add(name);
    noteSettings();
  };
  for (const [i, name] of names.entries()) {
    const button = document.getElementById(`${name}-tab`);
    button.addEventListener("click", () => open(name, false));
    button.addEventListener("keydown", (event) => {
      const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: names.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      open(names[(to + names.length) % names.length], true);
    });
    formOf(name).addEventListener("submit", (event) => event.preventDefault());
  }
  document.getElementById("copy-link").addEventListener("click", () => {
    history.replaceState(null, "", link());
    copy(location.href, "Link");
  });
  document.getElementById("copy-command").addEventListener("click", () => {
    showCommands();
    copy(document.getElementById("commands").textContent, "Command");
  });
  for (const button of document.querySelectorAll("[data-svg]")) {
    button.addEventListener("click", () => saveSvg(document.getElementById(button.dataset.svg),
                                                   `${button.dataset.svg}.svg`));
  }
  watchTheme(document.querySelector(".theme"), () => tabs.networks.recolour());
  addEventListener("hashchange", () => follow(location.hash));
  follow(location.hash);
  started.add(current);
  document.documentElement.classList.add("live");
}

begin().catch((error) => announce(`The playground could not start: ${error.message}`));
