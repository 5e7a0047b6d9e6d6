// The search for dependences, and what a person knows beforehand.

import {button, complain, el, find, notes, number, pageData, table, times} from "./common.js";
import {showResult, start, watch} from "./job.js";
import {LargeGraph} from "./large.js";
import {offerResults} from "./results.js";

const {analysis, job} = pageData();
const form = find("#settings"), place = find("#job"), KINDS = ["required", "forbidden"], MOST_ARCS = 25;
const wishes = {required: [], forbidden: [], tiers: []};
let graph = null, current = null, names = [];

form.addEventListener("submit", event => { event.preventDefault(); search(); });
find("#tiers").addEventListener("submit", event => {
  event.preventDefault();
  const tiers = event.target.tiers.value.split(";").map(t => t.split(",").map(n => n.trim()).filter(Boolean));
  wishes.tiers = tiers.filter(t => t.length);
  showWishes();
});

if (job) watch(place, job, show);
else search();

function search() {
  const settings = {
    seconds: Number(form.seconds.value),
    equivalent_sample_size: Number(form.equivalent_sample_size.value),
    ...wishes,
  };
  start(place, "learn", settings, show);
}

async function show(told) {
  current = told;
  const {result, settings} = told;
  Object.assign(wishes, wishesOf(settings));
  find("#found").hidden = false;
  find("#arc").hidden = true;
  find("#to-playground").href = `/a/${analysis.id}/playground?job=${told.number}`;
  find("#headline").textContent = headline(result);
  find("#notes").replaceChildren(...notes(result.notes));
  showArcs(result.arcs, MOST_ARCS);
  offerResults("learn", told.number, n => showResult(place, n, show));
  try {
    graph ??= new LargeGraph(find("#graph"), {label: "the network", onArc: chooseArc, onNode: chooseNode});
    names = (await graph.load(`/a/${analysis.id}/jobs/${told.number}/picture`)).map(n => n.name);
  } catch (error) {
    complain(find("#graph"), error);
    graph = null;
  }
  showWishes();
}

function showArcs(arcs, most) {
  const row = a => [button(`${a.parent} → ${a.child}`, () => chooseArc(a), "small"), inWords(a),
    a.fixed ? "fixed by the data" : "open"];
  const shown = table(["arc", "what it is worth", "direction"], arcs.slice(0, most).map(row));
  const rest = arcs.length > most
    ? [button(`All ${arcs.length} arcs`, () => showArcs(arcs, Infinity), "small")] : [];
  find("#arcs").replaceChildren(shown, ...rest);
}

const wishesOf = ({required, forbidden, tiers}) => structuredClone({required, forbidden, tiers});

function headline({arcs, score_name, score, seconds}) {
  if (!arcs.length) return "No arc is worth its parameters: the columns look independent of each other.";
  const {parent, child} = arcs[0], many = arcs.length === 1 ? "1 arc" : `${arcs.length} arcs`;
  return `${many}; ${score_name} ${number(score, 8)} nats after ${number(seconds, 2)} s. `
    + `The strongest: ${parent} → ${child}.`;
}

const inWords = a => a.loss > 0
  ? `removing it makes the network ${times(a.loss)} times less probable` : "the network is no worse without it";

function wish(kind, pair) {
  const other = ([a, b]) => !(a === pair[0] && b === pair[1]) && !(a === pair[1] && b === pair[0]);
  for (const k of KINDS) wishes[k] = wishes[k].filter(other);
  wishes[kind].push(pair);
  showWishes();
  find("#wishes").scrollIntoView({block: "nearest"});
}

function chooseArc(arc) {
  const {parent, child} = arc, box = find("#arc");
  const worth = arc.loss === null || arc.loss === undefined ? arc.words : `${inWords(arc)}.`;
  box.hidden = false;
  box.replaceChildren(el("h2", {}, `${parent} → ${child}`),
    el("p", {}, `${worth[0].toUpperCase()}${worth.slice(1)} `,
      arc.fixed === false ? "It could point the other way: the data do not tell."
        : "Its direction follows from the data, if nothing is hidden."),
    button("Require it", () => wish("required", [parent, child])),
    button("Forbid it", () => wish("forbidden", [parent, child])),
    button("Turn it round", () => wish("required", [child, parent])));
}

/** A variable: its neighbourhood, and arcs that a person knows of. */
function chooseNode(name) {
  const box = find("#arc"), others = names.filter(n => n !== name);
  const other = el("select", {"aria-label": "another variable"}, others.map(n => el("option", {}, n)));
  if (graph.lacks(name)) graph.around(name);
  graph.graph.choose(name);
  box.hidden = false;
  box.replaceChildren(el("h2", {}, name),
    el("p", {}, button("Only its neighbourhood", () => graph.around(name)),
      button("Everything", () => graph.everything())),
    others.length ? el("p", {}, `An arc from ${name} to `, other, " ",
      button("Require it", () => wish("required", [name, other.value])),
      button("Forbid it", () => wish("forbidden", [name, other.value]))) : null);
}

function showWishes() {
  const line = (words, drop) =>
    el("li", {}, words, " ", button("take back", () => { drop(); showWishes(); }, "small"));
  const arcs = kind => wishes[kind].map(p => line(`${kind}: ${p[0]} → ${p[1]}`, () => {
    wishes[kind] = wishes[kind].filter(q => q !== p);
  }));
  const order = wishes.tiers.map(t => t.join(", ")).join(" before ");
  const tiers = order ? [line(`tiers: ${order}`, () => { wishes.tiers = []; })] : [];
  const changed = current && JSON.stringify(wishes) !== JSON.stringify(wishesOf(current.settings));
  const again = changed ? [el("li", {}, button("Search again with this", search, "main"))] : [];
  find("#wishes").replaceChildren(...arcs("required"), ...arcs("forbidden"), ...tiers, ...again);
}
