// Delete an analysis.

import {call, complain, find, forget, pageData} from "./common.js";

const {analysis} = pageData();
find("#delete").addEventListener("click", async event => {
  if (!confirm("Delete the table and everything that was found in it?")) return;
  try {
    await call("DELETE", `/a/${analysis.id}`);
    forget(analysis.id);
    location.href = "/";
  } catch (error) {
    complain(event.target.parentElement, error);
  }
});
