// SPDX-License-Identifier: MIT
// Figures and tables as files: CSV with every digit, SVG and PNG of the program's own picture.
import { csvCell, exactText } from "./format.js";

function curvesCsv(figure) {
  const heads = [...figure.xAxes.map((axis) => axis.key), figure.yAxis.key];
  const lines = [["series", ...heads, "lower", "upper", "teleported"].map(csvCell).join(",")];
  for (const series of figure.series) {
    const name = csvCell(series.name);
    const teleports = new Set(series.teleports);
    for (let i = 0; i < series.y.length; ++i) {
      const numbers = [...series.x.map((column) => column[i]), series.y[i]].map(exactText);
      const band = series.lower ? [series.lower[i], series.upper[i]].map(exactText) : ["", ""];
      lines.push([name, ...numbers, ...band, teleports.has(i) ? 1 : 0].join(","));
    }
  }
  return lines.join("\n") + "\n";
}

function trajectoriesCsv(figure) {
  const kinds = ["step", "before_teleport", "after_teleport"];
  const lines = [`series,step,${figure.xKey},${figure.yKey},loss,kind`];
  for (const way of figure.trajectories) {
    const name = csvCell(way.name);
    for (let i = 0; i < way.x.length; ++i) {
      const numbers = [way.step[i], way.x[i], way.y[i], way.loss[i]].map(exactText);
      lines.push([name, ...numbers, kinds[way.kind[i]]].join(","));
    }
  }
  return lines.join("\n") + "\n";
}

function heatCsv(figure) {
  const lines = [[figure.xAxis.key, figure.yAxis.key, figure.value.key].map(csvCell).join(",")];
  for (const [row, y] of figure.y.entries()) {
    for (const [column, x] of figure.x.entries()) {
      lines.push([x, y, figure.values[row * figure.x.length + column]].map(exactText).join(","));
    }
  }
  return lines.join("\n") + "\n";
}

const csvOf = { curves: curvesCsv, levels: trajectoriesCsv, heat: heatCsv };

/** The picture that the program drew, for the axis that is shown; without what the player added. */
function pictureText(element) {
  const shown = element.querySelector(".static:not([hidden]) svg").cloneNode(true);
  shown.querySelectorAll(".player-layer").forEach((layer) => layer.remove());
  shown.querySelectorAll(".other").forEach((group) => group.classList.remove("other"));
  shown.querySelectorAll(".chosen").forEach((cell) => cell.classList.remove("chosen"));
  return new XMLSerializer().serializeToString(shown);
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

async function picturePng(svg, scale = 3) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.naturalWidth * scale;
  canvas.height = image.naturalHeight * scale;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

/** Makes the download buttons of the page work. */
export function offerDownloads(data) {
  const figures = new Map(data.figures.map((figure) => [figure.id, figure]));
  const tables = new Map(data.tables.map((table) => [table.id, table.csv]));
  const csv = (id) => {
    const figure = figures.get(id);
    if (!figure) return tables.get(id);
    return csvOf[figure.kind](figure);
  };
  for (const button of document.querySelectorAll("[data-download]")) {
    const { download: kind, of: id } = button.dataset;
    button.addEventListener("click", async () => {
      if (kind === "csv") save(new Blob([csv(id)], { type: "text/csv" }), `${id}.csv`);
      const svg = kind === "csv" ? "" : pictureText(document.getElementById(id));
      if (kind === "svg") save(new Blob([svg], { type: "image/svg+xml" }), `${id}.svg`);
      if (kind === "png") save(await picturePng(svg), `${id}.png`);
    });
  }
}
