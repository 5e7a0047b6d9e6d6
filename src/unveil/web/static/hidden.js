// Hidden variables: the search, before and after, evidence and meaning.

import {bars, call, complain, el, find, number, pageData, percent, table, times} from "./common.js";
import {Graph} from "./graph.js";
import {start, watch} from "./job.js";

const {analysis, job} = pageData();
const form = find("#settings"), place = find("#job");
form.addEventListener("submit", event => {
  event.preventDefault();
  find("#found").hidden = true;
  start(place, "discover", {seconds: Number(form.seconds.value), max_hidden: Number(form.max_hidden.value), equivalent_sample_size: Number(form.equivalent_sample_size.value)}, show);
});
if (job) watch(place, job, show);

async function show(told) {
  const {result} = told;
  find("#found").hidden = false;
  find("#headline").textContent = result.headline;
  find("#to-report").href = `/api/a/${analysis.id}/jobs/${told.number}/files/report.html?show=true`;
  find("#straw").replaceChildren(table(["", "score (nats)", "bits per row on rows left out"], [
    ...(result.held_out === null ? [] : [["what was found", null, result.held_out]]),
    ...result.straw_men.map(s => [s.name, s.score, s.bits])]));
  find("#tried").replaceChildren(table(["round", "behind", "states", "gain (nats)", "what became of it"],
    result.tried.map(t => [t.round, t.children.join(", "), t.states, Number(t.gain?.toFixed(1)), t.verdict]), k => result.tried[k].kept ? "kept" : ""));
  await pictures(told);
  find("#variables").replaceChildren(...result.hidden.map(name => variable(name, result)));
}

async function pictures(told) {
  const box = find("#pictures");
  box.replaceChildren();
  try {
    const {before, after} = await call("GET", `/a/${analysis.id}/jobs/${told.number}/picture`);
    names = Object.fromEntries(after.nodes.filter(n => n.states).map(n => [n.name, n.states]));
    if (told.result.hidden.length) new Graph(box, {label: "before", caption: "Before: the network of the columns alone. Dashed arcs are gone afterwards."}).draw(before);
    new Graph(box, {label: "after", caption: told.result.hidden.length ? "After: hidden variables are dashed and golden. Orange arcs are new, blue ones were turned." : "The network of the columns: nothing hidden is warranted."}).draw(after);
  } catch (error) {
    complain(box, error);
  }
}

function variable(name, result) {
  const proof = result.evidence[name], meaning = result.meaning[name];
  const shown = Object.keys(meaning.information).filter(n => n in meaning.values).slice(0, 8);
  return el("section", {},
    el("h2", {}, `${name}: is it warranted?`),
    proof ? el("ul", {},
      el("li", {}, `With it the table is ${times(proof.gain)} times more probable (${number(proof.gain)} nats).`),
      el("li", {}, `On rows left out it saves ${number(proof.held_out.bits, 3)} bits per row (95% interval ${number(proof.interval[0], 3)} to ${number(proof.interval[1], 3)}): ${proof.verdict}.`),
      proof.n_resamples ? el("li", {}, `In ${percent(proof.stability)} of ${proof.n_resamples} resampled tables the score prefers it.`) : null) : el("p", {}, "There was no time to gather evidence for it."),
    el("h2", {}, `${name}: what does it mean?`),
    ...meaning.profiles.map((p, s) => el("div.card", {}, el("h3", {}, `${name} = ${p.state}, ${percent(p.share)} of rows`),
      el("ul", {}, p.traits.length ? p.traits.map(t => el("li", {}, `${t.variable} = ${t.value}: ${percent(t.share)} against ${percent(t.overall)} in all rows`)) : el("li", {}, "nothing sets it apart")),
      el("details", {}, el("summary", {}, "All values"), shown.map(n => [el("h3", {}, n), bars(stateNames(n, meaning.values[n][s].length), meaning.values[n][s], meaning.overall[n])])))));
}

let names = {};
const stateNames = (variable, n) => names[variable] ?? Array.from({length: n}, (_, i) => `state ${i + 1}`);
