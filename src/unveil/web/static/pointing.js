// Mouse, fingers and keys for a graph: drag to move, pinch or wheel to zoom.

const STEP = 40, MEANT = 4;

/** Let a graph be moved and zoomed. */
export function handle(graph) {
  fingers(graph);
  graph.svg.addEventListener("wheel", event => {
    // A page scrolls past a graph, unless the graph was clicked or a key is held.
    const wanted = event.ctrlKey || event.metaKey || event.shiftKey || document.activeElement === graph.svg;
    if (!wanted) return;
    event.preventDefault();
    const box = graph.svg.getBoundingClientRect();
    graph.zoom(Math.exp(-event.deltaY / 400), [event.clientX - box.left, event.clientY - box.top]);
  }, {passive: false});
  const keys = {
    "+": () => graph.zoom(1.2), "=": () => graph.zoom(1.2), "-": () => graph.zoom(0.83), 0: () => graph.fit(),
    ArrowLeft: () => graph.move(STEP, 0), ArrowRight: () => graph.move(-STEP, 0),
    ArrowUp: () => graph.move(0, STEP), ArrowDown: () => graph.move(0, -STEP),
  };
  graph.svg.addEventListener("keydown", event => {
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
}

function fingers(graph) {
  const pointers = new Map();
  let apart = 0, moved = 0;
  graph.svg.addEventListener("pointerdown", event => { pointers.set(event.pointerId, event); moved = 0; });
  graph.svg.addEventListener("pointermove", event => {
    const last = pointers.get(event.pointerId);
    if (!last) return;
    pointers.set(event.pointerId, event);
    if (pointers.size === 1) {
      const dx = event.clientX - last.clientX, dy = event.clientY - last.clientY;
      moved += Math.abs(dx) + Math.abs(dy);
      if (moved <= MEANT) return;
      graph.svg.setPointerCapture(event.pointerId);
      graph.move(dx, dy);
      return;
    }
    const [a, b] = [...pointers.values()];
    const now = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
    if (apart) graph.zoom(now / apart);
    apart = now;
  });
  const up = event => { pointers.delete(event.pointerId); apart = 0; };
  for (const kind of ["pointerup", "pointercancel", "pointerleave"]) graph.svg.addEventListener(kind, up);
}
