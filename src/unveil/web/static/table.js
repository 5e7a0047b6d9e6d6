// The columns of a table: what was understood, and what a person corrects.

import {call, complain, el, find, number, pageData, percent, table} from "./common.js";
import {watch} from "./job.js";

const {analysis, job} = pageData();
const form = find("#asked"), asked = structuredClone(analysis.asked);
const again = form.querySelector("button");
const KINDS = {discrete: "states", text: "states, as text", continuous: "numbers"};
const WEIGHTS = "how often each row counts", MOST_SHOWN = 60;

if (job) watch(find("#job"), job, show);

function show({result}) {
  form.hidden = find("#next").hidden = false;
  const names = result.columns.map(c => c.name);
  choices(form.weights, "one case each", names, asked.weights);
  choices(form.who, "nobody in particular", names, asked.who);
  choices(form.target, "not chosen", names, asked.target);
  form.cut.value = asked.cut;
  form.bins.value = asked.bins;
  find("#facts").replaceChildren(facts(result),
    ...[...result.warnings, ...result.oddities].map(w => el("p.notice", {}, w)));
  find("#columns").replaceChildren(columns(result));
  const few = result.columns.slice(0, MOST_SHOWN);
  find("#preview").replaceChildren(table(few.map(c => c.name),
    result.preview.map(r => r.slice(0, MOST_SHOWN).map(x => x === null ? "" : String(x)))));
  forecast();
}

function facts(result) {
  const told = [
    ["rows", result.n_rows], ["columns", result.n_columns], ["empty cells", result.n_missing],
    ["different rows", result.n_distinct_rows],
  ];
  if (result.is_weighted) told.push(["total weight", result.total_weight]);
  const fact = ([what, n]) => el("span", {}, el("strong", {}, number(n, 8)), ` ${what}`);
  return el("div.facts", {}, told.map(fact));
}

function choices(select, none, names, chosen) {
  const all = chosen && !names.includes(chosen) ? [...names, chosen] : names;
  const option = name => el("option", {value: name, selected: name === chosen}, `column ${name}`);
  select.replaceChildren(el("option", {value: ""}, none), ...all.map(option));
}

function columns(result) {
  const head = ["column", "kind", "what is in it", "empty cells", "leave out"];
  return el("table", {},
    el("thead", {}, el("tr", {}, head.map(h => el("th", {scope: "col"}, h)))),
    el("tbody", {}, result.columns.map(c => row(c, result.roles[c.name]))));
}

function row(c, role) {
  const out = el("input", {
    type: "checkbox", checked: asked.leave_out.includes(c.name), "aria-label": `leave ${c.name} out`,
    onchange: () => {
      asked.leave_out = toggled(asked.leave_out, c.name, out.checked);
      line.classList.toggle("out", out.checked);
      changed();
    },
  });
  const line = el("tr", {class: out.checked ? "out" : ""},
    el("td", {}, el("strong", {}, c.name)),
    el("td", {}, kind(c)),
    el("td", {}, el("span.states", {}, inside(c)), c.oddities.map(o => el("span.odd", {}, o)), keep(c, role)),
    el("td.n", {}, c.n_missing ? `${number(c.n_missing)} (${percent(c.missing_share)})` : "none"),
    el("td", {}, out));
  return line;
}

const toggled = (list, name, on) => list.filter(n => n !== name).concat(on ? [name] : []);

function kind(c) {
  const option = ([value, words]) =>
    el("option", {value, selected: (asked.kinds[c.name] ?? "") === value}, words);
  const asRead = `as read: ${c.kind === "discrete" ? "states" : "numbers"}`;
  const select = el("select", {"aria-label": `kind of ${c.name}`, onchange: () => {
    if (select.value) asked.kinds[c.name] = select.value;
    else delete asked.kinds[c.name];
    changed();
  }}, [["", asRead], ...Object.entries(KINDS)].map(option));
  return select;
}

function inside(c) {
  if (c.kind !== "discrete") return `from ${number(c.minimum)} to ${number(c.maximum)}, mean ${number(c.mean)}`;
  const common = c.common.map(([s, p]) => `${s} ${percent(p)}`).join(", ");
  const more = c.n_states > c.common.length ? ", …" : "";
  return `${c.n_states} ${c.n_states === 1 ? "state" : "states"}: ${common}${more}`;
}

function keep(c, role) {
  if (!role || role === WEIGHTS) return null;
  const box = el("input", {type: "checkbox", checked: asked.keep.includes(c.name), onchange: () => {
    asked.keep = toggled(asked.keep, c.name, box.checked);
    changed();
  }});
  return el("label.keep", {}, box, ` keep it, although it looks like ${role}`);
}

function changed() { again.disabled = false; }
form.addEventListener("input", changed);
form.addEventListener("submit", async event => {
  event.preventDefault();
  const {weights, who, target, cut, bins} = form;
  Object.assign(asked, {
    weights: weights.value, who: who.value, target: target.value, cut: cut.value, bins: Number(bins.value),
  });
  try {
    const {number: reading} = await call("PUT", `/a/${analysis.id}/asked`, asked);
    watch(find("#job"), reading, told => { again.disabled = true; show(told); });
  } catch (error) {
    complain(find("#job"), error);
  }
});

/** How long the next steps may take, as a range. */
async function forecast() {
  const {seconds} = await call("GET", `/a/${analysis.id}/forecast`).catch(() => ({seconds: {}}));
  for (const task of ["learn", "discover", "cluster", "classify"]) {
    find(`#forecast-${task}`).textContent = seconds[task] ? `Takes ${inWords(...seconds[task])}.` : "";
  }
}

function inWords(low, high) {
  if (high < 10) return "a few seconds";
  if (high < 100) return `${nice(low)} to ${nice(high)} seconds`;
  const minutes = x => x / 60 < 1 ? "less than one" : nice(x / 60);
  if (low < 3600) return `${minutes(low)} to ${minutes(high)} minutes, or as long as you allow`;
  return "hours, or as long as you allow";
}

/** One digit is as much as a forecast knows. */
function nice(x) {
  if (x < 10) return String(Math.max(1, Math.round(x)));
  const power = 10 ** Math.floor(Math.log10(x));
  return String(Math.round(x / power) * power);
}
