// The whole record as a strip: who spoke when, by the time it took. Drag it, or use the arrow keys,
// to replay the past.

import { fill, h, memo, say, svg } from './dom.js';
import { capital, clock, words } from './figures.js';
import { isOver } from './fold.js';

/** How long each fact is shown during replay, in milliseconds. */
const BEAT = 120;

/**
 * The share of the width that all events have in common, however little time they took: so each has
 * a place of its own.
 */
const EVEN = 0.08;

/** The width of the picture in its own units. */
const WIDTH = 1000;

/** `choose(position)` receives the number of facts to show, or null for the live view. */
export function timeline(choose) {
  const range = h('input', {
    type: 'range',
    min: 0,
    max: 1,
    step: 1,
    value: 1,
    'aria-label': 'Position in the record',
    id: 'position',
  });
  const lanes = svg('svg', { preserveAspectRatio: 'none', 'aria-hidden': 'true' });
  const needle = h('span.needle');
  const track = h('div.track', {}, lanes, needle, range);
  const marks = h('div.marks', { 'aria-hidden': 'true' });
  const where = h('span.where');
  const live = h('button', { type: 'button', hidden: true, on: { click: () => go(null) } }, 'Back to now');
  const play = h('button', { type: 'button', 'aria-pressed': 'false', on: { click: () => toggle() } }, '▶ Play');
  const root = h(
    'section.timeline',
    { 'aria-label': 'Timeline' },
    h('header', {}, h('h2', {}, 'Timeline'), where, h('span.grow'), play, live),
    track,
    marks,
  );
  const drawn = memo();
  let [position, total, timer, facts] = [null, 0, 0, []];

  range.addEventListener('input', () => {
    stop();
    go(Number(range.value) >= total ? null : Number(range.value));
  });
  // The range counts events, and the picture shows time: so the pointer is read here.
  track.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    track.setPointerCapture(event.pointerId);
    range.focus({ preventScroll: true });
    stop();
    point(event);
  });
  track.addEventListener('pointermove', (event) => {
    if (track.hasPointerCapture(event.pointerId)) point(event);
  });

  function point({ clientX }) {
    const { left, width } = track.getBoundingClientRect();
    const at = eventAt(facts, (clientX - left) / width);
    go(at >= total ? null : at);
  }

  function go(to) {
    position = to === null || to >= total ? null : Math.max(1, to);
    choose(position);
  }
  function stop() {
    clearInterval(timer);
    timer = 0;
    play.setAttribute('aria-pressed', 'false');
    say(play, '▶ Play');
  }
  function toggle() {
    if (timer) return stop();
    if (position === null) go(1);
    play.setAttribute('aria-pressed', 'true');
    say(play, '❚❚ Hold');
    timer = setInterval(() => {
      go((position ?? total) + 1);
      if (position === null) stop();
    }, BEAT);
  }

  const update = (whole, shown, all) => {
    [total, facts] = [whole.seq, all];
    range.max = Math.max(1, total);
    range.value = position ?? total;
    needle.style.setProperty('--at', placeOf(facts, shown.seq));
    live.hidden = position === null;
    say(live, isOver(whole) ? 'To the end' : 'Back to now');
    root.classList.toggle('past', position !== null);
    // A long record is not redrawn for every event.
    const step = Math.max(1, Math.ceil(whole.spans.length / 200));
    drawn(`${Math.floor(total / step)} ${isOver(whole)}`, () => draw(lanes, marks, whole, facts));
    const fact = facts[shown.seq - 1];
    const told = `${clock(fact?.active_ms ?? 0)} · event ${shown.seq} of ${total}${position === null ? '' : ` · ${described(fact)}`}`;
    say(where, told);
    range.setAttribute('aria-valuetext', `${told}, ${described(fact)}`);
  };
  return {
    root,
    update,
    step: (by) => {
      stop();
      go((position ?? total) + by);
    },
    toggle,
    now: () => {
      stop();
      go(null);
    },
  };
}

function described(fact) {
  if (!fact) return 'nothing yet';
  const who = fact.participant ?? fact.turn?.participant ?? fact.name ?? fact.told ?? '';
  return `${who} ${words(fact.type)}${fact.phase ? `: ${words(fact.phase)}` : ''}${fact.to ? ` ${words(fact.to)}` : ''}`.trim();
}

/** Where an event is, from 0 to 1: by the time until then, in which pauses don't count. */
export function placeOf(facts, seq) {
  const count = facts.length;
  if (!count || seq <= 0) return 0;
  const last = facts[count - 1].active_ms;
  const share = seq / count;
  if (!last) return Math.min(1, share);
  return Math.min(1, (1 - EVEN) * (facts[Math.min(seq, count) - 1].active_ms / last) + EVEN * share);
}

/** The last event at or before this place. */
export function eventAt(facts, place) {
  let [low, high] = [1, facts.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (placeOf(facts, middle) <= place) low = middle;
    else high = middle - 1;
  }
  return low;
}

function draw(lanes, marks, state, facts) {
  // A run has no seats: its steps are the lanes.
  const names = [...new Set(state.spans.map((it) => it.name))];
  const seats = state.spec?.plan ? names.map((name, index) => ({ name, index })) : [...state.seats.values()];
  lanes.setAttribute('viewBox', `0 0 ${WIDTH} ${Math.max(1, seats.length) * 10}`);
  lanes.replaceChildren(...seats.flatMap((seat) => lane(seat, state.spans, facts)));
  let last = -1;
  fill(
    marks,
    state.marks.map(({ seq, label }) => {
      const at = placeOf(facts, seq);
      // Labels that would overlap are left out.
      if (last >= 0 && at - last < 0.05) return null;
      last = at;
      const mark = h('span', { title: capital(label), class: at > 0.9 ? 'late' : null }, label);
      mark.style.setProperty('--at', at);
      return mark;
    }),
  );
}

/**
 * All finished turns of a participant as one path, given up attempts as another, and running ones as
 * a third: a long record has thousands of turns.
 */
function lane({ name, index }, spans, facts) {
  const bar = ({ from, to }) => {
    const left = placeOf(facts, from) * WIDTH;
    const right = to === null ? WIDTH : placeOf(facts, to) * WIDTH;
    const width = Math.max(WIDTH / 400, right - left);
    return `M${left.toFixed(2)} ${index * 10 + 1.5}h${width.toFixed(2)}v7h${(-width).toFixed(2)}z`;
  };
  const path = (kind, some) => svg('path', { d: some.map(bar).join(''), 'data-seat': index % 6, class: kind });
  const own = spans.filter((it) => it.name === name);
  const [over, open] = [own.filter((it) => it.to !== null), own.filter((it) => it.to === null)];
  return [path('', over.filter((it) => !it.isLost)), path('lost', over.filter((it) => it.isLost)), path('open', open)];
}
