// A network on the page: nodes and arcs to look at, click, search and walk through by keyboard.

import {el, percent, svg} from "./common.js";

const MARGIN = 24, LINE = 15, HEAD = 30, MOST_BARS = 5, MANY = 60;

export class Graph {
  /** `onNode(name)`, `onArc(arc)`, `onState(name, index)` are called when something is chosen. */
  constructor(place, {caption = "", label = "network", onNode = null, onArc = null, onState = null} = {}) {
    Object.assign(this, {onNode, onArc, onState, nodes: new Map(), arcs: []});
    this.world = svg("g");
    this.svg = svg("svg", {role: "application", "aria-label": `${label}: move with the arrow keys, zoom with plus and minus, all with 0`, tabindex: 0}, this.world);
    const tool = (text, title, act) => el("button", {type: "button", title, "aria-label": title, onclick: act}, text);
    this.frame = el("figure.graph", {}, this.svg,
      el("div.tools", {}, tool("+", "closer", () => this.zoom(1.25)), tool("−", "farther", () => this.zoom(0.8)), tool("▢", "all of it", () => this.fit())),
      caption ? el("figcaption", {}, caption) : null);
    place.append(this.frame);
    this.untouched = true;
    new ResizeObserver(() => { if (this.picture && this.untouched) this.fit(); }).observe(this.svg);
    this.listen();
  }

  /** Draw a picture as the server gives it; the view stays if there was one. */
  draw(picture) {
    this.picture = picture;
    this.nodes.clear();
    this.arcs = picture.arcs.map(arc => ({...arc, made: this.arc(arc)}));
    for (const node of picture.nodes) this.nodes.set(node.name, {...node, made: this.node(node)});
    this.world.replaceChildren(...this.arcs.map(a => a.made), ...[...this.nodes.values()].map(n => n.made));
    if (!this.view) this.fit();
    if (picture.nodes.length > MANY && !this.centre) this.fit();
  }

  arc(arc) {
    const points = arc.points.map(([x, y]) => [x, y]);
    const {shaft, head} = arrowhead(points, 7 + 4 * (arc.strength ?? 0.1));
    const d = `M${shaft[0]}C${shaft.slice(1).map(p => p.join(",")).join(" ")}`;
    const words = `${arc.parent} → ${arc.child}${arc.words ? `: ${arc.words}` : ""}`;
    const classes = ["arc", arc.look, arc.fixed === false ? "open" : ""].filter(Boolean).join(".");
    const choose = () => this.onArc?.(arc);
    return svg(`g.${classes}`, this.onArc ? {tabindex: 0, role: "button", "aria-label": words, onclick: choose, onkeydown: press(choose)} : {},
      svg("title", {}, words), svg("path.hit", {d}),
      svg("path.line", {d, "stroke-width": arc.strength === null || arc.strength === undefined ? 1.6 : 1 + 4.5 * Math.sqrt(arc.strength)}),
      svg("path.head", {d: `M${head.map(p => p.join(",")).join("L")}Z`}));
  }

  node(node) {
    const left = node.x - node.width / 2, top = node.y - node.height / 2, tall = node.height > HEAD + 1;
    const choose = () => this.onNode?.(node.name);
    const about = `${node.name}${node.hidden ? ", hidden" : ""}${node.states ? `, ${node.states.length} states` : ", a number"}`;
    const made = svg(`g.node${node.hidden ? ".hidden-variable" : ""}`, {tabindex: 0, role: "button", "aria-label": about, "data-name": node.name, onclick: choose, onkeydown: press(choose)},
      svg("title", {}, about),
      svg("rect.box", {x: left, y: top, width: node.width, height: node.height, rx: 8}),
      svg("text", {x: node.x, y: tall ? top + 19 : node.y + 4.5}, node.label));
    if (tall && node.states) node.states.slice(0, MOST_BARS).forEach((state, i) => made.append(this.state(node, state, i, left, top)));
    return made;
  }

  state(node, state, i, left, top) {
    const y = top + HEAD - 3 + LINE * i, wide = node.width - 108;
    const choose = event => { event.stopPropagation(); this.onState?.(node.name, i); };
    const short = state.length > 10 ? `${state.slice(0, 9)}…` : state;
    return svg("g.state", {onclick: choose, "data-state": i, "data-wide": wide},
      svg("title", {}, `${node.name} = ${state}`),
      svg("rect.back", {x: left + 2, y, width: node.width - 4, height: LINE, rx: 3}),
      svg("text", {x: left + 7, y: y + 11}, short),
      svg("rect.was", {x: left + 68, y: y + 3, width: 0, height: 9, rx: 1.5}),
      svg("rect.is", {x: left + 68, y: y + 4.5, width: 0, height: 6, rx: 1.5}),
      svg("text.p", {x: left + node.width - 5, y: y + 11}, ""));
  }

