// Several results of a trail: the newest is shown, the others are a choice away.

import {call, el, find, pageData} from "./common.js";

const DEFAULTS = {seed: 1};

/** Offer the results of `task` in #results; `choose(number)` shows one of them. */
export async function offerResults(task, shown, choose) {
  const place = find("#results");
  const {jobs} = await call("GET", `/a/${pageData().analysis.id}`).catch(() => ({jobs: []}));
  const own = jobs.filter(j => j.task === task && ["done", "stopped"].includes(j.state) && !j.problem);
  const last = jobs.filter(j => j.task === "read" && j.state === "done").at(-1);
  const old = own.find(j => j.number === shown)?.outdated && last;
  place.replaceChildren(...(own.length > 1 ? [chooser(own, shown, choose)] : []),
    ...(old ? [el("p.notice", {}, "This was found before the columns were last corrected.")] : []));
}

function chooser(own, shown, choose) {
  const option = j => el("option", {value: j.number, selected: j.number === shown}, inWords(j));
  const select = el("select", {onchange: () => choose(Number(select.value))}, [...own].reverse().map(option));
  return el("label", {}, "Result ", select);
}

function inWords(job) {
  const at = new Date(1000 * job.ended).toLocaleTimeString([], {hour: "2-digit", minute: "2-digit"});
  const told = Object.entries(job.settings).filter(([k, v]) => k in SAID && v !== null && v !== DEFAULTS[k]);
  const words = told.map(([k, v]) => SAID[k](v)).filter(Boolean);
  return `step ${job.number}, ${at}${words.length ? `: ${words.join(", ")}` : ""}`;
}

const many = (list, words) => list.length ? `${list.length} ${words}` : "";
const SAID = {
  required: v => many(v, "required"),
  forbidden: v => many(v, "forbidden"),
  tiers: v => many(v, "tiers"),
  no_parents: v => many(v, "without parents"),
  no_children: v => many(v, "without children"),
  places: v => many(v, "places"),
  cut: v => v ? "numbers cut" : "",
  local: v => v === "table" ? "" : `families: ${v}`,
  anneal: v => v ? `${v} annealing` : "",
  n_states: v => `${v} states`,
  max_parents: v => `at most ${v} parents`,
  equivalent_sample_size: v => v === 1 ? "" : `sample size ${v}`,
  max_hidden: v => `at most ${v} hidden`,
  most: v => `up to ${v} classes`,
  score: v => v,
  target: v => v,
  model: v => v === "auto" ? "" : v,
};
