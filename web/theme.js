// SPDX-License-Identifier: MIT
// Light and dark: as the system says, until the button is pressed.

/** A colour of the style sheet, for what is drawn on a canvas. */
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Calls `changed` whenever the colours change. */
export function watchTheme(button, changed) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const show = () => {
    button.setAttribute("aria-pressed", String(isDark()));
    changed();
  };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    show();
  });
  system.addEventListener("change", show);
  show();
}
