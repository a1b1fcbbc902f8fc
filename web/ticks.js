// SPDX-License-Identifier: MIT
// Round values along an axis; the same rules as in apps/symport/report/scale.cpp.
import { powerOfTen } from "./format.js";

function stepOf(range, count) {
  const rough = range / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5].find((factor) => factor * power >= rough * 0.999) ?? 10);
}

function linearTicks(low, high, count) {
  const step = stepOf(high - low, count);
  const values = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; ++i) {
    values.push(Number((i * step).toPrecision(12)));
  }
  return values;
}

/** Positions of about `count` ticks between low and high. */
export function tickValues(low, high, count, logarithmic) {
  if (!(high > low)) return [low];
  if (!logarithmic) return linearTicks(low, high, count);
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const values = [];
  if (last - first >= 2) {
    const stride = Math.max(1, stepOf(last - first, count));
    for (let power = first; power <= last; ++power) {
      if (power % stride === 0) values.push(Number(`1e${power}`));
    }
    return values;
  }
  for (let power = first - 1; power <= last; ++power) {
    for (const factor of [1, 2, 5]) {
      const value = Number(`${factor}e${power}`);
      if (value >= low && value <= high) values.push(value);
    }
  }
  return values.length >= 2 ? values : linearTicks(low, high, count);
}

export function tickLabel(value, logarithmic) {
  const power = Math.log10(value);
  if (logarithmic && Math.abs(power - Math.round(power)) < 1e-9) {
    return powerOfTen(Math.round(power));
  }
  return String(Number(value.toPrecision(6))).replace("-", "\u2212");
}
