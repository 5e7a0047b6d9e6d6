// Classification: choose the class, see how well it is predicted, predict other rows, ask why.

import {calibration, confusion, leaning} from "./charts.js";
import {
  button, call, complain, el, find, notes, number, pageData, percent, send, table,
} from "./common.js";
import {showResult, start, watch} from "./job.js";
import {offerResults} from "./results.js";
import {RowTable} from "./rowtable.js";

const {analysis, job} = pageData();
const form = find("#settings"), place = find("#job"), file = find("#file");
let current = null, explained = null;
const rows = new RowTable(find("#rows"), explain);

form.addEventListener("submit", event => {
  event.preventDefault();
  find("#found").hidden = true;
  const {target, model, seconds} = form;
  const settings = {target: target.value, model: model.value, seconds: Number(seconds.value)};
  start(place, "classify", settings, show);
});
file.addEventListener("change", () => { if (file.files.length) predict(file.files[0]); });
chooseClass();
if (job) watch(place, job, show);

/** The columns that can be the class: those with states. */
async function chooseClass() {
  const read = analysis.jobs.findLast(j => j.task === "read" && j.state === "done");
  if (!read) return;
  const {result} = await call("GET", `/a/${analysis.id}/jobs/${read.number}`).catch(() => ({}));
  const possible = (result?.columns ?? []).filter(c => c.kind === "discrete" && c.n_states > 1);
  const wanted = analysis.asked.target || possible.at(-1)?.name;
  form.target.replaceChildren(...possible.map(c =>
    el("option", {value: c.name, selected: c.name === wanted}, `${c.name} (${c.n_states} states)`)));
}

function show(told) {
  const {result} = told, found = result.judgement;
  current = told;
  find("#found").hidden = false;
  find("#headline").textContent = headline(result);
  find("#notes").replaceChildren(...notes(result.notes));
  find("#to-playground").href = `/a/${analysis.id}/playground?job=${told.number}`;
  find("#to-report").href = `/api/a/${analysis.id}/jobs/${told.number}/files/report.html?show=true`;
  find("#judged").hidden = !found;
  if (found) {
    find("#confusion").replaceChildren(confusion(found));
    find("#calibration").replaceChildren(calibration(found));
  }
  find("#importance").replaceChildren(importance(result.importances));
  find("#trials").replaceChildren(table(["model", "log-loss (nats)", "accuracy", "seconds", ""],
    result.trials.map(t => [recipe(t.recipe), t.log_loss, percent(t.accuracy), t.seconds, t.note])));
  find("#trials-part").hidden = !result.trials.length;
  find("#predicted").replaceChildren();
  showRows(told.number, `the rows of ${analysis.name}`);
  offerResults("classify", told.number, n => showResult(place, n, show));
}

const recipe = r => [r.model, r.parameters, r.numbers === "gaussian" ? "numbers as they are" : "",
  r.selective ? "selective" : ""].filter(Boolean).join(", ");

function headline({target, words, judgement: j}) {
  if (!j) return `${target}, predicted by ${words}. The rows are too few to say how well.`;
  return `${target} is predicted right in ${percent(j.accuracy)} of rows left out `
    + `(${percent(j.default_rate)} by always saying the most frequent class), by ${words}.`;
}

function importance(found) {
  if (!found.length) return el("p.muted", {}, "There was no time, or there are too few rows, to measure it.");
  const interval = ([a, b]) => `${number(a, 2)} to ${number(b, 2)}`;
  return table(["column", "bits lost without it", "95% interval", "accuracy lost"],
    found.map(i => [i.predictor, i.bits, interval(i.bits_interval), `${(100 * i.accuracy).toFixed(1)} points`]));
}

async function predict(sent) {
  const box = find("#predicted");
  try {
    const {number: step} = await send(
      `/a/${analysis.id}/jobs/${current.number}/predictions`, sent, Number(file.dataset.most));
    watch(box, step, told => {
      const {result} = told;
      const shares = Object.entries(result.shares).map(([label, p]) => `${label} ${percent(p)}`);
      const many = `${result.n_rows.toLocaleString("en")} rows of ${result.name}`;
      const saved = `/api/a/${analysis.id}/jobs/${step}/files/predictions.csv`;
      box.replaceChildren(el("p", {}, `${many}: ${shares.join(", ")}. `, el("a", {href: saved}, "predictions.csv")),
        ...notes(result.notes));
      showRows(step, `the rows of ${result.name}`);
    });
  } catch (error) {
    complain(box, error);
  } finally {
    file.value = "";
  }
}

function showRows(step, words) {
  explained = step;
  find("#which-rows").textContent = words;
  find("#why").replaceChildren();
  rows.show(`/a/${analysis.id}/jobs/${step}`);
}

/** Why a row got its class: every cell's weight in bits, to the right for it, to the left against. */
async function explain(position) {
  const box = find("#why");
  try {
    const told = await call("GET", `/a/${analysis.id}/jobs/${explained}/explain?row=${position}`);
    const most = Math.max(...told.weights.map(w => Math.abs(w.bits)), 1e-9);
    const line = w => el("tr", {},
      el("td", {}, `${w.predictor} = ${w.value}`), el("td.meter", {}, leaning(w.bits / most)),
      el("td.n", {}, `${w.bits > 0 ? "+" : ""}${number(w.bits, 3)}`));
    box.replaceChildren(el("div.card", {},
      el("h3", {}, `Row ${position + 1}: ${told.label}, probability ${percent(told.probability)}`),
      el("p.muted", {}, `Weights in bits: one bit doubles the odds. Beforehand ${number(told.before, 3)}, `
        + `in all ${number(told.after, 3)}.`),
      el("table.bars", {}, told.weights.map(line)), button("Close", () => box.replaceChildren(), "small")));
    box.scrollIntoView({block: "nearest"});
  } catch (error) {
    complain(box, error);
  }
}
