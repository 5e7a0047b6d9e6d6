// What all pages share: elements, calls to the server, numbers in words.

export const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes and children; texts are texts, never markup. */
export function el(tag, attributes = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  const made = document.createElement(name || "div");
  if (classes.length) made.className = classes.join(" ");
  return fill(made, attributes, children);
}

/** The same for pictures. */
export function svg(tag, attributes = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  const made = document.createElementNS(SVG, name);
  if (classes.length) made.setAttribute("class", classes.join(" "));
  return fill(made, attributes, children);
}

function fill(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) {
      made.setAttribute(key, value === true ? "" : value);
    }
  }
  made.append(...children.flat().filter(child => child !== null && child !== undefined));
  return made;
}

/** A button that acts. */
export const button = (words, act, classes = "") =>
  el(`button.button${classes && `.${classes}`}`, {type: "button", onclick: act}, words);

export const find = selector => document.querySelector(selector);

// On a narrow screen, the page one is on is to be seen among the steps.
find(".trails [aria-current]")?.scrollIntoView({inline: "center", block: "nearest", behavior: "instant"});

/** What the server wrote into the page. */
export function pageData() {
  const text = find("main").dataset.page;
  return text ? JSON.parse(text) : null;
}

/** Ask the server; an answer that is a refusal becomes an error with its sentence. */
export async function call(method, path, body, raw = false) {
  const options = {method, headers: {}};
  if (body !== undefined) {
    options.body = raw ? body : JSON.stringify(body);
    options.headers["content-type"] = raw ? "application/octet-stream" : "application/json";
  }
  let answer;
  try {
    answer = await fetch(`/api${path}`, options);
  } catch {
    throw new Error("The server does not answer. Is it still running?");
  }
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(told.problem ?? `The server refused (${answer.status}).`);
  return told;
}

/** Send a file; one that is too large is not even begun with. */
export async function send(path, file, mostBytes) {
  if (file.size > mostBytes) {
    const mebibytes = n => (n / 2 ** 20).toLocaleString("en", {maximumFractionDigits: 0});
    throw new Error(`${file.name} has ${mebibytes(file.size)} MiB; this server takes `
      + `${mebibytes(mostBytes)} MiB. Send fewer rows or columns, pack it (.csv.gz, .parquet), `
      + "or use the program on the command line.");
  }
  if (file.size === 0) throw new Error(`${file.name} is empty.`);
  const name = encodeURIComponent(file.name.slice(-300));
  return call("POST", `${path}${path.includes("?") ? "&" : "?"}name=${name}`, file, true);
}

/** Show a problem where it happened. */
export function complain(place, error) {
  place.replaceChildren(el("p.notice", {role: "alert"}, error.message ?? String(error)));
}

export function number(x, digits = 4) {
  if (x === null || x === undefined) return "–";
  if (Math.abs(x) >= 1000) return Math.round(x).toLocaleString("en");
  return String(Number(x.toPrecision(digits)));
}

export function percent(p) {
  if (p <= 0 || p >= 1) return p <= 0 ? "0%" : "100%";
  if (p < 0.001) return "<0.1%";
  if (p > 0.999) return ">99.9%";
  return `${(100 * p).toFixed(p < 0.1 || p > 0.9 ? 1 : 0)}%`;
}

/** e to the power of some nats, as a person would say it. */
export function times(nats) {
  const ten = nats / Math.LN10;
  if (ten < 4) return number(Math.exp(nats), 2);
  const power = Math.floor(ten + Math.log10(1.0 / 0.995));  // what rounds to 10.0 is 1.0 of the next
  return `${(10 ** (ten - power)).toFixed(1)} × 10${superscript(power)}`;
}

const superscript = n => String(n).replace(/./g, c => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? (c === "-" ? "⁻" : c));

/** A table of texts and numbers; numbers stand to the right. */
export function table(head, rows, rowClass = () => "") {
  const isNumber = x => typeof x === "number";
  const numeric = head.map((_, i) => rows.some(r => isNumber(r[i]))
    && rows.every(r => isNumber(r[i]) || r[i] === null || r[i] === "–"));
  const cell = (x, i) => {
    const made = el("td", numeric[i] ? {class: "n"} : {});
    made.append(x instanceof Node ? x : isNumber(x) ? number(x) : x ?? "–");
    return made;
  };
  const heading = (h, i) => el("th", {scope: "col", class: numeric[i] ? "n" : ""}, h);
  return el("table", {},
    el("thead", {}, el("tr", {}, head.map(heading))),
    el("tbody", {}, rows.map((r, k) => el("tr", {class: rowClass(k)}, r.map(cell)))));
}

/** Bars of probabilities; a stroke is at what was before. */
export function bars(labels, is, was = null, extra = null) {
  const line = (label, i) => {
    const p = is[i], q = was ? was[i] : null;
    const stroke = {x1: 100 * q, x2: 100 * q, y1: 1, y2: 17, "vector-effect": "non-scaling-stroke"};
    const picture = svg("svg", {
      viewBox: "0 0 100 18", preserveAspectRatio: "none", role: "img",
      "aria-label": `${label}: ${percent(p)}`,
    },
    svg("rect.track", {x: 0, y: 4, width: 100, height: 10, rx: 1}),
    svg("rect.is", {x: 0, y: 4, width: 100 * p, height: 10, rx: 1}),
    q === null ? null : svg("line", stroke));
    return el("tr", {},
      el("td.label", {title: label}, label), el("td.meter", {}, picture), el("td.n", {}, percent(p)),
      q === null ? null : el("td.n.muted", {}, percent(q)), extra ? el("td.acts", {}, extra(i)) : null);
  };
  return el("table.bars", {}, labels.map(line));
}

/** What a state of a hidden variable, or a class, is like. */
export function profile(p, ...more) {
  const trait = t =>
    el("li", {}, `${t.variable} = ${t.value}: ${percent(t.share)} against ${percent(t.overall)} in all rows`);
  return el("div.card", {},
    el("h3", {}, `${p.variable} = ${p.state}, ${percent(p.share)} of rows`),
    el("ul", {}, p.traits.length ? p.traits.map(trait) : el("li", {}, "nothing sets it apart")), ...more);
}

export const notes = told => (told ?? []).map(n => el("p.notice.note", {}, n));

/** Remember an analysis in this browser. */
export function remember(id, name) {
  const known = mine().filter(a => a.id !== id);
  keep([{id, name, at: Date.now()}, ...known].slice(0, 50));
}

export const forget = id => keep(mine().filter(a => a.id !== id));

function keep(known) {
  try {
    localStorage.setItem("unveil.analyses", JSON.stringify(known));
  } catch {
    // a browser that keeps nothing has no list, and everything else works
  }
}

export function mine() {
  try {
    const known = JSON.parse(localStorage.getItem("unveil.analyses") ?? "[]");
    return Array.isArray(known) ? known.filter(a => /^[\w-]{22}$/.test(a.id)) : [];
  } catch {
    return [];
  }
}
