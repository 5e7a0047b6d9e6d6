// A job as it runs: what it is doing, how far it came, how to stop it; then its result.

import {call, complain, el, number, pageData, remember, svg, times} from "./common.js";

const LONG = 60;

/** Show job `number` of this analysis in `place`; `done(job)` is called with its result. */
export function watch(place, number, done) {
  const {analysis} = pageData();
  remember(analysis.id, analysis.name);
  const base = `/a/${analysis.id}/jobs/${number}`;
  const steps = [];
  const view = panel(place, base, steps);
  const source = new EventSource(`/api${base}/events`);
  source.addEventListener("step", event => { steps.push(JSON.parse(event.data)); view.step(); });
  source.addEventListener("state", async event => {
    const told = JSON.parse(event.data);
    view.state(told);
    if (!["done", "stopped", "failed"].includes(told.state)) return;
    source.close();
    view.end();
    if (told.problem) return complain(place, new Error(told.problem));
    try {
      const job = await call("GET", base);
      place.replaceChildren(...(told.state === "stopped" ? [el("p.notice", {}, "Stopped early: this is the best so far.")] : []));
      done(job);
    } catch (error) {
      complain(place, error);
    }
  });
}

/** Start a job of this analysis and watch it. */
export async function start(place, task, settings, done) {
  const {analysis} = pageData();
  try {
    const job = await call("POST", `/a/${analysis.id}/jobs`, {task, settings});
    watch(place, job.number, done);
    return job;
  } catch (error) {
    complain(place, error);
    return null;
  }
}

function panel(place, base, steps) {
  const phase = el("span.phase", {}, "waiting"), clock = el("span.clock"), better = el("p.muted");
  const stop = el("button.button", {type: "button", onclick: async () => {
    stop.textContent = "Stopping…";
    await call("POST", `${base}/stop`).catch(() => null);
  }}, "Stop with the best so far");
  const curve = svg("svg", {viewBox: "0 0 300 70", preserveAspectRatio: "none", role: "img", "aria-label": "the score as it rises"});
  place.replaceChildren(el("div.job", {role: "status", "aria-live": "polite"}, el("div.line", {}, phase, clock, stop), el("progress"), better, curve));
  let began = null;
  const tick = setInterval(() => { if (began !== null) clock.textContent = `${Math.round((Date.now() - began) / 1000)} s`; }, 500);
  return {
    state(told) {
      phase.textContent = {queued: told.place ? `waiting: ${told.place} before it` : "waiting for its turn", running: "at work"}[told.state] ?? told.state;
      if (told.state === "running") began ??= Date.now();
    },
    step() {
      began ??= Date.now();
      const last = steps.at(-1);
      phase.textContent = last.detail ? `${last.phase}: ${last.detail}` : last.phase;
      const scored = steps.filter(s => s.objective !== undefined && s.phase === last.phase);
      if (scored.length < 2) return;
      better.textContent = progressInWords(scored);
      draw(curve, scored);
    },
    end() { clearInterval(tick); },
  };
}

function progressInWords(scored) {
  const last = scored.at(-1);
  const earlier = scored.findLast(s => s.elapsed <= last.elapsed - LONG) ?? scored[0];
  const gain = last.objective - earlier.objective;
  const since = earlier === scored[0] ? "the first one tried" : "a minute ago";
  return gain > 0.1 ? `The best so far is ${times(gain)} times more probable than ${since}. Score ${number(last.objective, 7)} nats.` : `Score ${number(last.objective, 7)} nats.`;
}

function draw(curve, scored) {
  const values = scored.map(s => s.objective), low = Math.min(...values), high = Math.max(...values);
  const x = i => 300 * i / (values.length - 1), y = v => high > low ? 66 - 62 * (v - low) / (high - low) : 35;
  curve.replaceChildren(svg("polyline", {points: values.map((v, i) => `${x(i).toFixed(1)},${y(v).toFixed(1)}`).join(" "), "vector-effect": "non-scaling-stroke"}));
}
