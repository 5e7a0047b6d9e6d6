// The playground: say what is known, and see everything else move.

import {button, call, complain, el, find, number, pageData, percent, table} from "./common.js";
import {inNumbers} from "./curves.js";
import {LargeGraph} from "./large.js";
import {panel} from "./panel.js";

const {analysis} = pageData();
const which = find("#which"), MOST_COMPARED = 15, APART = 5e-4;
const HELP = "Click a state to say that it was seen; click it again to take it back. Click a name to say more: "
  + "a number, what was done, what was only heard.";
let graph, nodes = new Map(), before = null, now = null, chosen = null, saved = null, asked = 0;
const known = {given: {}, likely: {}, do: {}};

if (which) {
  const wanted = new URLSearchParams(location.search).get("job");
  if (wanted && [...which.options].some(o => o.value === wanted)) which.value = wanted;
  which.addEventListener("change", load);
  find("#clear").addEventListener("click", () => { forgetAll(); ask(); });
  find("#explain").addEventListener("click", explain);
  find("#keep").addEventListener("click", () => {
    if (!now) return;
    saved = {words: inWords(), beliefs: now.beliefs};
    compare();
  });
  load();
}

function base() { return `/a/${analysis.id}/jobs/${which.value}`; }

function forgetAll() { Object.assign(known, {given: {}, likely: {}, do: {}}); }

async function load() {
  forgetAll();
  before = now = chosen = saved = null;
  try {
    const options = {label: "the network with its beliefs", onNode: choose, onState: see};
    graph = new LargeGraph(find("#graph"), options, drawn);
    const [told, all] = await Promise.all([
      call("POST", `${base()}/ask`, {}), graph.load(`${base()}/picture?bars=true`),
    ]);
    nodes = new Map(all.map(n => [n.name, n]));
    before = told.beliefs;
    await ask();
  } catch (error) {
    complain(find("#graph"), error);
  }
}

function drawn() {
  if (now) graph.graph.beliefs(now.beliefs, before, known.given, known.do);
}

/** Ask with what is known; of several answers, the last question's counts. */
async function ask() {
  const mine = asked += 1;
  try {
    const told = await call("POST", `${base()}/ask`, known);
    if (mine !== asked) return;
    now = told;
    drawn();
    find("#known").textContent = inWords() || HELP;
    find("#explanation").replaceChildren();
    if (chosen) show();
    compare();
  } catch (error) {
    if (mine === asked) find("#known").replaceChildren(el("span.notice", {role: "alert"}, error.message));
  }
}

function inWords() {
  const state = (n, i) => `${n} = ${nodes.get(n).states ? nodes.get(n).states[i] : number(i)}`;
  const parts = [
    ...Object.entries(known.given).map(([n, i]) => `seen: ${state(n, i)}`),
    ...Object.entries(known.do).map(([n, i]) => `done: ${state(n, i)}`),
    ...Object.keys(known.likely).map(n => `${n}: soft evidence`),
  ];
  const log = now?.log_probability;
  const rarely = parts.length && log !== null && log !== undefined
    ? `. Probability of all that: ${number(Math.exp(log), 3)}` : "";
  return parts.join("; ") + rarely;
}

const clear = name => { for (const kind of Object.values(known)) delete kind[name]; };

/** Say that a variable was seen in a state, or set to it; said again, it is taken back. */
function say(kind, name, value, stays = false) {
  const same = known[kind][name] === value && !stays;
  clear(name);
  if (!same) known[kind][name] = value;
  if (before) ask();  // else it is asked when the first answer is there
}

function see(name, i) { say("given", name, i); }

function choose(name) {
  chosen = name;
  if (graph.lacks(name)) graph.around(name);
  graph.graph.choose(name);
  show();
}

function show() {
  if (!now) return;  // the first answer is still on its way
  panel(find("#panel"), {
    node: nodes.get(chosen), now: now.beliefs[chosen], before: before[chosen], known, say,
    soften(values) {
      clear(chosen);
      if (values.some(v => v > 0) && values.some(v => v !== values[0])) known.likely[chosen] = values;
      ask();
    },
    unknown() { clear(chosen); ask(); },
    question: more => call("POST", `${base()}/ask`, {...known, target: chosen, ...more}),
    choose, around: () => graph.around(chosen), everything: () => graph.everything(),
  });
}

async function explain() {
  const place = find("#explanation");
  try {
    const {explanation} = await call("POST", `${base()}/ask`, {...known, explain: true});
    const states = Object.entries(explanation.states);
    place.replaceChildren(
      el("h2", {}, explanation.probability === null ? "Most probable altogether"
        : `Most probable altogether (probability ${number(explanation.probability, 3)})`),
      el("p.columns", {}, states.map(([n, s]) => el("span", {}, el("strong", {}, n), ` = ${s}`))),
      button("Close", () => place.replaceChildren(), "small"));
  } catch (error) {
    complain(place, error);
  }
}

/** Scenario A beside what is known now, the variables that differ most first. */
function compare() {
  const place = find("#scenarios");
  if (!saved) return place.replaceChildren();
  const side = (belief, n) => belief.p
    ? nodes.get(n).states.map((s, i) => `${s} ${percent(belief.p[i])}`).join(", ") : inNumbers(belief);
  const rows = [...nodes.keys()].map(n => [n, apart(saved.beliefs[n], now.beliefs[n])])
    .filter(([, d]) => d > APART).sort((a, b) => b[1] - a[1]).slice(0, MOST_COMPARED);
  const row = ([n]) => [n, side(saved.beliefs[n], n), side(now.beliefs[n], n)];
  const body = rows.length ? table(["variable", "A", "now"], rows.map(row))
    : el("p", {}, "No difference yet: change what is known.");
  return place.replaceChildren(el("h2", {}, "Scenario A beside now"),
    el("p.muted", {}, `A: ${saved.words || "nothing known"}`), body);
}

/** How far apart two beliefs are: total variation, or the distance of the means in deviations. */
function apart(a, b) {
  if (a.p) return a.p.reduce((sum, p, i) => sum + Math.abs(p - b.p[i]), 0) / 2;
  return Math.abs(a.mean - b.mean) / Math.max(a.deviation, b.deviation, 1e-12);
}
