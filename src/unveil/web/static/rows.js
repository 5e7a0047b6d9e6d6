// Rows with their hidden states, page by page.

import {call, complain, el, find, number, pageData} from "./common.js";

const {analysis} = pageData();
const which = find("#which");
let page = 1, sort = "", down = false;

if (which) {
  which.addEventListener("change", () => { page = 1; sort = ""; load(); });
  find("#back").addEventListener("click", () => { page -= 1; load(); });
  find("#forth").addEventListener("click", () => { page += 1; load(); });
  load();
}

async function load() {
  const base = `/a/${analysis.id}/jobs/${which.value}`;
  find("#save").href = `/api${base}/files/posteriors.csv`;
  try {
    const told = await call("GET", `${base}/rows?page=${page}&sort=${encodeURIComponent(sort)}&down=${down}`);
    find("#page").textContent = `page ${told.page} of ${told.n_pages} (${told.n_rows.toLocaleString("en")} rows)`;
    find("#back").disabled = page <= 1;
    find("#forth").disabled = page >= told.n_pages;
    const head = name => el("th", {scope: "col", "aria-sort": name === sort ? (down ? "descending" : "ascending") : null}, el("button", {type: "button", onclick: () => { down = name === sort ? !down : name.startsWith("P("); sort = name; page = 1; load(); }}, name, name === sort ? (down ? " ▾" : " ▴") : ""));
    find("#rows").replaceChildren(el("table", {}, el("thead", {}, el("tr", {}, told.columns.map(head))), el("tbody", {}, told.rows.map(r => el("tr", {}, r.map(x => el("td", typeof x === "number" ? {class: "n"} : {}, x === null ? "" : typeof x === "number" ? number(x) : String(x))))))));
  } catch (error) {
    complain(find("#rows"), error);
  }
}
