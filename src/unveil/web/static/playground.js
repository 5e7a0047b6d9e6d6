// The playground: say what is known, and see everything else move.

import {bars, call, complain, el, find, number, pageData, percent, table} from "./common.js";
import {Graph} from "./graph.js";

const {analysis} = pageData();
const which = find("#which");
let graph, nodes = new Map(), before = null, now = null, chosen = null, saved = null, asked = 0;
const known = {given: {}, likely: {}, do: {}};

if (which) {
  const wanted = new URLSearchParams(location.search).get("job");
  if (wanted && [...which.options].some(o => o.value === wanted)) which.value = wanted;
  which.addEventListener("change", load);
  find("#clear").addEventListener("click", () => { known.given = {}; known.likely = {}; known.do = {}; ask(); });
  find("#keep").addEventListener("click", () => { saved = {words: inWords(), beliefs: now.beliefs}; compare(); });
  find("#find").addEventListener("change", event => { if (nodes.has(event.target.value)) { graph.focus(event.target.value); choose(event.target.value); } else { graph.unfade(); } });
  load();
}

function base() { return `/a/${analysis.id}/jobs/${which.value}`; }

async function load() {
  Object.assign(known, {given: {}, likely: {}, do: {}});
  before = chosen = saved = null;
  find("#graph").replaceChildren();
  try {
    const {after} = await call("GET", `${base()}/picture?bars=true`);
    nodes = new Map(after.nodes.map(n => [n.name, n]));
    find("#names").replaceChildren(...[...nodes.keys()].map(n => el("option", {value: n})));
    graph = new Graph(find("#graph"), {label: "the network with its beliefs", onNode: choose, onState: see});
    graph.draw(after);
    before = (await call("POST", `${base()}/ask`, {})).beliefs;
    await ask();
  } catch (error) {
    complain(find("#graph"), error);
  }
}

async function ask() {
  const turn = ++asked;
  try {
    const told = await call("POST", `${base()}/ask`, known);
    if (turn !== asked) return; // a later question was answered first
    now = told;
    graph.beliefs(now.beliefs, before, known.given, known.do);
    find("#known").textContent = inWords() || "Click a state to say that it was seen. Click it again to take it back.";
    if (chosen) panel();
    compare();
  } catch (error) {
    find("#known").replaceChildren(el("span.notice", {role: "alert"}, error.message));
  }
}

function inWords() {
  const state = (n, i) => `${n} = ${nodes.get(n).states ? nodes.get(n).states[i] : number(i)}`;
  const parts = [...Object.entries(known.given).map(([n, i]) => `seen: ${state(n, i)}`), ...Object.entries(known.do).map(([n, i]) => `done: ${state(n, i)}`), ...Object.keys(known.likely).map(n => `${n}: soft evidence`)];
  return parts.join("; ") + (parts.length && now?.log_probability !== null && now?.log_probability !== undefined ? `. Probability of all that: ${number(Math.exp(now.log_probability), 3)}` : "");
}

function see(name, i) {
  const same = known.given[name] === i;
  clear(name);
  if (!same) known.given[name] = i;
  ask();
}

function clear(name) { for (const kind of Object.values(known)) delete kind[name]; }

function choose(name) {
  chosen = name;
  graph.choose(name);
  panel();
}

function panel() {
  const node = nodes.get(chosen), belief = now.beliefs[chosen], place = find("#panel");
  const say = (kind, words) => i => el("button.button.small", {type: "button", onclick: () => { const same = known[kind][chosen] === i; clear(chosen); if (!same) known[kind][chosen] = i; ask(); }}, words);
  const seen = say("given", "seen"), done = say("do", "do");
  const parts = [el("h2", {}, `${chosen}${node.hidden ? " (hidden)" : ""}`)];
  if (belief.p) {
    parts.push(bars(node.states, belief.p, before[chosen].p, i => [seen(i), done(i)]), soft(node), reasons());
  } else {
    const value = el("input", {type: "number", step: "any", value: number(belief.mean)});
    const set = kind => el("button.button.small", {type: "button", onclick: () => { clear(chosen); known[kind][chosen] = Number(value.value); ask(); }}, kind === "given" ? "seen" : "do");
    parts.push(el("p", {}, `mean ${number(belief.mean)}, standard deviation ${number(belief.deviation)} (before: ${number(before[chosen].mean)}, ${number(before[chosen].deviation)})`), el("p", {}, value, set("given"), set("do"), el("button.button.small", {type: "button", onclick: () => { clear(chosen); ask(); }}, "unknown")));
  }
  parts.push(el("p", {}, el("button.button.small", {type: "button", onclick: () => graph.focus(chosen)}, "its neighbourhood"), el("button.button.small", {type: "button", onclick: () => graph.fit()}, "everything"), el("button.button.small", {type: "button", onclick: explain}, "most probable explanation")),
    el("p.muted", {}, "Seen: you found out. Do: somebody set it, whatever its causes say; its causes then stay as they were. ", el("a", {href: "/library/asking"}, "More")));
  place.replaceChildren(...parts);
}

