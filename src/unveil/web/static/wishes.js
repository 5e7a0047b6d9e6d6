// What a person knows beforehand: arcs, tiers, columns at the start or at the end.

import {button, el, find, pageData} from "./common.js";

const ARCS = {required: "must be there", forbidden: "must not be there"};
const COLUMNS = {no_parents: "no other column leads to it", no_children: "it leads to no other column"};
const NONE = {required: [], forbidden: [], tiers: [], no_parents: [], no_children: []};
const same = (p, q) => JSON.stringify(p) === JSON.stringify(q);

export class Wishes {
  /** `again()` searches with what is known; `places` says whether hidden variables are looked for. */
  constructor(again, places = false) {
    this.none = places ? {...NONE, places: []} : NONE;
    this.again = again;
    this.used = structuredClone(this.none);
    this.said = structuredClone(this.none);
    this.offer();
    this.show();
  }

  /** Take over what a search was told. */
  take(settings) {
    for (const key of Object.keys(this.none)) this.said[key] = structuredClone(settings[key] ?? []);
    this.used = structuredClone(this.said);
    this.show();
  }

  get settings() { return structuredClone(this.said); }

  /** An arc that must, or must not, be there. */
  arc(kind, parent, child) {
    const other = ([a, b]) => !(a === parent && b === child) && !(a === child && b === parent);
    for (const k of Object.keys(ARCS)) this.said[k] = this.said[k].filter(other);
    if (parent !== child) this.said[kind].push([parent, child]);
    this.changed();
  }

  column(kind, name) {
    this.said[kind] = [...this.said[kind].filter(n => n !== name), name];
    this.changed();
  }

  changed() {
    find("#beforehand").open = true;
    this.show();
    find("#wishes").scrollIntoView({block: "nearest"});
  }

  offer() {
    const {names} = pageData().columns;
    for (const select of document.querySelectorAll("#beforehand select")) {
      select.replaceChildren(...names.map(n => el("option", {}, n)));
    }
    const second = find("#arc-wish").child;
    if (names.length > 1) second.selectedIndex = 1;
    this.on("#arc-wish", (form, kind) => this.arc(kind, form.parent.value, form.child.value));
    this.on("#column-wish", (form, kind) => this.column(kind, form.column.value));
    this.on("#tiers", form => { this.said.tiers = groups(form.tiers.value); this.changed(); });
    if (find("#places")) {
      this.on("#places", form => { this.said.places = groups(form.places.value); this.changed(); });
    }
  }

  on(form, act) {
    find(form).addEventListener("submit", event => {
      event.preventDefault();
      act(event.target, event.submitter?.value ?? "");
    });
  }

  show() {
    const {said} = this;
    const line = (words, key, left) => el("li", {}, words, " ",
      button("take back", () => { said[key] = left; this.show(); }, "small"));
    const without = (list, one) => list.filter(other => other !== one);
    const arcs = Object.entries(ARCS).flatMap(([key, words]) =>
      said[key].map(p => line(`${p[0]} → ${p[1]} ${words}`, key, without(said[key], p))));
    const columns = Object.entries(COLUMNS).flatMap(([key, words]) =>
      said[key].map(n => line(`${n}: ${words}`, key, without(said[key], n))));
    const order = said.tiers.map(t => t.join(", ")).join(" before ");
    const tiers = order ? [line(`in time: ${order}`, "tiers", [])] : [];
    const places = (said.places ?? []).map(p =>
      line(`tried first: behind ${p.join(", ")}`, "places", without(said.places, p)));
    const again = same(said, this.used) ? []
      : [el("li", {}, button("Search with this", () => this.again(), "main"))];
    find("#wishes").replaceChildren(...arcs, ...columns, ...tiers, ...places, ...again);
  }

  /** What there is to say about an arc that was clicked. */
  arcActs({parent, child}) {
    return [
      button("Require it", () => this.arc("required", parent, child)),
      button("Forbid it", () => this.arc("forbidden", parent, child)),
      button("Turn it round", () => this.arc("required", child, parent)),
    ];
  }

  /** What there is to say about a column that was clicked. */
  columnActs(name) {
    const others = pageData().columns.names.filter(n => n !== name);
    const other = el("select", {"aria-label": "another variable"}, others.map(n => el("option", {}, n)));
    const arcs = others.length ? el("p", {}, `An arc from ${name} to `, other, " ",
      button("Require it", () => this.arc("required", name, other.value), "small"),
      button("Forbid it", () => this.arc("forbidden", name, other.value), "small")) : null;
    return [arcs, el("p", {}, button("It has no parents", () => this.column("no_parents", name), "small"),
      button("It has no children", () => this.column("no_children", name), "small"))];
  }
}

const groups = text => text.split(";").map(t => t.split(",").map(n => n.trim()).filter(Boolean))
  .filter(t => t.length);
