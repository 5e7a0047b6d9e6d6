// The search for dependences, and what a person knows beforehand.

import {button, complain, el, find, notes, number, pageData, table, times} from "./common.js";
import {showResult, start, watch} from "./job.js";
import {LargeGraph} from "./large.js";
import {numbersAsked, offerNumbers} from "./numbers.js";
import {offerResults} from "./results.js";
import {Wishes} from "./wishes.js";

const {analysis, job} = pageData();
const form = find("#settings"), place = find("#job"), MOST_ARCS = 25;
const SCORES = {bdeu: "BDeu", bic: "BIC"};
const wishes = new Wishes(search);
let graph = null;

offerNumbers(form, "learn");
form.addEventListener("submit", event => { event.preventDefault(); search(); });

if (job) watch(place, job, show);
else search();

function search() {
  const {max_parents: most} = form;
  start(place, "learn", {
    seconds: Number(form.seconds.value),
    equivalent_sample_size: Number(form.equivalent_sample_size.value),
    max_parents: most.value ? Number(most.value) : null,
    local: form.local.value,
    average: Number(form.average.value),
    anneal: form.anneal.value,
    ...numbersAsked(form),
    ...wishes.settings,
  }, show);
}

async function show(told) {
  const {result, settings} = told;
  wishes.take(settings);
  find("#found").hidden = false;
  find("#arc").hidden = true;
  find("#to-playground").href = `/a/${analysis.id}/playground?job=${told.number}`;
  find("#headline").textContent = headline(result);
  find("#notes").replaceChildren(...notes(result.notes));
  showArcs(result, MOST_ARCS);
  showLines(result);
  offerResults("learn", told.number, n => showResult(place, n, show));
  try {
    graph ??= new LargeGraph(find("#graph"), {label: "the network", onArc: chooseArc, onNode: chooseNode});
    await graph.load(`/a/${analysis.id}/jobs/${told.number}/picture`);
  } catch (error) {
    complain(find("#graph"), error);
    graph = null;
  }
}

function showArcs(result, most) {
  const {arcs, n_averaged: n = 0} = result, share = x => `${Math.round(100 * x)}%`;
  const row = a => [button(`${a.parent} → ${a.child}`, () => chooseArc(a), "small"), inWords(a),
    a.fixed ? "fixed by the data" : "open",
    ...(n ? [`${share(a.joined)}, ${share(a.this_way)} of them this way`] : [])];
  const head = ["arc", "what it is worth", "direction", ...(n ? [`joined in the best ${n} networks`] : [])];
  const shown = table(head, arcs.slice(0, most).map(row));
  const rest = arcs.length > most
    ? [button(`All ${arcs.length} arcs`, () => showArcs(result, Infinity), "small")] : [];
  find("#arcs").replaceChildren(shown, ...rest);
}

function headline({arcs, score_name, score, seconds}) {
  if (!arcs.length) return "No arc is worth its parameters: the columns look independent of each other.";
  const {parent, child} = arcs[0], many = arcs.length === 1 ? "1 arc" : `${arcs.length} arcs`;
  return `${many}; ${SCORES[score_name] ?? score_name} ${number(score, 8)} nats after ${number(seconds, 2)} s. `
    + `The strongest: ${parent} → ${child}.`;
}

const inWords = a => a.loss > 0
  ? `removing it makes the network ${times(a.loss)} times less probable` : "the network is no worse without it";

function chooseArc(arc) {
  const {parent, child} = arc, box = find("#arc");
  const worth = arc.loss === null || arc.loss === undefined ? arc.words : `${inWords(arc)}.`;
  box.hidden = false;
  box.replaceChildren(el("h2", {}, `${parent} → ${child}`),
    el("p", {}, `${worth[0].toUpperCase()}${worth.slice(1)} `,
      arc.fixed === false ? "It could point the other way: the data do not tell."
        : "Its direction follows from the data, if nothing is hidden."),
    ...wishes.arcActs(arc));
}

/** A variable: its neighbourhood, and what a person knows of it. */
function chooseNode(name) {
  const box = find("#arc");
  if (graph.lacks(name)) graph.around(name);
  graph.graph.choose(name);
  box.hidden = false;
  box.replaceChildren(el("h2", {}, name),
    el("p", {}, button("Only its neighbourhood", () => graph.around(name)),
      button("Everything", () => graph.everything())),
    ...wishes.columnActs(name).filter(Boolean));
}

/** Where columns are numbers: how much each line explains, and what it leaves. */
function showLines({checks = [], compact = {}}) {
  const rows = checks.map(c => [c.name, c.r_squared.toFixed(3), c.words,
    `${number(c.largest, 2)} deviations, row ${c.row}`]);
  find("#lines").hidden = !rows.length;
  find("#line-checks").replaceChildren(table(["column", "share explained (R²)", "what is left", "farthest off"], rows));
  const small = Object.entries(compact).map(([n, kind]) => `${n} as a ${kind}`);
  find("#compact").textContent = small.length ? `Compact distributions: ${small.join(", ")}.` : "";
  find("#weights-key").hidden = !rows.length;
}
