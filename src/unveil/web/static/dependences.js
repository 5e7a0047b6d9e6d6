// The search for dependences, and what a person knows beforehand.

import {call, complain, el, find, number, pageData, table, times} from "./common.js";
import {Graph} from "./graph.js";
import {start, watch} from "./job.js";

const {analysis, job} = pageData();
const form = find("#settings"), place = find("#job");
const wishes = {required: [], forbidden: [], tiers: []};
let graph = null, current = null;

form.addEventListener("submit", event => { event.preventDefault(); search(); });
find("#tiers").addEventListener("submit", event => {
  event.preventDefault();
  wishes.tiers = event.target.tiers.value.split(";").map(t => t.split(",").map(n => n.trim()).filter(Boolean)).filter(t => t.length);
  showWishes();
});

if (job) watch(place, job, show); else search();

function search() {
  start(place, "learn", {seconds: Number(form.seconds.value), equivalent_sample_size: Number(form.equivalent_sample_size.value), ...wishes}, show);
}

async function show(told) {
  current = told;
  const {result, settings} = told;
  Object.assign(wishes, {required: settings.required, forbidden: settings.forbidden, tiers: settings.tiers});
  showWishes();
  find("#found").hidden = false;
  find("#headline").textContent = result.arcs.length
    ? `${result.arcs.length} arcs; ${result.score_name} ${number(result.score, 8)} nats after ${number(result.seconds, 2)} s. The strongest: ${result.arcs[0].parent} → ${result.arcs[0].child}.`
    : "No arc is worth its parameters: the columns look independent of each other.";
  find("#found").querySelectorAll(".note").forEach(n => n.remove());
  find("#headline").after(...result.notes.map(n => el("p.notice.note", {}, n)));
  find("#arcs").replaceChildren(table(["arc", "what it is worth", "direction"], result.arcs.map(a => [
    el("button.button.small", {type: "button", onclick: () => choose(a)}, `${a.parent} → ${a.child}`), inWords(a), a.fixed ? "fixed by the data" : "open"])));
  try {
    const picture = await call("GET", `/a/${analysis.id}/jobs/${told.number}/picture`);
    graph ??= new Graph(find("#graph"), {label: "the network", onArc: choose, onNode: name => graph.focus(name)});
    graph.draw(picture.after);
  } catch (error) {
    complain(find("#graph"), error);
  }
}

const inWords = a => a.loss > 0 ? `removing it makes the network ${times(a.loss)} times less probable` : "the network is no worse without it";

function choose(arc) {
  const {parent, child} = arc, pair = [parent, child];
  const wish = (kind, p) => () => { for (const k of ["required", "forbidden"]) wishes[k] = wishes[k].filter(q => q.join() !== p.join()); wishes[kind].push(p); showWishes(); };
  const box = find("#arc");
  box.hidden = false;
  box.replaceChildren(el("h2", {}, `${parent} → ${child}`),
    el("p", {}, arc.loss === null || arc.loss === undefined ? arc.words : `${inWords(arc)[0].toUpperCase()}${inWords(arc).slice(1)}. `,
      arc.fixed === false ? "It could point the other way: the data do not tell." : "Its direction follows from the data, if nothing is hidden."),
    el("button.button", {type: "button", onclick: wish("required", pair)}, "Require it"),
    el("button.button", {type: "button", onclick: wish("forbidden", pair)}, "Forbid it"),
    el("button.button", {type: "button", onclick: wish("required", [child, parent])}, "Turn it round"));
}

function showWishes() {
  const line = (words, drop) => el("li", {}, words, el("button.button.small", {type: "button", title: "take it back", onclick: () => { drop(); showWishes(); }}, "×"));
  const arcs = kind => wishes[kind].map(p => line(`${{required: "required", forbidden: "forbidden"}[kind]}: ${p[0]} → ${p[1]}`, () => { wishes[kind] = wishes[kind].filter(q => q !== p); }));
  const tiers = wishes.tiers.length ? [line(`tiers: ${wishes.tiers.map(t => t.join(", ")).join(" before ")}`, () => { wishes.tiers = []; })] : [];
  const all = [...arcs("required"), ...arcs("forbidden"), ...tiers];
  const again = JSON.stringify(wishes) !== JSON.stringify(current && {required: current.settings.required, forbidden: current.settings.forbidden, tiers: current.settings.tiers});
  find("#wishes").replaceChildren(...all, ...(again && current ? [el("li", {}, el("button.button.main", {type: "button", onclick: search}, "Search again with this"))] : []));
}
