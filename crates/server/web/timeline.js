// The whole record as a strip: who spoke when. Drag it, or use the arrow keys, to replay the past.

import { fill, h, memo, say, svg } from './dom.js';
import { capital, words } from './figures.js';
import { isOver } from './fold.js';

/** How long each fact is shown during replay, in milliseconds. */
const BEAT = 120;

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
  const marks = h('div.marks', { 'aria-hidden': 'true' });
  const where = h('span.where');
  const live = h('button', { type: 'button', hidden: true, on: { click: () => go(null) } }, 'Back to now');
  const play = h('button', { type: 'button', 'aria-pressed': 'false', on: { click: () => toggle() } }, '▶ Play');
  const root = h(
    'section.timeline',
    { 'aria-label': 'Timeline' },
    h('header', {}, h('h2', {}, 'Timeline'), where, h('span.grow'), play, live),
    h('div.track', {}, lanes, range),
    marks,
  );
  const drawn = memo();
  let [position, total, timer] = [null, 0, 0];

  range.addEventListener('input', () => {
    stop();
    go(Number(range.value) >= total ? null : Number(range.value));
  });

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

  const update = (whole, shown, facts) => {
    total = whole.seq;
    range.max = Math.max(1, total);
    range.value = position ?? total;
    live.hidden = position === null;
    say(live, isOver(whole) ? 'To the end' : 'Back to now');
    root.classList.toggle('past', position !== null);
    // A long record is not redrawn for every event.
    const step = Math.max(1, Math.ceil(whole.spans.length / 200));
    drawn(`${Math.floor(total / step)} ${isOver(whole)}`, () => draw(lanes, marks, whole));
    const fact = facts[shown.seq - 1];
    const told = `event ${shown.seq} of ${total}${position === null ? '' : ` · ${described(fact)}`}`;
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

function draw(lanes, marks, state) {
  // A run has no seats: its steps are the lanes.
  const names = [...new Set(state.spans.map((it) => it.name))];
  const seats = state.spec?.plan ? names.map((name, index) => ({ name, index })) : [...state.seats.values()];
  const [total, rows] = [Math.max(1, state.seq), Math.max(1, seats.length)];
  lanes.setAttribute('viewBox', `0 0 ${total} ${rows * 10}`);
  lanes.replaceChildren(...seats.flatMap((seat) => lane(seat, state.spans, total)));
  let last = -1;
  fill(
    marks,
    state.marks.map(({ seq, label }) => {
      // Labels that would overlap are left out.
      if (last >= 0 && (seq - last) / total < 0.05) return null;
      last = seq;
      const mark = h('span', { title: capital(label) }, label);
      mark.style.setProperty('--at', seq / total);
      return mark;
    }),
  );
}

/**
 * All finished turns of a participant as one path, and running ones as another: a long record has
 * thousands of turns.
 */
function lane({ name, index }, spans, total) {
  const bar = ({ from, to }) => {
    const width = Math.max(total / 400, (to ?? total) - from);
    return `M${from} ${index * 10 + 1.5}h${width}v7h${-width}z`;
  };
  const path = (kind, some) =>
    svg('path', { d: some.map(bar).join(''), 'data-seat': index % 6, class: kind });
  const own = spans.filter((it) => it.name === name);
  return [path('', own.filter((it) => it.to !== null)), path('open', own.filter((it) => it.to === null))];
}
