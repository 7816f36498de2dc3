// One discussion: watch, steer, speak, replay.

import { ahead, get, listen, recalled } from './api.js';
import { columns } from './columns.js';
import { controls } from './controls.js';
import { announce, fill, h, memo, say, simulated } from './dom.js';
import { earlier, follow } from './earlier.js';
import { advance, apply, fold, isOver, start } from './fold.js';
import { visible } from './hidden.js';
import { fork } from './next.js';
import { ending, panels, rounds, standing, strip, synthesis, tone } from './panels.js';
import { person } from './person.js';
import { steps } from './steps.js';
import { alerted, titled } from './tab.js';
import { talk } from './talk.js';
import { timeline } from './timeline.js';
import { learn } from './vocabulary.js';

const CONNECTION = {
  lost: 'Connection lost. What happens meanwhile is kept and comes after.',
};

const MISSING = {
  gone: ['There is no such discussion', 'It may have been deleted, or belong to somebody else.'],
  closed: ['A token is needed', 'Without one nothing can be shown. Reload the page to give it.'],
};

export function watch(id, main) {
  const facts = [];
  const whole = start();
  const texts = new Map();
  const paints = [];
  let [shown, position, heardAt, isDue, connection] = [whole, null, 0, false, 'live'];

  const steering = controls(id, () => again(), rename);
  // In page order.
  const parts = {
    head: heading(steering.root, recalled(`quorum-panel-${id}`)),
    strip: strip(),
    banner: banner(),
    person: person(id),
    earlier: earlier(),
    steps: steps(),
    synthesis: synthesis(),
    follow: follow(id),
    columns: columns(),
    timeline: timeline((to) => {
      position = to;
      shown = to === null ? whole : past(shown, to);
      draw();
    }),
    panels: panels(id),
    talk: talk((step) => fork(id, whole, step)),
  };
  fill(main, parts.banner.root);
  main.setAttribute('aria-busy', 'true');
  let isFirst = true;

  /** The state after this many facts: advanced from the one shown, or from the beginning. */
  const past = (from, to) => (from !== whole && from.seq <= to ? advance(from, facts, to) : fold(facts, to));

  /** Draws once for all events since the last frame. */
  function draw(since) {
    if (since !== undefined && paints.length < KEPT) paints.push(since);
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      render();
      const drawn = paints.splice(0);
      if (drawn.length) afterPaint(() => painted(drawn));
    });
  }

  function render() {
    const isNow = position === null;
    parts.banner.update(shown, connection);
    if (!shown.spec) return;
    parts.head.update(shown, isNow, whole);
    const goesOn = isNow && shown.underWay.size > 0 && !isOver(shown);
    parts.strip.update(shown, goesOn ? performance.now() - heardAt : 0);
    parts.earlier.update(shown);
    parts.steps.update(shown);
    parts.synthesis.update(shown);
    parts.follow.update(whole);
    parts.person.update(shown, isNow);
    parts.columns.update(shown, isNow ? texts : new Map());
    steering.update(whole);
    // The lower parts are made after the first paint.
    if (isFirst) {
      main.removeAttribute('aria-busy');
      fill(
        main,
        Object.values(parts).map((it) => it.root),
      );
      draw();
    } else below();
    isFirst = false;
  }

  function below() {
    parts.timeline.update(whole, shown, facts);
    parts.panels.update(shown, position === null);
    parts.talk.update(shown);
  }

  function hear(kind, data) {
    const at = performance.now();
    if (facts.length + texts.size === 0) performance.mark('first-event');
    if (kind === 'fact') take(data, at);
    else if (kind === 'turn-chunk') hearText(data, at);
    draw({ at, sent: kind === 'turn-chunk' ? data.timestamp : data.at / 1000 });
  }

  function take(fact, at) {
    facts.push(fact);
    apply(whole, fact);
    heardAt = at - ago(fact);
    if (fact.step && fact.type !== 'reply_read') texts.delete(fact.step);
    if (fact.type === 'call_placed') whole.seats.get(fact.participant).heard = heardAt;
    tell(fact);
  }

  /** A chunk with offset 0 replaces the text so far. */
  function hearText({ step, participant, attempt, offset, chunk }, at) {
    const before = texts.get(step);
    if (offset === 0 || !before) texts.set(step, { step, name: participant, attempt, text: chunk, since: at });
    else before.text += chunk;
  }

  function rename(title) {
    parts.head.rename(title);
    draw();
  }

  function again() {
    if (connection === 'over') listen(id, whole.seq, hear, stand);
  }

  function stand(word) {
    connection = word;
    if (MISSING[word]) missing(main, MISSING[word]);
    else draw();
  }

  // Records are drawn by their pattern's declarations, so those are fetched first.
  void learn().then(() => listen(id, 0, hear, stand));
  // Without an answer, its topic is its name.
  get(`/api/discussions/${id}/title`).then(({ title }) => rename(title), () => {});
  setInterval(() => {
    if (whole.underWay.size) draw();
  }, 1000);
  // For the console, and for tests that check whether any event was missed.
  globalThis.quorum = { facts, texts, state: () => shown, whole, latencies };
  return {
    p: () => steering.run(whole.lifecycle === 'paused' || whole.wish === 'pause' ? 'resume' : 'pause'),
    n: () => steering.run('note'),
    s: () => steering.run('stop'),
    e: () => steering.openExport(),
    r: () => parts.person.focus(),
    ArrowLeft: () => parts.timeline.step(-1),
    ArrowRight: () => parts.timeline.step(1),
    l: () => parts.timeline.now(),
    k: () => parts.timeline.toggle(),
  };
}

