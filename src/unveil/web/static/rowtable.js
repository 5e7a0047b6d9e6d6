// A table of rows, page by page, sorted by its headings.

import {button, call, complain, el, number} from "./common.js";

export class RowTable {
  /** `onRow(position)` is called when a row is asked about. */
  constructor(place, onRow = null) {
    Object.assign(this, {place, onRow, page: 1, sort: "", down: false});
  }

  /** Show the rows of a step: `base` is its address. */
  show(base) {
    Object.assign(this, {base, page: 1, sort: "", down: false});
    return this.load();
  }

  async load() {
    const asked = `page=${this.page}&sort=${encodeURIComponent(this.sort)}&down=${this.down}`;
    try {
      this.fill(await call("GET", `${this.base}/rows?${asked}`));
    } catch (error) {
      complain(this.place, error);
    }
  }

  fill(told) {
    const turn = (words, by, label) => {
      const made = button(words, () => { this.page += by; this.load(); });
      made.disabled = told.page + by < 1 || told.page + by > told.n_pages;
      made.setAttribute("aria-label", label);
      return made;
    };
    const where = `page ${told.page} of ${told.n_pages} (${told.n_rows.toLocaleString("en")} rows)`;
    const why = this.onRow ? [el("th", {})] : [];
    this.place.replaceChildren(
      el("p", {}, turn("←", -1, "the page before"), turn("→", 1, "the next page"), where),
      el("div.scroll", {}, el("table.rows", {},
        el("thead", {}, el("tr", {}, why, told.columns.map(name => this.heading(name)))),
        el("tbody", {}, told.rows.map((r, k) => this.row(r, told.numbers[k]))))));
  }

  heading(name) {
    const sorted = name === this.sort;
    const sort = () => {
      Object.assign(this, {down: sorted ? !this.down : name.startsWith("P("), sort: name, page: 1});
      this.load();
    };
    return el("th", {scope: "col", "aria-sort": sorted ? (this.down ? "descending" : "ascending") : null},
      el("button", {type: "button", onclick: sort}, name, sorted ? (this.down ? " ▾" : " ▴") : ""));
  }

  row(cells, position) {
    const cell = x => {
      const words = x === null ? "" : typeof x === "number" ? number(x) : String(x);
      return el("td", typeof x === "number" ? {class: "n"} : {}, words);
    };
    const why = this.onRow ? [el("td", {}, button("why?", () => this.onRow(position), "small"))] : [];
    return el("tr", {}, why, cells.map(cell));
  }
}
