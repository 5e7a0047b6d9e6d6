// Hidden variables: the search, before and after, evidence and meaning.

import {
  bars, call, complain, el, find, notes, number, pageData, percent, profile, table, times,
} from "./common.js";
import {leaning} from "./charts.js";
import {Graph} from "./graph.js";
import {showResult, start, watch} from "./job.js";
import {numbersAsked, offerNumbers, onlyNumbers} from "./numbers.js";
import {offerResults} from "./results.js";
import {Wishes} from "./wishes.js";

const MOST_LINES = 14, MOST_VALUES = 8, MOST_LOADINGS = 40;
const {analysis, job} = pageData();
const form = find("#settings"), place = find("#job");
const wishes = new Wishes(search, true);
let names = {}, graphs = [];

offerNumbers(form, "discover");
fits();
form.cut.addEventListener("change", fits);
form.addEventListener("submit", event => { event.preventDefault(); search(); });
if (job) watch(place, job, show, live);

/** Show only what can be said of these columns. */
function fits() {
  const numbers = onlyNumbers(form);
  for (const id of ["#states", "#size", "#annealing", "#beforehand"]) find(id).hidden = numbers;
  form.max_hidden.placeholder = numbers ? 30 : 3;
}

function search() {
  const whole = input => input.value ? Number(input.value) : null;
  find("#found").hidden = true;
  find("#live").replaceChildren();
  const rest = onlyNumbers(form) ? {} : {
    n_states: whole(form.n_states), equivalent_sample_size: Number(form.equivalent_sample_size.value),
    anneal: form.anneal.value, ...wishes.settings,
  };
  start(place, "discover", {
    seconds: Number(form.seconds.value), max_hidden: whole(form.max_hidden),
    max_parents: whole(form.max_parents), ...numbersAsked(form), ...rest,
  }, show, live);
}

/** What was tried, as it is tried: the newest line first. */
function live({phase, detail, elapsed}) {
  if (!detail) return;
  const words = `${phase}: ${detail}`, list = find("#live");
  if (list.firstChild?.dataset.words === words) return;
  const line = el("li", {"data-words": words}, el("span.muted", {}, `${number(elapsed ?? 0, 3)} s `), words);
  list.prepend(line);
  while (list.children.length > MOST_LINES) list.lastChild.remove();
}

async function show(told) {
  const {result, settings} = told;
  wishes.take(settings);
  find("#found").hidden = false;
  find("#arc").hidden = true;
  find("#live").replaceChildren();
  find("#headline").textContent = result.headline;
  find("#notes").replaceChildren(...notes(result.notes));
  find("#to-playground").href = `/a/${analysis.id}/playground?job=${told.number}`;
  find("#to-report").href = `/api/a/${analysis.id}/jobs/${told.number}/files/report.html?show=true`;
  find("#straw").replaceChildren(table(["", "score (nats)", "bits per row on rows left out"], [
    ...(result.held_out === null ? [] : [["what was found", result.score, result.held_out]]),
    ...result.straw_men.map(s => [s.name, s.score, s.bits])]));
  find("#straw-part").hidden = result.held_out === null && !result.straw_men.length;
  find("#tried").replaceChildren(result.numbers ? triedNumbers(result) : tried(result));
  find("#to-rows").hidden = !result.hidden.length;
  offerResults("discover", told.number, n => showResult(place, n, show));
  await pictures(told);
  find("#variables").replaceChildren(...result.hidden.map(name => variable(name, result)));
}

const round = gain => gain === null ? null : Number(gain.toFixed(1));

function tried({tried: all}) {
  const rows = all.map(t => [t.round, t.children.join(", "), t.states, round(t.gain), t.verdict]);
  return table(["round", "behind", "states", "gain (nats)", "what became of it"], rows,
    k => all[k].kept ? "kept" : "");
}

function triedNumbers({tried: all}) {
  const rows = all.map(t => [t.how, t.hidden, t.arcs, round(t.gain)]);
  return table(["how it began", "hidden", "arcs", "gain (nats)"], rows, k => all[k].kept ? "kept" : "");
}

