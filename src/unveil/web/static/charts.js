// Pictures of how well a classifier does.

import {el, number, percent, svg} from "./common.js";

const MOST_CLASSES = 30;

/** Rows of each class, and what was said of them; the darker, the larger the share of the class. */
export function confusion({classes, confusion: counts}) {
  const many = classes.length;
  if (many > MOST_CLASSES) return el("p.muted", {}, `${many} classes: too many to show.`);
  const row = (own, i) => {
    const total = own.reduce((a, b) => a + b, 0) || 1;
    const cell = (n, j) => {
      const made = el(i === j ? "td.n.shade.right" : "td.n.shade", {}, number(n, 6));
      made.style.setProperty("--share", `${Math.round(100 * n / total)}%`);
      return made;
    };
    return el("tr", {},
      el("th", {scope: "row"}, String(classes[i])), own.map(cell), el("td.n", {}, percent(own[i] / total)));
  };
  const head = ["is \\ was said", ...classes.map(String), "right"];
  return el("table.confusion", {},
    el("thead", {}, el("tr", {}, head.map((h, i) => el("th", {scope: "col", class: i ? "n" : ""}, h)))),
    el("tbody", {}, counts.map(row)));
}

/** How often what was predicted with a probability came true: on the diagonal, exactly as often. */
export function calibration({calibration: bins}) {
  const at = b => [30 + 160 * b.predicted, 170 - 160 * b.observed];
  const label = "predicted probability against how often it came true";
  const points = bins.map(at), most = Math.max(...bins.map(b => b.weight), 1e-12);
  const size = b => 2 + 3 * Math.sqrt(b.weight / most);
  const dot = (b, k) => svg("circle", {cx: points[k][0], cy: points[k][1], r: size(b)},
    svg("title", {}, `predicted ${percent(b.predicted)}, came true ${percent(b.observed)}`));
  return svg("svg.chart", {viewBox: "0 0 200 200", role: "img", "aria-label": label},
    svg("rect.frame", {x: 30, y: 10, width: 160, height: 160}),
    svg("line.ideal", {x1: 30, y1: 170, x2: 190, y2: 10}),
    svg("polyline", {points: points.map(p => p.join(",")).join(" ")}), bins.map(dot),
    svg("text", {x: 110, y: 194}, "predicted"),
    svg("text", {x: 12, y: 90, transform: "rotate(-90 12 90)"}, "came true"),
    svg("text", {x: 30, y: 181}, "0"), svg("text", {x: 190, y: 181}, "1"));
}

/** A bar to the right (for) or to the left (against) of the middle. */
export function leaning(share) {
  const wide = 50 * Math.abs(share);
  const [look, x] = share < 0 ? ["rect.against", 50 - wide] : ["rect.is", 50];
  return svg("svg", {viewBox: "0 0 100 18", preserveAspectRatio: "none", "aria-hidden": true},
    svg("rect.track", {x: 0, y: 8, width: 100, height: 2}), svg(look, {x, y: 3, width: wide, height: 12}));
}