/**
 * The name that a person gave it with the question beneath, or the question; the kind of discussion,
 * its state, and what is unusual about its panel.
 */
function heading(controls, unusual) {
  const [title, kind, where, origin] = ['h1', 'span.chip', 'span.chip.state', 'span'].map((it) => h(it));
  const question = h('p.asked.faint', { hidden: true });
  const panel = unusual && h('p.faint', {}, unusual);
  const named = memo();
  let own = '';
  const name = (state) => {
    const { spec, fork, lineage } = state;
    titled(`${visible(own || spec.topic)} · Quorum`);
    say(title, own || spec.topic);
    question.hidden = !own;
    say(question, own ? spec.topic : '');
    say(kind, rounds(state));
    fill(
      origin,
      spec.simulation && simulated(),
      fork && h('a.chip', { href: `/d/${fork.of}` }, 'forked'),
      lineage && h('a.chip', { href: `/d/${lineage.parent}` }, 'part of another'),
    );
  };
  return {
    root: h('header.head', {}, h('div.question', {}, title, question, h('p.chips', {}, kind, where, origin), panel), controls),
    /** Sets the name; it is shown with the next update. */
    rename: (given) => {
      own = given ?? '';
    },
    update: (state, isNow, whole) => {
      named(JSON.stringify([state.spec.topic, own]), () => name(state));
      say(where, isNow ? standing(state) : `replay · ${standing(state)}`);
      where.dataset.lifecycle = light(state);
      alerted(whole.awaiting.length > 0 || Boolean(whole.ruling));
    },
  };
}

/** The state by which a discussion is coloured: nothing that fell short is green. */
function light(state) {
  if (state.awaiting.length || state.ruling) return 'awaiting';
  return state.lifecycle === 'completed' && tone(state) !== 'good' ? 'less' : state.lifecycle;
}

/** How long ago it happened, by the server's clock, which may differ from this machine's. */
const ago = (fact) => Math.max(0, Date.now() - ahead() - fact.at / 1000);

/** The page for an address that no discussion can have. */
export const unknown = (main) => missing(main, MISSING.gone);

/** The page for a missing discussion: the reason, and where to go. */
function missing(main, [title, text]) {
  titled(`${title} · Quorum`);
  main.removeAttribute('aria-busy');
  fill(main, h('div.missing', {}, h('h1', {}, title), h('p', {}, text), h('a.button', { href: '/' }, 'All discussions')));
}

/** The banner with current information, if there is any. */
function banner() {
  const root = h('p.banner', { hidden: true });
  const update = (state, connection) => {
    const text =
      CONNECTION[connection] ??
      (state.lifecycle === 'paused' ? 'Paused: nothing is asked until you resume.' : ending(state));
    root.hidden = !text;
    root.dataset.kind = CONNECTION[connection] || state.problem ? 'error' : 'info';
    say(root, text);
  };
  return { root, update };
}

function tell(fact) {
  if (fact.type === 'round_opened') announce(`Round ${fact.round} begins.`);
  else if (fact.type === 'turn_completed') announce(`${fact.turn.participant} has spoken.`);
  else if (fact.type === 'decided') announce('There is a synthesis.');
  else if (fact.type === 'noted' && fact.told) announce(fact.told);
  else if (fact.type === 'concluded') announce('It is over.');
}

const KEPT = 1000;
const latencies = { screen: [], server: [] };

/**
 * The latency of a frame: from the arrival of its events, and from when the server recorded them.
 */
function painted(drawn) {
  const now = performance.now();
  if (latencies.screen.length === 0) {
    performance.mark('first-screen');
    performance.measure('first event to screen', 'first-event', 'first-screen');
  }
  for (const { at, sent } of drawn.slice(0, KEPT)) {
    latencies.screen.push(now - at);
    latencies.server.push(performance.timeOrigin + now - sent);
  }
  for (const list of Object.values(latencies)) list.splice(0, Math.max(0, list.length - KEPT));
}

/** A message sent in a frame arrives after that frame is on the screen. */
function afterPaint(then) {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    then();
  };
  port2.postMessage(0);
}
