"""The look of pages: a style sheet for light screens, dark screens and paper; a small script."""

from unveil.report import colours

__all__ = ["CSS", "SORT_SCRIPT"]

_LIGHT = f"""
:root {{
  --ground: {colours.GROUND}; --ink: {colours.INK}; --muted: {colours.MUTED};
  --rule: {colours.GRID}; --soft: #f6f8fa; --main: {colours.MAIN}; --accent: {colours.ACCENT};
  --before: {colours.BEFORE}; --node: {colours.NODE_FILL}; --node-line: {colours.NODE_LINE};
  --hidden: {colours.HIDDEN_FILL}; --hidden-line: {colours.HIDDEN_LINE}; --arc: {colours.ARC};
  --gone: {colours.GONE}; --notice: #fff4e5;
}}
"""

_DARK = """
@media screen and (prefers-color-scheme: dark) {
  :root {
    --ground: #14191f; --ink: #e6ebf0; --muted: #9aa7b4; --rule: #2c3640; --soft: #1b222a;
    --main: #6db3ea; --accent: #ff9a52; --before: #4a5866; --node: #1f2d3b; --node-line: #7fa6cc;
    --hidden: #3a2f18; --hidden-line: #e0a94a; --arc: #8494a4;
    --gone: #e07fb5; --notice: #3a2a14;
  }
}
"""

_TEXT = """
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 17px/1.6 Inter, "Segoe UI", "Helvetica Neue", Arial, sans-serif;
}
main { max-width: 960px; margin: 0 auto; padding: 3.5rem 1.5rem 3rem; }
h1 { font-size: 2.3rem; line-height: 1.15; letter-spacing: -0.02em; margin: 0; font-weight: 700;
  overflow-wrap: anywhere; }
h2 { font-size: 1.4rem; line-height: 1.3; letter-spacing: -0.01em; margin: 3rem 0 0.8rem; }
p { margin: 0.7rem 0; max-width: 44rem; }
.subtitle { font-size: 1.15rem; color: var(--muted); margin: 0.5rem 0 0; }
ul { padding-left: 1.2rem; max-width: 44rem; }
li { margin: 0.35rem 0; }
footer { margin-top: 4rem; padding-top: 1rem; border-top: 1px solid var(--rule);
  color: var(--muted); font-size: 0.85rem; }
"""

_PARTS = """
.facts { display: flex; flex-wrap: wrap; gap: 1px;
  margin: 2rem 0; background: var(--rule); border: 1px solid var(--rule); border-radius: 10px;
  overflow: hidden; }
.facts div { flex: 1 1 6.5rem; background: var(--soft); padding: 0.8rem 1rem; }
.facts dt { color: var(--muted); font-size: 0.82rem; }
.facts dd { margin: 0.1rem 0 0; font-size: 1.15rem; line-height: 1.35; font-weight: 600;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.notice { background: var(--notice); border-left: 4px solid var(--accent); border-radius: 4px;
  padding: 0.7rem 1rem; margin: 1.5rem 0 0; }
h3 { font-size: 1.08rem; line-height: 1.35; margin: 1.8rem 0 0.4rem; }
.scroll { overflow-x: auto; }
figure { margin: 1.5rem 0; }
figure svg { display: block; margin: 0 auto; max-width: 100%; height: auto; }
.beside { display: flex; flex-wrap: wrap; gap: 0 2rem; }
.beside figure { flex: 1 1 max(22rem, 0.85 * var(--room)); max-width: 100%; }
figcaption { color: var(--muted); font-size: 0.88rem; margin-top: 0.7rem; text-align: center; }
table { border-collapse: collapse; width: 100%; font-size: 0.92rem; line-height: 1.45; }
caption { text-align: left; color: var(--muted); padding: 0.4rem 0; }
th, td { text-align: left; padding: 0.45rem 1.1rem 0.45rem 0.4rem; vertical-align: baseline;
  border-bottom: 1px solid var(--rule); overflow-wrap: break-word; }
th { color: var(--muted); font-weight: 600; font-size: 0.82rem; border-bottom-width: 2px; }
th.n, td.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap;
  padding: 0.45rem 0.6rem; }
td.p { background: color-mix(in srgb, var(--main) calc(var(--p) * 42%), transparent); }
tbody tr:hover { background: var(--soft); }
.sortable th { cursor: pointer; }
.sortable th[aria-sort=ascending]::after { content: " \\25b4"; }
.sortable th[aria-sort=descending]::after { content: " \\25be"; }
details { border-bottom: 1px solid var(--rule); }
details > :not(summary) { margin-left: 1.2rem; }
summary { cursor: pointer; padding: 0.6rem 0.2rem; font-weight: 600; overflow-wrap: anywhere; }
summary:hover { background: var(--soft); }
summary .remark { color: var(--muted); font-weight: 400; margin-left: 0.5rem; font-size: 0.9rem; }
details[open] { padding-bottom: 1.2rem; }
details .scroll { margin-top: 0.6rem; }
details table { width: auto; }
details figure { margin: 0.4rem 0 1rem 1.2rem; }
details figure svg { margin: 0; }
details figcaption { text-align: left; }
"""

