// A network on the page: nodes and arcs to look at, click, search and walk through by keyboard.

import {el, number, percent, svg} from "./common.js";
import {curveBox, drawCurve, placeForText} from "./curves.js";
import {handle} from "./pointing.js";

const MARGIN = 24, LINE = 15, HEAD = 30, MOST_BARS = 5, FEW = 8;
let count = 0;

export class Graph {
  /** `onNode(name)`, `onArc(arc)`, `onState(name, index)` are called when something is chosen. */
  constructor(place, {caption = "", label = "network", onNode = null, onArc = null, onState = null} = {}) {
    Object.assign(this, {onNode, onArc, onState, nodes: new Map(), arcs: [], untouched: true});
    this.world = svg("g");
    this.svg = svg("svg", {
      role: "application", tabindex: 0,
      "aria-label": `${label}: move with the arrow keys, zoom with plus and minus, all with 0`,
    }, this.world);
    this.frame = el("figure.graph", {}, this.tools(), this.svg, caption ? el("figcaption", {}, caption) : null);
    place.append(this.frame);
    new ResizeObserver(() => { if (this.picture && this.untouched) this.fit(); }).observe(this.svg);
    handle(this);
  }

  tools() {
    const tool = (text, title, act) =>
      el("button", {type: "button", title, "aria-label": title, onclick: act}, text);
    const list = `names-${count += 1}`;
    this.names = el("datalist", {id: list});
    this.search = el("input", {
      type: "search", list, placeholder: "find a variable", "aria-label": "find a variable", hidden: true,
      onchange: () => this.find(this.search.value),
    });
    return el("div.tools", {}, this.search, this.names,
      tool("+", "closer", () => this.zoom(1.25)),
      tool("−", "farther", () => this.zoom(0.8)),
      tool("▢", "all of it", () => this.fit()));
  }

  /** Draw a picture as the server gives it; the view stays if the nodes stay. */
  draw(picture, names = picture.nodes.map(n => n.name)) {
    const stays = this.picture && picture.nodes.length === this.picture.nodes.length;
    this.picture = picture;
    this.nodes.clear();
    this.arcs = picture.arcs.map(arc => ({...arc, made: this.arc(arc)}));
    for (const node of picture.nodes) this.nodes.set(node.name, {...node, made: this.node(node)});
    this.world.replaceChildren(...this.arcs.map(a => a.made), ...[...this.nodes.values()].map(n => n.made),
      ...this.weights(picture));
    this.search.hidden = names.length <= FEW;
    this.names.replaceChildren(...names.map(n => el("option", {value: n})));
    if (!this.view || !stays) this.fit();
  }

  /** Go to the variable whose name begins so, or has this in it. */
  find(text) {
    const low = text.trim().toLowerCase(), names = [...this.names.options].map(o => o.value);
    if (!low) return this.unfade();
    const name = names.find(n => n.toLowerCase() === low) ?? names.find(n => n.toLowerCase().startsWith(low))
      ?? names.find(n => n.toLowerCase().includes(low));
    if (!name) return undefined;
    this.search.value = name;
    if (this.nodes.has(name)) this.focus(name);
    return this.onNode?.(name);
  }

  arc(arc) {
    const known = arc.strength !== null && arc.strength !== undefined;
    const {shaft, head} = arrowhead(arc.points, 7 + 4 * (arc.strength ?? 0.1));
    const d = `M${shaft[0]}C${shaft.slice(1).map(p => p.join(",")).join(" ")}`;
    const words = `${arc.parent} → ${arc.child}${arc.words ? `: ${arc.words}` : ""}`;
    const looks = ["arc", arc.look, arc.fixed === false ? "open" : "", known ? "graded" : ""];
    const choose = () => this.onArc?.(arc);
    const acts = this.onArc
      ? {tabindex: 0, role: "button", "aria-label": words, onclick: choose, onkeydown: press(choose)} : {};
    const made = svg(`g.${looks.filter(Boolean).join(".")}`, acts,
      svg("title", {}, words), svg("path.hit", {d}),
      svg("path.line", {d, "stroke-width": known ? 1 + 4.5 * Math.sqrt(arc.strength) : 1.6}),
      svg("path.head", {d: `M${head.map(p => p.join(",")).join("L")}Z`}));
    if (known) made.style.setProperty("--strength", `${Math.round(100 * Math.sqrt(arc.strength))}%`);
    return made;
  }

  /** The weights of arcs beside them, where nothing else is. */
  weights({arcs, nodes}) {
    const taken = [], weighted = arcs.filter(a => a.weight !== null && a.weight !== undefined);
    return weighted.map(({points, weight}) => {
      const [x, y] = placeForText(points, nodes, taken);
      taken.push([x, y]);
      return svg("text.weight", {x: x + 3, y: y + 4}, `${weight < 0 ? "−" : ""}${Math.abs(weight).toFixed(2)}`);
    });
  }

  node(node) {
    const left = node.x - node.width / 2, top = node.y - node.height / 2, tall = node.height > HEAD + 1;
    const choose = () => this.onNode?.(node.name);
    const kind = node.states ? `, ${node.states.length} states` : ", a number";
    const about = `${node.name}${node.hidden ? ", hidden" : ""}${kind}`;
    const made = svg(`g.node${node.hidden ? ".hidden-variable" : ""}`, {
      tabindex: 0, role: "button", "aria-label": about, "data-name": node.name,
      onclick: choose, onkeydown: press(choose),
    },
    svg("title", {}, about),
    svg("rect.box", {x: left, y: top, width: node.width, height: node.height, rx: 8}),
    svg("text", {x: node.x, y: tall ? top + 19 : node.y + 4.5}, node.label,
      node.caption ? svg("tspan.caption", {dx: 6}, node.caption) : null));
    if (!tall) return made;
    if (!node.states) made.append(...this.curve(node));
    const shown = (node.states ?? []).slice(0, MOST_BARS);
    shown.forEach((state, i) => made.append(this.state(node, state, i, left, top)));
    return made;
  }

