// Densities of numbers, and places on the curves of arcs.

import {number, svg} from "./common.js";

const WIDE = 3.2, POINTS = 48;

const SHARES = [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82];

/** A place on an arc's Bézier curves for a short text: the nearest to the middle that is free. */
export function placeForText(points, nodes, taken, wide = 26, tall = 12) {
  const covers = ({x, y, width, height}, [px, py]) =>
    Math.abs(px + wide / 2 - x) < (width + wide) / 2 && Math.abs(py - y) < (height + tall) / 2;
  const near = ([x, y], [px, py]) => Math.abs(px - x) < wide && Math.abs(py - y) < tall;
  const places = SHARES.map(share => along(points, share));
  const free = p => !nodes.some(n => covers(n, p)) && !taken.some(t => near(t, p));
  return places.find(free) ?? places[0];
}

/** The place after a share of the curves. */
function along(points, share) {
  const many = (points.length - 1) / 3, k = Math.min(Math.floor(share * many), many - 1);
  const t = share * many - k, [a, b, c, d] = points.slice(3 * k, 3 * k + 4), s = 1 - t;
  return [0, 1].map(i => s ** 3 * a[i] + 3 * s * s * t * b[i] + 3 * s * t * t * c[i] + t ** 3 * d[i]);
}

/** How high a belief's density is at x: a mixture's as the server tells it, else that of a Gaussian. */
function height({mean, deviation, curve}, x) {
  if (curve) {
    const at = (x - curve.low) / (curve.high - curve.low) * (curve.y.length - 1), i = Math.floor(at);
    if (i < 0 || i >= curve.y.length - 1) return 0;
    return curve.y[i] + (at - i) * (curve.y[i + 1] - curve.y[i]);
  }
  if (!(deviation > 0)) return 0;
  return Math.exp(-((x - mean) ** 2) / (2 * deviation ** 2)) / (deviation * Math.sqrt(2 * Math.PI));
}

/** The range in which beliefs are to be seen. */
export function rangeOf(...beliefs) {
  const known = beliefs.filter(Boolean);
  const low = Math.min(...known.map(b => b.mean - WIDE * b.deviation));
  const high = Math.max(...known.map(b => b.mean + WIDE * b.deviation));
  return high > low ? [low, high] : [low - 1, high + 1];
}

/** The outline of a density in a box `{left, top, wide, tall}`. */
function outline(belief, [low, high], most, {left, top, wide, tall}) {
  const point = i => {
    const x = low + (high - low) * i / POINTS;
    return `${(left + wide * i / POINTS).toFixed(1)},${(top + tall * (1 - height(belief, x) / most)).toFixed(1)}`;
  };
  return `M${Array.from({length: POINTS + 1}, (_, i) => point(i)).join("L")}`;
}

function highest(belief, [low, high]) {
  let most = 0;
  for (let i = 0; i <= POINTS; i += 1) most = Math.max(most, height(belief, low + (high - low) * i / POINTS));
  return most;
}

/** The paths of a belief, of the one before, and where a known value is. */
function paths(now, before, box) {
  const range = rangeOf(now, before), shown = [now, before].filter(Boolean);
  const most = Math.max(...shown.map(b => highest(b, range)), 1e-300), base = box.top + box.tall;
  const seen = !(now.deviation > 0), x = box.left + box.wide * (now.mean - range[0]) / (range[1] - range[0]);
  return {
    is: seen ? "" : `${outline(now, range, most, box)}L${box.left + box.wide},${base}L${box.left},${base}Z`,
    was: before ? outline(before, range, most, box) : "",
    at: seen ? {x1: x, x2: x, y1: box.top, y2: base} : {x1: box.left, x2: box.left, y1: base, y2: base},
  };
}

/** Mean and deviation, as exact as the deviation makes sense of. */
export function inNumbers({mean, deviation}) {
  if (!(deviation > 0)) return number(mean, 5);
  const places = 1 - Math.floor(Math.log10(deviation));
  const said = x => places >= 0 && places < 7 ? x.toFixed(places).replace(/^-(0\.?0*)$/, "$1") : number(x, 3);
  return `${said(mean)} ± ${said(deviation)}`;
}

/** Where the curve of a node of a graph is drawn: below its heading, above its value. */
export const curveBox = ({x, y, width, height}, head) =>
  ({left: x - width / 2 + 8, wide: width - 16, top: y - height / 2 + head - 3, tall: height - head - 15});

/** Fill the curve of a node of a graph. */
export function drawCurve({made}, box, now, before) {
  const {is, was, at} = paths(now, before, box), find = name => made.querySelector(name);
  find(".value").textContent = inNumbers(now);
  find("path.is").setAttribute("d", is);
  find("path.was").setAttribute("d", was);
  for (const [key, place] of Object.entries(at)) find("line.at").setAttribute(key, place);
}

/** The same as a picture of its own, with the ends of its range. */
export function curvePicture(now, before, label) {
  const box = {left: 4, top: 4, wide: 292, tall: 90}, {is, was, at} = paths(now, before, box);
  const [low, high] = rangeOf(now, before), base = box.top + box.tall;
  return svg("svg.density", {viewBox: "0 0 300 112", role: "img", "aria-label": `${label}: ${inNumbers(now)}`},
    svg("line.base", {x1: 4, x2: 296, y1: base, y2: base}),
    svg("path.was", {d: was}), svg("path.is", {d: is}), svg("line.at", at),
    svg("text", {x: 4, y: 108}, number(low, 3)), svg("text.end", {x: 296, y: 108}, number(high, 3)));
}
