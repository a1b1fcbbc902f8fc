// SPDX-License-Identifier: MIT
// Numbers as text.

/** All digits, and the words that the program's files have for what is no number. */
export function exactText(value) {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  return String(value);
}

/** At most seven digits, for people. */
export function shortText(value) {
  const exact = exactText(value);
  return exact.length <= 9 ? exact : String(Number(value.toPrecision(6)));
}

export function csvCell(text) {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** "10⁻³²" */
export function powerOfTen(exponent) {
  if (exponent === 0) return "1";
  if (exponent === 1) return "10";
  const digits = [...String(Math.abs(exponent))].map((digit) => superscripts[digit]);
  return `10${exponent < 0 ? "⁻" : ""}${digits.join("")}`;
}
