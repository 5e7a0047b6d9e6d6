// The first page: send a table, or take an example.

import {call, el, find, forget, mine, remember} from "./common.js";

const status = find("#sending"), drop = find("#drop"), input = find("#file");

async function send(file) {
  status.replaceChildren(`Sending ${file.name}…`);
  try {
    const {id} = await call("POST", `/analyses?name=${encodeURIComponent(file.name.slice(-300))}`, file, true);
    remember(id, file.name);
    location.href = `/a/${id}`;
  } catch (error) {
    status.replaceChildren(el("span.notice", {role: "alert"}, error.message));
  }
}

input.addEventListener("change", () => { if (input.files.length) send(input.files[0]); });
for (const kind of ["dragenter", "dragover"]) drop.addEventListener(kind, event => { event.preventDefault(); drop.classList.add("over"); });
for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, event => { event.preventDefault(); drop.classList.remove("over"); });
drop.addEventListener("drop", event => { if (event.dataTransfer.files.length) send(event.dataTransfer.files[0]); });
for (const kind of ["dragover", "drop"]) window.addEventListener(kind, event => event.preventDefault());

for (const button of document.querySelectorAll("[data-example]")) {
  button.addEventListener("click", async () => {
    try {
      const {id} = await call("POST", `/examples/${button.dataset.example}`);
      remember(id, `${button.dataset.example}.csv`);
      location.href = `/a/${id}`;
    } catch (error) {
      status.replaceChildren(el("span.notice", {role: "alert"}, error.message));
    }
  });
}

const known = mine();
if (known.length) {
  find("#mine").hidden = false;
  find("#mine ul").replaceChildren(...known.map(a => {
    const line = el("li", {}, el("a", {href: `/a/${a.id}`}, a.name), el("small", {}, new Date(a.at).toLocaleString()),
      el("button.button.small", {type: "button", title: "take it off this list", onclick: () => { forget(a.id); line.remove(); }}, "×"));
    return line;
  }));
}