_DRAWINGS = """
svg text { fill: var(--ink); }
svg .value, svg .labels text { fill: var(--muted); }
svg .labels text { stroke: var(--ground); }
svg .ground { fill: var(--ground); }
svg .arcs { stroke: var(--arc); }
svg .head { fill: var(--arc); }
svg .arc.marked { stroke: var(--accent); }
svg .arc.marked .head { fill: var(--accent); }
svg .arc.gone { stroke: var(--gone); }
svg .arc.gone .head { fill: var(--gone); }
svg .arc.turned { stroke: var(--main); }
svg .arc.turned .head { fill: var(--main); }
svg .arc:hover { stroke: var(--main); }
svg .arc:hover .head { fill: var(--main); }
svg .nodes { fill: var(--node); stroke: var(--node-line); }
svg .node.hidden { fill: var(--hidden); stroke: var(--hidden-line); }
svg .node.marked { stroke: var(--accent); }
svg .bar, svg .mark { fill: var(--main); }
svg .bar.below { fill: var(--accent); }
svg .curve { stroke: var(--accent); }
svg .dot { fill: var(--muted); }
svg .frame { stroke: var(--rule); }
svg .line { stroke: var(--main); }
svg .before { fill: var(--before); }
svg .track { fill: var(--rule); }
svg .grid { stroke: var(--rule); }
svg .axis { stroke: var(--muted); }
svg .overall { stroke: var(--ink); }
svg circle.marked { fill: var(--accent); }
"""

_PAPER = """
@media print {
  body { font-size: 11pt; }
  main { max-width: none; padding: 0; }
  h2 { break-after: avoid; }
  figure, tr, .facts { break-inside: avoid; }
  .scroll { overflow: visible; }
}
"""

CSS = _LIGHT + _DARK + _TEXT + _PARTS + _DRAWINGS + _PAPER

SORT_SCRIPT = """
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  const sort = (head, i) => {
    const numeric = head.classList.contains("n");
    const [first, second] = numeric ? ["descending", "ascending"] : ["ascending", "descending"];
    const wish = head.getAttribute("aria-sort") === first ? second : first;
    const text = row => row.cells[i].textContent;
    const value = row => parseFloat(row.cells[i].dataset.v ?? -1e300) || 0;
    const rows = [...body.rows].sort((a, b) => numeric
      ? value(a) - value(b) : text(a).localeCompare(text(b), undefined, {numeric: true}));
    if (wish === "descending") rows.reverse();
    heads.forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", wish);
    body.append(...rows);
  };
  heads.forEach((head, i) => {
    head.tabIndex = 0;
    head.addEventListener("click", () => sort(head, i));
    head.addEventListener("keydown", event => { if (event.key === "Enter") sort(head, i); });
  });
}
"""
