// The first page: send a table, or take an example.

import {button, call, el, find, forget, mine, remember, send} from "./common.js";

const status = find("#sending"), drop = find("#drop"), input = find("#file");
const mostBytes = Number(input.dataset.most);

async function begin(words, name, calling) {
  status.replaceChildren(words);
  try {
    const {id} = await calling();
    remember(id, name);
    location.href = `/a/${id}`;
  } catch (error) {
    status.replaceChildren(el("span.notice", {role: "alert"}, error.message));
    input.value = "";
  }
}

const take = file => begin(`Sending ${file.name}…`, file.name, () => send("/analyses", file, mostBytes));

input.addEventListener("change", () => { if (input.files.length) take(input.files[0]); });
for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) {
  drop.addEventListener(kind, event => {
    event.preventDefault();
    drop.classList.toggle("over", kind === "dragenter" || kind === "dragover");
  });
}
drop.addEventListener("drop", event => {
  if (event.dataTransfer.files.length) take(event.dataTransfer.files[0]);
});
for (const kind of ["dragover", "drop"]) window.addEventListener(kind, event => event.preventDefault());

for (const one of document.querySelectorAll("[data-example]")) {
  const {example} = one.dataset;
  one.addEventListener("click", () => begin("", `${example}.csv`, () => call("POST", `/examples/${example}`)));
}

const known = mine();
if (known.length) {
  find("#mine").hidden = false;
  find("#mine ul").replaceChildren(...known.map(a => {
    const away = button("take it off this list", () => { forget(a.id); line.remove(); }, "small");
    const line = el("li", {}, el("a", {href: `/a/${a.id}`}, a.name),
      el("small", {}, new Date(a.at).toLocaleString()), away);
    return line;
  }));
}
