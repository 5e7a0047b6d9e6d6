// What a trail does with columns of numbers: learns from them as they are, or cuts them into bins.

import {el, find, pageData} from "./common.js";

const CUT = "equal_frequency";

/** Which choice a trail begins with: the table's, or one that works. */
function first(task, {names, numbers, n_missing}) {
  const mixed = numbers.length < names.length;
  if (task === "cluster") return CUT;
  if (task === "discover") return mixed ? CUT : "";
  return mixed && n_missing ? CUT : "";
}

const WHY = {
  cluster: "Classes are told apart by states, so numbers are cut into bins.",
  discover: "In a table with numbers and states, hidden variables are looked for after numbers are cut.",
  learn: "Numbers beside states can be learned as they are only if no cell is empty; here some are.",
};

/** Show the choice where there are numbers. */
export function offerNumbers(form, task) {
  const {analysis: {asked}, columns} = pageData();
  if (!columns.numbers.length) return;
  find("#cutting").hidden = false;
  form.cut.value = asked.cut || first(task, columns);
  form.bins.value = asked.bins;
  const show = () => { find("#bins").hidden = !form.cut.value; };
  form.cut.addEventListener("change", show);
  show();
  if (!asked.cut && form.cut.value) form.after(el("p.muted", {}, WHY[task]));
}

/** The settings that say so; none where there are no numbers. */
export function numbersAsked(form) {
  return pageData().columns.numbers.length ? {cut: form.cut.value, bins: Number(form.bins.value)} : {};
}

/** Whether numbers are taken as they are, and there is nothing else. */
export function onlyNumbers(form) {
  const {names, numbers} = pageData().columns;
  return numbers.length > 0 && numbers.length === names.length && !form.cut.value;
}
