// Rows with their hidden states or predicted classes, page by page.

import {find, pageData} from "./common.js";
import {RowTable} from "./rowtable.js";

const {analysis} = pageData();
const which = find("#which");

if (which) {
  const rows = new RowTable(find("#rows"));
  const load = () => {
    const base = `/a/${analysis.id}/jobs/${which.value}`;
    find("#save").href = `/api${base}/files/${which.selectedOptions[0].dataset.file}`;
    rows.show(base);
  };
  which.addEventListener("change", load);
  load();
}
