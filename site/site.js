// SPDX-License-Identifier: MIT
// The site's behaviour: colours, the menu on a phone, copying of code, the place on the page, and the
// search. Without it every page can be read.
"use strict";

const root = document.documentElement;
const base = document.currentScript.dataset.base;
const find = (selector, from = document) => from.querySelector(selector);
const all = (selector, from = document) => [...from.querySelectorAll(selector)];

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// Light and dark: as the system says, until the button is pressed.
function watchTheme(button) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const show = () => button.setAttribute("aria-pressed", String(isDark()));
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem("symport-theme", root.dataset.theme);
    } catch { /* a browser that stores nothing keeps the choice for this page */ }
    show();
  });
  system.addEventListener("change", show);
  show();
}

// The list of pages, which a phone shows on demand.
function watchMenu(button, side) {
  const set = (open) => {
    side.classList.toggle("open", open);
    button.setAttribute("aria-expanded", String(open));
  };
  button.addEventListener("click", () => set(!side.classList.contains("open")));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && side.classList.contains("open")) {
      set(false);
      button.focus();
    }
  });
  const current = find("[aria-current]", side);
  if (current && getComputedStyle(side).position === "sticky") {
    side.scrollTop = Math.max(0, current.offsetTop - side.clientHeight / 2);
  }
}

function addCopyButtons() {
  for (const block of all(".code")) {
    const button = element("button", { class: "copy", type: "button" }, "Copy");
    button.addEventListener("click", async () => {
      let text = find("code", block).textContent;
      // What programs print is not part of what is typed.
      if (block.dataset.language === "console") {
        text = text.split("\n").filter((line) => line.startsWith("$ ")).map((line) => line.slice(2)).join("\n");
      }
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
    block.append(button);
  }
}

// The section that is being read, in "On this page".
function watchPlace() {
  const links = all(".toc a");
  if (!links.length) return;
  const targets = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
  const update = () => {
    let here = 0;
    targets.forEach((target, k) => {
      if (target && target.getBoundingClientRect().top < 120) here = k;
    });
    links.forEach((link, k) => link.classList.toggle("here", k === here));
  };
  let waiting = false;
  addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      update();
    });
  }, { passive: true });
  update();
}

// The search -----------------------------------------------------------------------------------------
const plain = (text) => text.normalize("NFD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
let entries = null;

/** The index is a script, since pages on disk may not read other files. */
function loadIndex() {
  return new Promise((resolve, reject) => {
    if (entries) return resolve();
    const script = element("script", { src: `${base}search.js` });
    script.addEventListener("load", () => {
      entries = window.symportSearch.flatMap(([url, title, section, parts]) =>
        parts.map(([heading, anchor, text]) => ({
          url: anchor ? `${url}#${anchor}` : url, title, section, heading, text,
          inHeading: plain(heading), inTitle: plain(title), inText: plain(text),
        })));
      resolve();
    });
    script.addEventListener("error", reject);
    document.head.append(script);
  });
}

function startsWord(text, word) {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1])) return at;
  }
  return -1;
}

/** Every word must occur; headings and whole names count most. */
function search(query) {
  const words = plain(query).split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const found = [];
  for (const entry of entries) {
    let score = 0;
    for (const word of words) {
      const heading = startsWord(entry.inHeading, word);
      const text = startsWord(entry.inText, word);
      const title = startsWord(entry.inTitle, word);
      const inside = word.length > 2 && entry.inText.includes(word);
      if (heading < 0 && text < 0 && title < 0 && !inside) { score = -1; break; }
      score += (heading >= 0 ? 12 : 0) + (title >= 0 ? 5 : 0) + (text >= 0 ? 3 : 1);
    }
    if (score < 0) continue;
    if (entry.inHeading === words.join(" ")) score += 30;
    found.push({ entry, score });
  }
  return found.sort((a, b) => b.score - a.score).slice(0, 30).map(({ entry }) => ({ entry, words }));
}

/** A piece of the text around the first word, with all of them marked. */
function excerpt(entry, words) {
  const at = Math.max(0, ...words.map((word) => entry.inText.indexOf(word)).filter((k) => k >= 0).slice(0, 1));
  const start = entry.inText.length === entry.text.length ? Math.max(0, at - 60) : 0;
  const piece = (start ? "…" : "") + entry.text.slice(start, start + 180) + (entry.text.length > start + 180 ? "…" : "");
  const pattern = new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "gi");
  return piece.split(pattern).map((part, k) => (k % 2 ? element("mark", {}, part) : part));
}

function makeSearch(button) {
  const input = element("input", { type: "search", placeholder: "Search pages, types, functions …", "aria-label": "Search",
    role: "combobox", "aria-expanded": "true", "aria-controls": "results", autocomplete: "off", spellcheck: "false" });
  const list = element("ul", { id: "results", role: "listbox", "aria-label": "Results" });
  const note = element("p", { class: "note", role: "status" });
  const dialog = element("dialog", { class: "search", "aria-label": "Search" }, input, list, note);
  document.body.append(dialog);
  let chosen = 0;

  const choose = (place) => {
    const options = all("[role=option]", list);
    chosen = options.length ? (place + options.length) % options.length : 0;
    options.forEach((option, k) => option.setAttribute("aria-selected", String(k === chosen)));
    if (options[chosen]) {
      input.setAttribute("aria-activedescendant", options[chosen].id);
      options[chosen].scrollIntoView({ block: "nearest" });
    } else {
      input.removeAttribute("aria-activedescendant");
    }
  };
  const show = () => {
    if (!entries) return;
    const results = search(input.value);
    list.replaceChildren(...results.map(({ entry, words }, k) => {
      const where = [entry.section, entry.title].filter((part) => part && part !== entry.heading).join(" › ");
      const link = element("a", { href: base + entry.url, tabindex: "-1" },
        element("strong", {}, entry.heading), element("small", {}, where), element("span", {}, ...excerpt(entry, words)));
      link.addEventListener("click", () => dialog.close());
      return element("li", { role: "option", id: `result-${k}`, "aria-selected": "false" }, link);
    }));
    note.textContent = !input.value.trim() ? "↑ ↓ to choose, Enter to open, Esc to close"
      : results.length ? "" : "Nothing found. Every word must occur; try fewer or shorter ones.";
    choose(0);
  };
  const open = () => {
    if (dialog.open) return;
    dialog.showModal();
    input.select();
    loadIndex().then(show, () => (note.textContent = "The search index, search.js, is missing."));
  };
  input.addEventListener("input", show);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      choose(chosen + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Escape") {
      event.preventDefault();  // which would only clear the field
      dialog.close();
    } else if (event.key === "Enter") {
      find("[aria-selected=true] a", list)?.click();
    }
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("close", () => button.focus());
  button.addEventListener("click", open);
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "");
    if ((event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) || (event.key === "k" && (event.ctrlKey || event.metaKey))) {
      event.preventDefault();
      open();
    }
  });
}

watchTheme(find(".theme"));
watchMenu(find(".menu"), find(".side"));
addCopyButtons();
watchPlace();
makeSearch(find(".find"));
root.classList.add("live");