  /** Show beliefs (`{name: {p}}`), beside those from before; mark what is known and what was done. */
  beliefs(now, before, known = {}, done = {}) {
    for (const [name, node] of this.nodes) {
      node.made.classList.toggle("known", name in known);
      node.made.classList.toggle("done", name in done);
      const p = now[name]?.p, q = before?.[name]?.p;
      for (const line of node.made.querySelectorAll(".state")) {
        const i = Number(line.dataset.state), wide = Number(line.dataset.wide);
        if (!p) continue;
        line.querySelector(".is").setAttribute("width", Math.max(0, wide * p[i]));
        line.querySelector(".was").setAttribute("width", q ? Math.max(0, wide * q[i]) : 0);
        line.querySelector(".p").textContent = percent(p[i]);
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
    if (!node) return false;
    const near = new Set([name, ...node.parents, ...node.children]);
    for (const [other, n] of this.nodes) n.made.classList.toggle("faded", fade && !near.has(other));
    for (const a of this.arcs) a.made.classList.toggle("faded", fade && a.parent !== name && a.child !== name);
    this.centre = name;
    this.untouched = false;
    const {width, height} = this.size();
    const scale = Math.max(this.view.scale, 0.9);
    this.look({scale, x: width / 2 - scale * node.x, y: height / 2 - scale * node.y});
    return true;
  }

  unfade() {
    for (const made of this.world.querySelectorAll(".faded")) made.classList.remove("faded");
    this.centre = null;
  }

  size() {
    const box = this.svg.getBoundingClientRect();
    return {width: box.width || 600, height: box.height || 400};
  }

  fit() {
    this.untouched = true;
    this.unfade();
    const {width, height} = this.size(), {picture} = this;
    const scale = Math.min(1.15, (width - 2 * MARGIN) / Math.max(picture.width, 1), (height - 2 * MARGIN) / Math.max(picture.height, 1));
    this.look({scale, x: (width - scale * picture.width) / 2, y: (height - scale * picture.height) / 2});
  }

  look(view) {
    this.view = view;
    this.world.setAttribute("transform", `translate(${view.x.toFixed(1)} ${view.y.toFixed(1)}) scale(${view.scale.toFixed(4)})`);
  }

  zoom(by, at = null) {
    this.untouched = false;
    const {width, height} = this.size(), [cx, cy] = at ?? [width / 2, height / 2];
    const scale = Math.min(4, Math.max(0.02, this.view.scale * by)), k = scale / this.view.scale;
    this.look({scale, x: cx - k * (cx - this.view.x), y: cy - k * (cy - this.view.y)});
  }

  move(dx, dy) { this.untouched = false; this.look({...this.view, x: this.view.x + dx, y: this.view.y + dy}); }

  listen() {
    const pointers = new Map();
    let apart = 0, moved = 0;
    this.svg.addEventListener("pointerdown", event => { pointers.set(event.pointerId, event); moved = 0; });
    this.svg.addEventListener("pointermove", event => {
      const last = pointers.get(event.pointerId);
      if (!last) return;
      const dx = event.clientX - last.clientX, dy = event.clientY - last.clientY;
      pointers.set(event.pointerId, event);
      if (pointers.size === 1) { moved += Math.abs(dx) + Math.abs(dy); if (moved > 4) { this.svg.setPointerCapture(event.pointerId); this.move(dx, dy); } return; }
      const [a, b] = [...pointers.values()], now = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
      if (apart) this.zoom(now / apart);
      apart = now;
    });
    const up = event => { pointers.delete(event.pointerId); apart = 0; };
    this.svg.addEventListener("pointerup", up);
    this.svg.addEventListener("pointercancel", up);
    this.svg.addEventListener("wheel", event => {
      if (!event.ctrlKey && !event.metaKey && !event.shiftKey && document.activeElement !== this.svg) return;
      event.preventDefault();
      const box = this.svg.getBoundingClientRect();
      this.zoom(Math.exp(-event.deltaY / 400), [event.clientX - box.left, event.clientY - box.top]);
    }, {passive: false});
    const keys = {"+": () => this.zoom(1.2), "=": () => this.zoom(1.2), "-": () => this.zoom(0.83), 0: () => this.fit(), ArrowLeft: () => this.move(40, 0), ArrowRight: () => this.move(-40, 0), ArrowUp: () => this.move(0, 40), ArrowDown: () => this.move(0, -40)};
    this.svg.addEventListener("keydown", event => { if (keys[event.key]) { event.preventDefault(); keys[event.key](); } });
  }
}

const press = act => event => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); event.stopPropagation(); act(event); } };

/** A curve cut short for its arrowhead, and the head: a triangle in the curve's last direction. */
function arrowhead(points, size) {
  const end = points.at(-1), before = points.at(-2);
  const long = Math.hypot(end[0] - before[0], end[1] - before[1]) || 1;
  const ux = (end[0] - before[0]) / long, uy = (end[1] - before[1]) / long;
  const foot = [end[0] - ux * size, end[1] - uy * size], half = size * 0.45;
  const shaft = [...points.slice(0, -1), foot];
  return {shaft, head: [end, [foot[0] - uy * half, foot[1] + ux * half], [foot[0] + uy * half, foot[1] - ux * half]]};
}
