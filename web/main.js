// SPDX-License-Identifier: MIT
// Brings the page to life. Without it the page still shows every figure, sentence and table.
import { CurvePlot } from "./curves.js";
import { readData } from "./data.js";
import { offerDownloads } from "./downloads.js";
import { HeatMap } from "./heat.js";
import { watchTheme } from "./theme.js";
import { TrajectoryPlayer } from "./trajectory.js";

const data = readData(document.getElementById("report-data").textContent);
document.documentElement.classList.add("live");
const plots = [];
for (const figure of data.figures) {
  const element = document.getElementById(figure.id);
  if (figure.kind === "curves") plots.push(new CurvePlot(element, figure));
  else if (figure.kind === "heat") new HeatMap(element, figure);
  else new TrajectoryPlayer(element, figure);
}
offerDownloads(data);
watchTheme(document.querySelector(".theme"), () => plots.forEach((plot) => plot.recolour()));
