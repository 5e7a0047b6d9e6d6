// A job as it runs: what it is doing, how far it came, how to stop it; then its result.

import {button, call, complain, el, number, pageData, remember, svg, times} from "./common.js";

const LONG = 60, OVER = ["done", "stopped", "failed"], MOST_STEPS = 2000;

/** Show job `number` of this analysis in `place`; `done(job)` is called with its result. */
export function watch(place, number, done, onStep = null) {
  const {analysis} = pageData();
  remember(analysis.id, analysis.name);
  const base = `/a/${analysis.id}/jobs/${number}`;
  const steps = [];
  const view = panel(place, base, steps);
  const source = new EventSource(`/api${base}/events`);
  let watching = true;
  source.addEventListener("step", event => {
    steps.push(JSON.parse(event.data));
    if (steps.length > MOST_STEPS) steps.splice(1, 1);
    view.step();
    onStep?.(steps.at(-1));
  });
  source.addEventListener("error", () => view.lost());
  source.addEventListener("state", async event => {
    const told = JSON.parse(event.data);
    view.state(told);
    if (!OVER.includes(told.state)) return;
    source.close();
    view.end();
    if (!watching) return;
    if (told.problem) return complain(place, new Error(told.problem));
    try {
      const job = await call("GET", base);
      place.replaceChildren(...(told.state === "stopped" ? [early()] : []));
      done(job);
    } catch (error) {
      complain(place, error);
    }
  });
  return () => { watching = false; source.close(); view.end(); };
}

const early = () => el("p.notice", {}, "Stopped early: this is the best so far.");

/** A result that is there already. */
export async function showResult(place, number, done) {
  try {
    const job = await call("GET", `/a/${pageData().analysis.id}/jobs/${number}`);
    if (job.problem) return complain(place, new Error(job.problem));
    place.replaceChildren(...(job.state === "stopped" ? [early()] : []));
    return done(job);
  } catch (error) {
    return complain(place, error);
  }
}

/** Start a job of this analysis and watch it. */
export async function start(place, task, settings, done, onStep = null) {
  const {analysis} = pageData();
  try {
    const job = await call("POST", `/a/${analysis.id}/jobs`, {task, settings});
    watch(place, job.number, done, onStep);
    return job;
  } catch (error) {
    complain(place, error);
    return null;
  }
}

function panel(place, base, steps) {
  const phase = el("span.phase", {}, "waiting"), clock = el("span.clock"), better = el("p.muted");
  const stop = button("Stop with the best so far", async () => {
    stop.textContent = "Stopping…";
    await call("POST", `${base}/stop`).catch(() => null);
  });
  const curve = svg("svg", {
    viewBox: "0 0 300 70", preserveAspectRatio: "none", role: "img", "aria-label": "the score as it rises",
  });
  place.replaceChildren(el("div.job", {role: "status", "aria-live": "polite"},
    el("div.line", {}, phase, clock, stop), el("progress"), better, curve));
  let began = null;
  const tick = setInterval(() => {
    if (began !== null) clock.textContent = `${Math.round((Date.now() - began) / 1000)} s`;
  }, 500);
  return {
    state(told) {
      const waiting = told.place ? `waiting: ${told.place} before it` : "waiting for its turn";
      phase.textContent = {queued: waiting, running: "at work"}[told.state] ?? told.state;
      if (told.state === "running") began ??= Date.now();
    },
    lost() { phase.textContent = "the server does not answer; trying again"; },
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
  const score = `Score ${number(last.objective, 7)} nats.`;
  if (gain <= 0.1) return score;
  const since = earlier === scored[0] ? "the first one tried" : "a minute ago";
  return `The best so far is ${times(gain)} times more probable than ${since}. ${score}`;
}

function draw(curve, scored) {
  const values = scored.map(s => s.objective), low = Math.min(...values), high = Math.max(...values);
  const x = i => 300 * i / (values.length - 1);
  const y = v => high > low ? 66 - 62 * (v - low) / (high - low) : 35;
  const points = values.map((v, i) => `${x(i).toFixed(1)},${y(v).toFixed(1)}`).join(" ");
  curve.replaceChildren(svg("polyline", {points, "vector-effect": "non-scaling-stroke"}));
}
