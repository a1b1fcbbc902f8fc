// SPDX-License-Identifier: MIT
// Curves whose x goes back and forth, such as the gradient against the loss: uPlot has the axes, the
// cursor and the zoom; the lines are drawn here, in the order of their points.

const shown = (value, axis) => Number.isFinite(value) && (value > 0 || !axis.log) &&
  value <= (axis.most ?? Infinity);

/** The smallest and the largest value that an axis can show. */
function extent(columns, axis) {
  let low = Infinity, high = -Infinity;
  for (const column of columns) {
    for (const value of column) {
      if (!shown(value, axis)) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  return low <= high ? [low, high] : null;
}

/** Two invisible points at the corners of everything, for the scales. */
export function corners(figure, axis, hidden) {
  const visible = figure.series.filter((_, i) => !hidden.has(i));
  const [x0, x1] = extent(visible.map((one) => one.x[axis]), figure.xAxes[axis]) ?? [0.1, 10];
  const [y0, y1] = extent(visible.map((one) => one.y), figure.yAxis) ?? [0.1, 10];
  return [[x0, x1 > x0 ? x1 : x0 * 2], [y0, y1]];
}

/** The points of a series in canvas pixels; NaN where there is no place. */
function pixels(u, figure, axis, one) {
  const place = (column, of, name) => Float64Array.from(column, (value) =>
    (Number.isFinite(value) && (value > 0 || !of.log)
      ? Math.max(-1e5, Math.min(1e5, u.valToPos(value, name, true))) : NaN));
  return [place(one.x[axis], figure.xAxes[axis], "x"), place(one.y, figure.yAxis, "y")];
}

/** Draws every visible series; points nearer than half a pixel to the last are passed over. */
export function drawFree(u, figure, axis, hidden, colourOf) {
  const { ctx, bbox } = u;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.lineWidth = 1.8 * ratio;
  ctx.lineJoin = "round";
  for (const [i, one] of figure.series.entries()) {
    if (hidden.has(i)) continue;
    const [x, y] = pixels(u, figure, axis, one);
    ctx.strokeStyle = colourOf(one);
    ctx.beginPath();
    let last = null;
    for (let k = 0; k < x.length; ++k) {
      if (Number.isNaN(x[k]) || Number.isNaN(y[k])) {
        last = null;
      } else if (last === null) {
        ctx.moveTo(x[k], y[k]);
        last = [x[k], y[k]];
      } else if (Math.hypot(x[k] - last[0], y[k] - last[1]) >= 0.5 * ratio) {
        ctx.lineTo(x[k], y[k]);
        last = [x[k], y[k]];
      }
    }
    ctx.stroke();
  }
  ctx.restore();
}

/** The row of a series that is nearest on the screen to a place in canvas pixels. */
export function nearestRow(u, figure, axis, one, left, top) {
  const [x, y] = pixels(u, figure, axis, one);
  let best = 0, least = Infinity;
  for (let k = 0; k < x.length; ++k) {
    const distance = Math.hypot(x[k] - left, y[k] - top);
    if (distance < least) [best, least] = [k, distance];
  }
  return best;
}
