// Hidden variables: the search, before and after, evidence and meaning.

import {
  bars, call, complain, el, find, notes, number, pageData, percent, profile, table, times,
} from "./common.js";
import {Graph} from "./graph.js";
import {showResult, start, watch} from "./job.js";
import {offerResults} from "./results.js";

const MOST_LINES = 14, MOST_VALUES = 8;
const {analysis, job} = pageData();
const form = find("#settings"), place = find("#job");
let names = {};

form.addEventListener("submit", event => {
  event.preventDefault();
  find("#found").hidden = true;
  find("#live").replaceChildren();
  const settings = {
    seconds: Number(form.seconds.value),
    max_hidden: Number(form.max_hidden.value),
    equivalent_sample_size: Number(form.equivalent_sample_size.value),
  };
  start(place, "discover", settings, show, live);
});
if (job) watch(place, job, show, live);

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
  const {result} = told;
  find("#found").hidden = false;
  find("#live").replaceChildren();
  find("#headline").textContent = result.headline;
  find("#notes").replaceChildren(...notes(result.notes));
  find("#to-playground").href = `/a/${analysis.id}/playground?job=${told.number}`;
  find("#to-report").href = `/api/a/${analysis.id}/jobs/${told.number}/files/report.html?show=true`;
  find("#straw").replaceChildren(table(["", "score (nats)", "bits per row on rows left out"], [
    ...(result.held_out === null ? [] : [["what was found", null, result.held_out]]),
    ...result.straw_men.map(s => [s.name, s.score, s.bits])]));
  find("#straw-part").hidden = result.held_out === null && !result.straw_men.length;
  const tried = result.tried.map(t =>
    [t.round, t.children.join(", "), t.states, t.gain === null ? null : Number(t.gain.toFixed(1)), t.verdict]);
  find("#tried").replaceChildren(table(["round", "behind", "states", "gain (nats)", "what became of it"],
    tried, k => result.tried[k].kept ? "kept" : ""));
  find("#why-not").hidden = result.hidden.length > 0;
  find("#why-not").textContent = whyNot(result);
  offerResults("discover", told.number, n => showResult(place, n, show));
  await pictures(told);
  find("#variables").replaceChildren(...result.hidden.map(name => variable(name, result)));
}

function whyNot({tried}) {
  if (!tried.length) return "No group of columns hangs together closely enough to try a hidden variable.";
  const best = tried.reduce((a, b) => (b.gain ?? -Infinity) > (a.gain ?? -Infinity) ? b : a);
  return `${tried.length} places were tried. The best, behind ${best.children.join(", ")}: ${best.verdict}. `
    + "A network without it explains the table at least as well, so it was not kept.";
}

async function pictures(told) {
  const box = find("#pictures"), some = told.result.hidden.length > 0;
  box.replaceChildren();
  try {
    const {before, after} = await call("GET", `/a/${analysis.id}/jobs/${told.number}/picture`);
    names = Object.fromEntries(after.nodes.filter(n => n.states).map(n => [n.name, n.states]));
    const first = "Before: the network of the columns alone. Dashed arcs are gone afterwards.";
    const then = "After: hidden variables are dashed and golden. Orange arcs are new, blue ones were turned.";
    if (some) new Graph(box, {label: "before", caption: first}).draw(before);
    const caption = some ? then : "The network of the columns: nothing hidden is warranted.";
    new Graph(box, {label: "after", caption}).draw(after);
  } catch (error) {
    complain(box, error);
  }
}

function variable(name, result) {
  const proof = result.evidence[name], meaning = result.meaning[name];
  return el("section", {},
    el("h2", {}, `${name}: is it warranted?`),
    proof ? evidence(proof) : el("p", {}, "There was no time to gather evidence for it."),
    el("h2", {}, `${name}: what does it mean?`),
    ...meaning.profiles.map((p, s) => profile(p, values(meaning, s))));
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
