// A network that may be too large to read at once: its neighbourhoods, one at a time, or everything.

import {button, call, complain, el} from "./common.js";
import {Graph} from "./graph.js";

const MANY = 60;

export class LargeGraph {
  /** `path` gives the picture; `options` are those of `Graph`; `drawn()` is called after each drawing. */
  constructor(place, options = {}, drawn = () => {}) {
    this.bar = el("p.muted.around", {hidden: true});
    this.place = place;
    place.replaceChildren(this.bar);
    this.graph = new Graph(place, options);
    this.drawn = drawn;
  }

  /** Show the network of `path`; one with many variables by the neighbourhood of the most joined one. */
  async load(path) {
    this.path = path;
    this.whole = (await call("GET", path)).after;
    const joined = n => n.parents.length + n.children.length;
    const {nodes} = this.whole;
    if (nodes.length > MANY) {
      const most = nodes.reduce((best, n) => joined(n) > joined(best) ? n : best);
      await this.around(most.name);
    } else {
      this.everything();
    }
    return nodes;
  }

  everything() {
    this.centre = null;
    this.show(this.whole);
  }

  async around(name) {
    try {
      const joint = this.path.includes("?") ? "&" : "?";
      const {after} = await call("GET", `${this.path}${joint}around=${encodeURIComponent(name)}`);
      this.centre = name;
      this.show(after);
      this.graph.choose(name);
    } catch (error) {
      complain(this.bar, error);
    }
  }

  show(picture) {
    this.graph.view = null;
    this.graph.draw(picture, this.whole.nodes.map(n => n.name));
    const n = this.whole.nodes.length;
    this.bar.hidden = this.centre === null;
    this.bar.replaceChildren(`Around ${this.centre}: ${picture.nodes.length} of ${n} variables. `,
      button(`All ${n}`, () => this.everything(), "small"));
    this.drawn();
  }

  /** Whether a name is to be looked for outside of what is shown. */
  lacks(name) { return !this.graph.nodes.has(name); }
}