/** Soft evidence: how likely what was heard is, in each state. */
function soft(node) {
  const now = known.likely[node.name] ?? node.states.map(() => 1);
  const inputs = node.states.map((s, i) => el("input", {type: "range", min: 0, max: 1, step: 0.05, value: now[i], "aria-label": `how likely in state ${s}`}));
  const use = () => { const values = inputs.map(x => Number(x.value)); clear(node.name); if (values.some(v => v > 0) && values.some(v => v !== values[0])) known.likely[node.name] = values; ask(); };
  inputs.forEach(x => x.addEventListener("change", use));
  return el("details", node.name in known.likely ? {open: true} : {}, el("summary", {}, "Heard, but not sure"), el("p.muted", {}, "How likely is what you heard in each state?"), el("table.bars", {}, node.states.map((s, i) => el("tr", {}, el("td", {}, s), el("td", {}, inputs[i])))));
}

function reasons() {
  const place = el("div");
  const run = async kind => {
    try {
      const told = await call("POST", `${base()}/ask`, {...known, target: chosen, [kind]: true});
      const best = now.beliefs[chosen].p.indexOf(Math.max(...now.beliefs[chosen].p)), state = nodes.get(chosen).states[best];
      place.replaceChildren(kind === "why"
        ? told.why.length ? table(["finding", "bits", `P(${state}) without it`, "with it"], told.why.map(w => [`${w.finding} = ${w.value}`, w.bits, percent(w.without_it[best]), percent(w.with_it[best])])) : el("p.muted", {}, "Nothing is known yet, so nothing pushes.")
        : table(["ask next", "bits it tells"], told.next.map(n => [el("button.button.small", {type: "button", onclick: () => { graph.focus(n.name, false); choose(n.name); }}, n.name), n.bits])));
    } catch (error) {
      complain(place, error);
    }
  };
  return el("div", {}, el("p", {}, el("button.button.small", {type: "button", onclick: () => run("why")}, "Why?"), el("button.button.small", {type: "button", onclick: () => run("next")}, "What to ask next?")), place);
}

async function explain() {
  try {
    const {explanation} = await call("POST", `${base()}/ask`, {...known, explain: true});
    find("#panel").append(el("h3", {}, `Most probable altogether (probability ${number(explanation.probability, 3)})`), el("ul", {}, Object.entries(explanation.states).map(([n, s]) => el("li", {}, `${n} = ${s}`))));
  } catch (error) {
    complain(find("#panel"), error);
  }
}

/** Scenario A beside what is known now, the variables that differ most first. */
function compare() {
  const place = find("#scenarios");
  if (!saved) return place.replaceChildren();
  const apart = n => saved.beliefs[n].p ? saved.beliefs[n].p.reduce((sum, p, i) => sum + Math.abs(p - now.beliefs[n].p[i]), 0) / 2 : Math.abs(saved.beliefs[n].mean - now.beliefs[n].mean);
  const rows = [...nodes.keys()].map(n => [n, apart(n)]).filter(([, d]) => d > 5e-4).sort((a, b) => b[1] - a[1]).slice(0, 15);
  const side = (b, n) => b[n].p ? nodes.get(n).states.map((s, i) => `${s} ${percent(b[n].p[i])}`).join(", ") : number(b[n].mean);
  place.replaceChildren(el("h2", {}, "Scenario A beside now"), el("p.muted", {}, `A: ${saved.words || "nothing known"}`), rows.length ? table(["variable", "A", "now"], rows.map(([n]) => [n, side(saved.beliefs, n), side(now.beliefs, n)])) : el("p", {}, "No difference yet: change what is known."));
}
