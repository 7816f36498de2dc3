// Everything that was said, by round. A turn is made when it comes into sight, and forgotten when many are.

import { turnText } from './columns.js';
import { fill, h, name, seat as colour } from './dom.js';
import { duration, plural, words } from './figures.js';

/** So many turns are kept made at once. */
const MADE = 60;

/** `fork(step)` goes on from there in another way. */
export function talk(fork) {
  const body = h('div');
  const count = h('small');
  const root = h('section.talk', { 'aria-label': 'Everything said' }, h('h2', {}, 'Everything said ', count), body);
  let [shown, notes, rounds, now] = [[], 0, new Map(), null];
  const turns = new WeakMap();
  const made = new Set();
  const seen = new IntersectionObserver((entries) => entries.forEach(look), { rootMargin: '600px 0px' });

  function look({ target, isIntersecting }) {
    const [element, turn] = [target.querySelector('.said'), turns.get(target)];
    if (isIntersecting && !made.has(target)) {
      fill(element, turnText(now, turn));
      element.style.minHeight = '';
      made.add(target);
    } else if (!isIntersecting && made.size > MADE && made.delete(target)) {
      element.style.minHeight = `${element.offsetHeight}px`;
      fill(element);
    }
  }

  function add(turn, state) {
    const article = h(
      'article.turn',
      { data: colour(state.seats.get(turn.participant)?.index ?? 0) },
      h(
        'header',
        {},
        h('h3', {}, name(turn.participant)),
        h('small', {}, `${words(turn.phase)} · ${duration(turn.duration_ms)}`),
        h('span.grow'),
        h(
          'button.link',
          { type: 'button', title: 'Go on from here in another way', on: { click: () => fork(turn.step) } },
          'Fork from here',
        ),
      ),
      h('div.said', {}, h('p.faint', {}, '…')),
    );
    turns.set(article, turn);
    group(turn).append(article);
    seen.observe(article);
  }

  function group(turn) {
    const key = turn.phase === 'deciding' ? 'Deciding' : `Round ${turn.round}`;
    if (!rounds.has(key)) {
      rounds.set(key, h('details.round', { open: true }, h('summary', {}, key)));
      body.append(rounds.get(key));
    }
    return rounds.get(key);
  }

  function clear() {
    seen.disconnect();
    made.clear();
    [shown, notes, rounds] = [[], 0, new Map()];
    fill(body);
  }

  return {
    root,
    update(state) {
      now = state;
      const isLonger = state.turns.length >= shown.length && shown.every((it, at) => it === state.turns[at]);
      if (!isLonger || state.notes.length < notes) clear();
      for (let at = shown.length; at < state.turns.length; at++) {
        remarks(state, at);
        add(state.turns[at], state);
        shown.push(state.turns[at]);
      }
      remarks(state, state.turns.length);
      root.hidden = !shown.length;
      count.textContent = plural(shown.length, 'turn');
    },
  };

  /** Remarks from outside, where they fell. */
  function remarks(state, before) {
    while (notes < state.notes.length && state.notes[notes].after <= before) {
      const place = [...rounds.values()].at(-1) ?? body;
      place.append(h('p.remark', {}, h('b', {}, 'Note: '), state.notes[notes++].text));
    }
  }
}
