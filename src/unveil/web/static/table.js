// The columns of a table: what was understood, and what a person corrects.

import {call, complain, el, find, number, pageData, percent, table} from "./common.js";
import {watch} from "./job.js";

const {analysis, job} = pageData();
const form = find("#asked"), asked = structuredClone(analysis.asked);

if (job) watch(find("#job"), job, show);

function show({result, problem}) {
  form.hidden = find("#next").hidden = false;
  choices(form.weights, ["one case each", ...result.columns.map(c => c.name)], asked.weights);
  if (asked.weights && ![...form.weights.options].some(o => o.value === asked.weights)) form.weights.append(el("option", {value: asked.weights, selected: true}, `column ${asked.weights}`));
  choices(form.who, ["nobody in particular", ...result.columns.map(c => c.name)], asked.who);
  form.cut.value = asked.cut;
  form.bins.value = asked.bins;
  const facts = [["rows", result.n_rows], ["columns", result.n_columns], ["empty cells", result.n_missing], ["different rows", result.n_distinct_rows]];
  if (result.is_weighted) facts.push(["total weight", result.total_weight]);
  find("#facts").replaceChildren(el("div.facts", {}, facts.map(([what, n]) => el("span", {}, el("strong", {}, number(n, 8)), ` ${what}`))),
    ...[...result.warnings, ...result.oddities].map(w => el("p.notice", {}, w)));
  find("#columns").replaceChildren(columns(result));
  find("#preview").replaceChildren(table(result.columns.map(c => c.name), result.preview.map(r => r.map(x => x === null ? "" : String(x)))));
  forecast(result);
}

function choices(select, words, chosen) {
  select.replaceChildren(...words.map((w, i) => el("option", {value: i ? w : "", selected: (i ? w : "") === chosen}, i ? `column ${w}` : w)));
}

function columns(result) {
  const row = c => {
    const kind = el("select", {"aria-label": `kind of ${c.name}`, onchange: () => {
      if (kind.value) asked.kinds[c.name] = kind.value; else delete asked.kinds[c.name];
      changed();
    }}, [["", `as read: ${c.kind}`], ["discrete", "states"], ["text", "states, as text"], ["continuous", "numbers"]].map(([v, w]) => el("option", {value: v, selected: (asked.kinds[c.name] ?? "") === v}, w)));
    const role = result.roles[c.name];
    const isOut = () => asked.leave_out.includes(c.name);
    const out = el("input", {type: "checkbox", checked: isOut(), "aria-label": `leave ${c.name} out`, onchange: () => {
      asked.leave_out = asked.leave_out.filter(n => n !== c.name).concat(out.checked ? [c.name] : []);
      line.classList.toggle("out", out.checked);
      changed();
    }});
    const keep = role && role !== "how often each row counts" ? el("label", {}, el("input", {type: "checkbox", checked: asked.keep.includes(c.name), onchange: event => {
      asked.keep = asked.keep.filter(n => n !== c.name).concat(event.target.checked ? [c.name] : []);
      changed();
    }}), ` keep it, although it looks like ${role}`) : null;
    const states = c.kind === "discrete" ? `${c.n_states} states: ${c.common.map(([s, p]) => `${s} ${percent(p)}`).join(", ")}${c.n_states > c.common.length ? ", …" : ""}` : `from ${number(c.minimum)} to ${number(c.maximum)}, mean ${number(c.mean)}`;
    const line = el("tr", {class: isOut() ? "out" : ""}, el("td", {}, el("strong", {}, c.name)), el("td", {}, kind), el("td", {}, el("span.states", {}, states), c.oddities.map(o => el("span.odd", {}, o)), keep), el("td.n", {}, c.n_missing ? `${number(c.n_missing)} (${percent(c.missing_share)})` : "none"), el("td", {}, out));
    return line;
  };
  return el("table", {}, el("thead", {}, el("tr", {}, ["column", "kind", "what is in it", "empty cells", "leave out"].map(h => el("th", {scope: "col"}, h)))), el("tbody", {}, result.columns.map(row)));
}

function changed() { form.querySelector("button").disabled = false; }
form.addEventListener("input", changed);
form.addEventListener("submit", async event => {
  event.preventDefault();
  Object.assign(asked, {weights: form.weights.value, who: form.who.value, cut: form.cut.value, bins: Number(form.bins.value)});
  try {
    const job = await call("PUT", `/a/${analysis.id}/asked`, asked);
    watch(find("#job"), job.number, told => { form.querySelector("button").disabled = true; show(told); });
  } catch (error) {
    complain(find("#job"), error);
  }
});

/** Very roughly how long the next steps take; measured on two cores. */
function forecast(result) {
  const rows = Math.min(result.n_distinct_rows, result.n_rows), n = result.n_columns;
  find("#forecast-learn").textContent = `About ${inWords(1 + 4e-8 * rows * n * n + 2e-4 * n * n)}.`;
  find("#forecast-discover").textContent = `About ${inWords(5 + 2e-5 * rows * n + 0.05 * n * n)}.`;
}
const inWords = s => s < 20 ? "a few seconds" : s < 90 ? "a minute" : s < 600 ? `${Math.round(s / 60)} minutes` : "more than ten minutes; set a limit";
