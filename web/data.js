// SPDX-License-Identifier: MIT
// The numbers of the page. The program wrote them; nothing here computes new ones.

/** What a frame of a trajectory shows; 0 is an ordinary step. */
export const beforeTeleport = 1;
export const afterTeleport = 2;

/** A column as the program wrote it: base64 of doubles, or {from, by, count}. */
export function decodeColumn(column) {
  if (typeof column !== "string") {
    return Float64Array.from({ length: column.count }, (_, i) => column.from + i * column.by);
  }
  const text = atob(column);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return new Float64Array(bytes.buffer);
}

/** The page's data with every reference to a column replaced by its numbers. */
export function readData(json) {
  const data = JSON.parse(json);
  const columns = data.columns.map(decodeColumn);
  const resolve = (object, names) => {
    for (const name of names) if (name in object) object[name] = columns[object[name]];
  };
  for (const figure of data.figures) {
    for (const series of figure.series ?? []) {
      resolve(series, ["y", "lower", "upper"]);
      series.x = series.x.map((index) => columns[index]);
    }
    if (figure.kind === "heat") resolve(figure, ["x", "y", "values"]);
    for (const way of figure.trajectories ?? []) {
      resolve(way, ["step", "x", "y", "loss"]);
      way.kind = new Uint8Array(way.x.length);
      for (const i of way.before) way.kind[i] = beforeTeleport;
      for (const i of way.after) way.kind[i] = afterTeleport;
    }
  }
  return data;
}

/** The position of the value nearest to x in an ascending column. */
export function nearestIndex(column, x) {
  let low = 0, high = column.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (column[middle] <= x) low = middle;
    else high = middle;
  }
  return Math.abs(column[high] - x) < Math.abs(column[low] - x) ? high : low;
}

export function isAscending(column) {
  for (let i = 1; i < column.length; ++i) if (!(column[i] >= column[i - 1])) return false;
  return true;
}
