// Latent classes.

import {el, find, pageData, percent, table} from "./common.js";
import {start, watch} from "./job.js";

const {job} = pageData();
const form = find("#settings"), place = find("#job");
form.addEventListener("submit", event => {
  event.preventDefault();
  find("#found").hidden = true;
  start(place, "cluster", {most: Number(form.most.value), score: form.score.value, seconds: Number(form.seconds.value)}, show);
});
if (job) watch(place, job, show);

function show({result}) {
  find("#found").hidden = false;
  const many = result.n_classes;
  find("#headline").textContent = many === 1 ? "One class: no kinds of rows can be told apart." : `${many} classes, chosen by ${result.score_name}.`;
  find("#numbers").replaceChildren(table(["classes", "log-likelihood", "parameters", "BIC", "AIC", "Cheeseman-Stutz"],
    result.mixtures.map(m => [m.n_classes, m.log_likelihood, m.n_parameters, m.bic, m.aic, m.cheeseman_stutz]), k => result.mixtures[k].n_classes === many ? "kept" : ""));
  find("#profiles").replaceChildren(...result.profiles.map(p => el("div.card", {}, el("h3", {}, `${p.variable} = ${p.state}, ${percent(p.share)} of rows`),
    el("ul", {}, p.traits.length ? p.traits.map(t => el("li", {}, `${t.variable} = ${t.value}: ${percent(t.share)} against ${percent(t.overall)} in all rows`)) : el("li", {}, "nothing sets it apart")))),
    ...(result.notes ?? []).map(n => el("p.notice", {}, n)));
}