  state(node, state, i, left, top) {
    const y = top + HEAD - 3 + LINE * i, wide = node.width - 112;
    const choose = event => { event.stopPropagation(); this.onState?.(node.name, i); };
    const short = state.length > 9 ? `${state.slice(0, 8)}…` : state;
    return svg("g.state", {onclick: choose, "data-state": i, "data-wide": wide},
      svg("title", {}, `${node.name} = ${state}`),
      svg("rect.back", {x: left + 2, y, width: node.width - 4, height: LINE, rx: 3}),
      svg("text", {x: left + 7, y: y + 11}, short),
      svg("rect.was", {x: left + 68, y: y + 10, width: 0, height: 3}),
      svg("rect.is", {x: left + 68, y: y + 2.5, width: 0, height: 7}),
      svg("text.p", {x: left + node.width - 6, y: y + 11}));
  }

  /** Room for the density of a number, as it is and as it was. */
  curve(node) {
    const {left, top, wide, tall} = curveBox(node, HEAD), base = top + tall;
    return [
      svg("line.base", {x1: left, x2: left + wide, y1: base, y2: base}),
      svg("path.was"), svg("path.is"), svg("line.at"),
      svg("text.value", {x: node.x, y: node.y + node.height / 2 - 5}),
    ];
  }

  /** Show beliefs (`{name: {p}}`), beside those from before; mark what is known and what was done. */
  beliefs(now, before, known = {}, done = {}) {
    for (const [name, node] of this.nodes) {
      node.made.classList.toggle("known", name in known);
      node.made.classList.toggle("done", name in done);
      const told = now[name], q = before?.[name]?.p;
      const value = node.made.querySelector(".value");
      if (value && told) drawCurve(node, curveBox(node, HEAD), told, before?.[name]);
      for (const line of told?.p ? node.made.querySelectorAll(".state") : []) {
        const i = Number(line.dataset.state), wide = Number(line.dataset.wide);
        line.querySelector(".is").setAttribute("width", Math.max(0, wide * told.p[i]));
        line.querySelector(".was").setAttribute("width", q ? Math.max(0, wide * q[i]) : 0);
        line.querySelector(".p").textContent = percent(told.p[i]);
        line.classList.toggle("seen", known[name] === i || done[name] === i);
      }
    }
  }

  choose(name) {
    for (const [other, node] of this.nodes) node.made.classList.toggle("chosen", other === name);
  }

  /** Bring a node to the middle, and fade what is not near it. */
  focus(name, fade = true) {
    const node = this.nodes.get(name);
    if (!node) return;
    const near = new Set([name, ...node.parents, ...node.children]);
    for (const [other, n] of this.nodes) n.made.classList.toggle("faded", fade && !near.has(other));
    for (const a of this.arcs) {
      a.made.classList.toggle("faded", fade && a.parent !== name && a.child !== name);
    }
    this.untouched = false;
    const {width, height} = this.size(), scale = Math.max(this.view.scale, 0.9);
    this.look({scale, x: width / 2 - scale * node.x, y: height / 2 - scale * node.y});
  }

  unfade() {
    for (const made of this.world.querySelectorAll(".faded")) made.classList.remove("faded");
  }

  size() {
    const box = this.svg.getBoundingClientRect();
    return {width: box.width || 600, height: box.height || 400};
  }

  fit() {
    this.untouched = true;
    this.unfade();
    const {width, height} = this.size(), {picture} = this;
    const scale = Math.min(1.15, (width - 2 * MARGIN) / Math.max(picture.width, 1),
      (height - 2 * MARGIN) / Math.max(picture.height, 1));
    this.look({
      scale, x: (width - scale * picture.width) / 2, y: (height - scale * picture.height) / 2,
    });
  }

  look(view) {
    this.view = view;
    const {x, y, scale} = view;
    this.world.setAttribute(
      "transform", `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${scale.toFixed(4)})`);
  }

  zoom(by, at = null) {
    this.untouched = false;
    const {width, height} = this.size(), [cx, cy] = at ?? [width / 2, height / 2];
    const scale = Math.min(4, Math.max(0.02, this.view.scale * by)), k = scale / this.view.scale;
    this.look({scale, x: cx - k * (cx - this.view.x), y: cy - k * (cy - this.view.y)});
  }

  move(dx, dy) {
    this.untouched = false;
    this.look({...this.view, x: this.view.x + dx, y: this.view.y + dy});
  }
}

const press = act => event => {
  if (event.key !== "Enter" && event.key !== " ") return;
  event.preventDefault();
  event.stopPropagation();
  act(event);
};

/** A curve cut short for its arrowhead, and the head: a triangle in the curve's last direction. */
function arrowhead(points, size) {
  const end = points.at(-1), before = points.at(-2);
  const long = Math.hypot(end[0] - before[0], end[1] - before[1]) || 1;
  const ux = (end[0] - before[0]) / long, uy = (end[1] - before[1]) / long;
  const foot = [end[0] - ux * size, end[1] - uy * size], half = size * 0.45;
  const sides = [[foot[0] - uy * half, foot[1] + ux * half], [foot[0] + uy * half, foot[1] - ux * half]];
  return {shaft: [...points.slice(0, -1), foot], head: [end, ...sides]};
}