async function pictures(told) {
  const box = find("#pictures"), some = told.result.hidden.length > 0;
  box.replaceChildren();
  try {
    const {before, after} = await call("GET", `/a/${analysis.id}/jobs/${told.number}/picture`);
    names = Object.fromEntries(after.nodes.filter(n => n.states).map(n => [n.name, n.states]));
    const first = "Before: the network of the columns alone. Dashed arcs are gone afterwards.";
    const then = "After: hidden variables are dashed and golden. Orange arcs are new, blue ones were turned.";
    const caption = some ? then : "The network of the columns: no hidden variable was kept.";
    const acts = {onArc: chooseArc, onNode: chooseNode};
    graphs = some ? [new Graph(box, {label: "before", caption: first, ...acts})] : [];
    graphs.push(new Graph(box, {label: "after", caption, ...acts}));
    graphs.forEach((graph, i) => graph.draw([before, after].at(i - graphs.length)));
  } catch (error) {
    complain(box, error);
  }
}

/** An arc of either picture: what it is worth, and what a person knows of it. */
function chooseArc(arc) {
  const {parent, child} = arc, box = find("#arc"), columns = pageData().columns.names;
  const free = columns.includes(parent) && columns.includes(child) && !onlyNumbers(form);
  box.hidden = false;
  box.replaceChildren(el("h2", {}, `${parent} → ${child}`), arc.words ? el("p", {}, `${arc.words}.`) : "",
    ...(free ? wishes.arcActs(arc) : []));
}

function chooseNode(name) {
  const box = find("#arc"), column = pageData().columns.names.includes(name);
  for (const graph of graphs) graph.choose(name);
  box.hidden = false;
  box.replaceChildren(el("h2", {}, name), ...(column
    ? onlyNumbers(form) ? [] : wishes.columnActs(name).filter(Boolean)
    : [el("p", {}, "A hidden variable: its evidence and its meaning are below.")]));
}

function variable(name, result) {
  const proof = result.evidence[name], meaning = result.meaning?.[name];
  return el("section", {},
    el("h2", {}, `${name}: is it warranted?`),
    proof ? evidence(proof) : el("p", {}, "There was no time to gather evidence for it."),
    el("h2", {}, `${name}: what does it mean?`),
    ...(meaning ? meaning.profiles.map((p, s) => profile(p, values(meaning, s)))
      : [loadings(name, result.loadings[name])]));
}

/** What a continuous hidden variable does to its columns. */
function loadings(name, own) {
  const most = Math.max(...own.map(l => Math.abs(l.weight)), 1e-12), shown = own.slice(0, MOST_LOADINGS);
  const line = l => el("tr", {}, el("td.label", {title: l.child}, l.child),
    el("td.meter", {}, leaning(l.weight / most)), el("td.n", {}, number(l.weight, 3)),
    el("td.n", {}, number(l.bits, 2)));
  const head = ["column", "", "weight", "bits"].map((h, i) => el("th", {scope: "col", class: i > 1 ? "n" : ""}, h));
  const rest = own.length - shown.length;
  return el("div", {},
    el("p.muted", {}, `When ${name} rises by one of its standard deviations, a column moves by so many of its `
      + `own (weight); knowing ${name} saves so many bits per row about it. Scale, origin and sign of ${name} `
      + `are free: it has mean 0 and variance 1.${rest > 0 ? ` ${rest} weaker columns are in the report.` : ""}`),
    el("table.bars.loadings", {}, el("tr", {}, head), shown.map(line)));
}

function evidence(proof) {
  const [low, high] = proof.interval.map(x => number(x, 3));
  const saved = number(proof.held_out.bits, 3);
  return el("ul", {},
    el("li", {}, `With it the table is ${times(proof.gain)} times more probable (${number(proof.gain)} nats).`),
    el("li", {}, `On rows left out it saves ${saved} bits per row (95% interval ${low} to ${high}): `
      + `${proof.verdict}.`),
    proof.n_resamples ? el("li", {}, `In ${percent(proof.stability)} of ${proof.n_resamples} resampled `
      + "tables the score prefers it.") : null);
}

function values(meaning, state) {
  const shown = Object.keys(meaning.information).filter(n => n in meaning.values).slice(0, MOST_VALUES);
  const labels = (n, k) => names[n] ?? Array.from({length: k}, (_, i) => `state ${i + 1}`);
  const one = n => {
    const p = meaning.values[n][state];
    return [el("h3", {}, n), bars(labels(n, p.length), p, meaning.overall[n])];
  };
  return el("details", {}, el("summary", {}, "All values"), shown.map(one).flat());
}
