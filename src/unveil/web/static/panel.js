// One variable of the playground: its states, what was seen, heard or done, and why.

import {bars, button, complain, el, percent, table} from "./common.js";
import {curvePicture, inNumbers, rangeOf} from "./curves.js";

/** Fill `place` with what there is to see of a variable and to say about it. */
export function panel(place, about) {
  const {node, now} = about;
  place.replaceChildren(
    el("h2", {}, `${node.name}${node.hidden ? " (hidden)" : ""}`),
    ...(now.p ? [states(about), soft(about)] : [value(about)]), reasons(about),
    el("p", {}, button("its neighbourhood", about.around, "small"),
      button("everything", about.everything, "small")),
    el("p.muted", {}, "Seen: you found out. Do: somebody set it, whatever its causes say; its causes then "
      + "stay as they were. ", el("a", {href: "/library/asking"}, "More"), "; ", el("a", {href: "/library/glossary#finding"}, "words")));
}

function states({node, now, before, known, say}) {
  const one = (kind, words, i) => {
    const is = known[kind][node.name] === i;
    const made = button(words, () => say(kind, node.name, i), is ? "small.main" : "small");
    made.setAttribute("aria-pressed", is);
    return made;
  };
  return bars(node.states, now.p, before.p, i => [one("given", "seen", i), one("do", "do", i)]);
}

/** A continuous variable: its density, and a number to set it to. */
function value({node, now, before, known, say, unknown}) {
  const [low, high] = rangeOf(now, before), is = kind => known[kind][node.name] !== undefined;
  const step = 10 ** Math.floor(Math.log10((high - low) / 200));
  const nice = x => Number((Math.round(x / step) * step).toPrecision(12));
  const input = el("input", {
    type: "number", step: "any", value: nice(now.mean), "aria-label": `value of ${node.name}`,
    oninput: () => { slider.value = input.value; },
  });
  const slider = el("input", {
    type: "range", min: nice(low), max: nice(high), step, value: nice(now.mean), "aria-label": `value of ${node.name}`,
    oninput: () => { input.value = slider.value; },
    onchange: () => { if (!is("do")) set("given"); else set("do"); },
  });
  const set = kind => { if (input.value !== "") say(kind, node.name, Number(input.value), true); };
  const one = (kind, words) => {
    const made = button(words, () => set(kind), is(kind) ? "small.main" : "small");
    made.setAttribute("aria-pressed", is(kind));
    return made;
  };
  return el("div", {},
    curvePicture(now, before, node.name),
    el("p.number", {}, slider),
    el("p", {}, input, " ", one("given", "seen"), one("do", "do"),
      is("given") || is("do") ? button("unknown", unknown, "small") : null),
    el("p.muted", {}, `${now.deviation > 0 ? `Mean ± standard deviation ${inNumbers(now)}` : `Set to ${inNumbers(now)}`}; `
      + `before anything was known ${inNumbers(before)}.`));
}

/** Soft evidence: how likely what was heard is, in each state. */
function soft({node, known, soften}) {
  const was = known.likely[node.name] ?? node.states.map(() => 1);
  const use = () => soften(inputs.map(x => Number(x.value)));
  const slider = (s, i) => el("input", {
    type: "range", min: 0, max: 1, step: 0.05, value: was[i], "aria-label": `how likely in state ${s}`,
    onchange: use,
  });
  const inputs = node.states.map(slider);
  return el("details", node.name in known.likely ? {open: true} : {},
    el("summary", {}, "Heard, but not sure"),
    el("p.muted", {}, "How likely is what you heard in each state?"),
    el("table.bars", {}, node.states.map((s, i) =>
      el("tr", {}, el("td.label", {title: s}, s), el("td", {}, inputs[i])))));
}

function reasons(about) {
  const place = el("div");
  const run = (kind, shown) => async () => {
    try {
      place.replaceChildren(shown(await about.question({[kind]: true}), about));
    } catch (error) {
      complain(place, error);
    }
  };
  return el("div", {},
    el("p", {}, button("Why?", run("why", why), "small"),
      button("What to ask next?", run("next", next), "small")), place);
}

function why({why: found}, {node, now}) {
  if (!found.length) return el("p.muted", {}, "Nothing is known yet, so nothing pushes.");
  if (!now.p) return whyNumber(found);
  const best = now.p.indexOf(Math.max(...now.p)), state = node.states[best];
  const row = w => {
    const [less, more] = [w.without_it[best], w.with_it[best]];
    const way = more > less ? `towards ${state}` : more < less ? `away from ${state}` : "";
    return [`${w.finding} = ${w.value}`, w.bits, `${percent(less)} to ${percent(more)}`, way];
  };
  return table(["finding", "bits", `P(${state})`, "pushes"], found.map(row));
}

/** The same for a number: beliefs are mean and deviation. */
function whyNumber(found) {
  const told = ([mean, deviation]) => inNumbers({mean, deviation});
  const row = w => [`${w.finding} = ${w.value}`, w.bits, `${told(w.without_it)} to ${told(w.with_it)}`,
    w.with_it[0] > w.without_it[0] ? "up" : "down"];
  return table(["finding", "bits", "without to with it", "pushes"], found.map(row));
}

function next({next: found}, {choose}) {
  const row = n => [button(n.name, () => choose(n.name), "small"), n.bits];
  return table(["ask next", "bits it tells"], found.map(row));
}
