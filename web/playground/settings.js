// SPDX-License-Identifier: MIT
// The settings of a tab are the fields of its form; a link's fragment has those that differ from
// what the page begins with.

export function readForm(form) {
  const settings = {};
  for (const field of form.elements) {
    if (!field.name) continue;
    settings[field.name] = field.type === "checkbox" ? (field.checked ? "on" : "") : field.value.trim();
  }
  return settings;
}

/** Fields that are not named get their first value. */
export function writeForm(form, settings, defaults) {
  for (const field of form.elements) {
    if (!field.name) continue;
    const value = settings[field.name] ?? defaults[field.name];
    if (field.type === "checkbox") field.checked = value === "on";
    else field.value = value;
    if (field.tagName === "SELECT" && field.selectedIndex < 0) field.value = defaults[field.name];
  }
}

/** "#networks&layers=2,8,2" */
export function fragmentOf(tab, settings, defaults) {
  const parts = Object.entries(settings)
    .filter(([name, value]) => value !== defaults[name])
    .map(([name, value]) => `&${name}=${encodeURIComponent(value).replaceAll("%2C", ",")}`);
  return `#${tab}${parts.join("")}`;
}

/** {tab, settings}, or null for a fragment that is none of ours. */
export function readFragment(fragment, tabs) {
  const [tab, ...parts] = fragment.replace(/^#/, "").split("&");
  if (!tabs.includes(tab)) return null;
  const settings = {};
  for (const part of parts) {
    const equals = part.indexOf("=");
    if (equals < 1) continue;
    try {
      settings[part.slice(0, equals)] = decodeURIComponent(part.slice(equals + 1));
    } catch {
      continue;  // a link that was cut off in the middle of a letter
    }
  }
  return { tab, settings };
}

/** A word for a shell: quoted where it must be. */
function quoted(word) {
  return /^[A-Za-z0-9_.,:=+/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

export function commandText(command, words) {
  return ["symport", command, ...words].map(quoted).join(" ");
}
