// Latent classes.

import {find, notes, pageData, profile, table} from "./common.js";
import {showResult, start, watch} from "./job.js";
import {numbersAsked, offerNumbers} from "./numbers.js";
import {offerResults} from "./results.js";

const {analysis, job} = pageData();
const form = find("#settings"), place = find("#job");
form.addEventListener("submit", event => {
  event.preventDefault();
  find("#found").hidden = true;
  const {most, score, seconds} = form;
  const settings = {
    most: Number(most.value), score: score.value, seconds: Number(seconds.value), ...numbersAsked(form),
  };
  start(place, "cluster", settings, show);
});
offerNumbers(form, "cluster");
if (job) watch(place, job, show);

function show({result, number}) {
  const many = result.n_classes;
  find("#found").hidden = false;
  find("#headline").textContent = many === 1 ? "One class: no kinds of rows can be told apart."
    : `${many} classes, chosen by ${result.score_name}.`;
  find("#to-playground").href = `/a/${analysis.id}/playground?job=${number}`;
  find("#numbers").replaceChildren(table(
    ["classes", "log-likelihood", "parameters", "BIC", "AIC", "Cheeseman-Stutz"],
    result.mixtures.map(m => [m.n_classes, m.log_likelihood, m.n_parameters, m.bic, m.aic, m.cheeseman_stutz]),
    k => result.mixtures[k].n_classes === many ? "kept" : ""));
  find("#profiles").replaceChildren(...result.profiles.map(p => profile(p)), ...notes(result.notes));
  offerResults("cluster", number, n => showResult(place, n, show));
}
