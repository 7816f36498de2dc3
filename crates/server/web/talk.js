// All contributions, by round. In a long discussion, turns are rendered when they scroll into view,
// and discarded when they are far away.

import { turnText } from './columns.js';
import { copier } from './copy.js';
import { fill, h, name, seat as colour } from './dom.js';
import { count, duration, money, plural, words } from './figures.js';
import { readingOf } from './reading.js';

/** Up to this many turns are all rendered, so that they can be searched and printed. */
const FEW = 60;

/** Phases before and after the rounds. */
const PHASES = { first: 'First answers', deciding: 'Deciding' };

/** `fork(step)` forks the discussion there. */
export function talk(fork) {
  const body = h('div');
  const count = h('small');
  const root = h(
    'section.talk',
    { 'aria-label': 'Everything said', hidden: true },
    h('h2', {}, 'Everything said ', count),
    body,
  );
  const rounds = new Map();
  const turns = new WeakMap();
  const made = new Map();
  const seen = new IntersectionObserver((entries) => entries.forEach(look), { rootMargin: '600px 0px' });
  let [shown, now, read] = [[], null, 0];

  function look({ target, isIntersecting, boundingClientRect }) {
    if (isIntersecting) make(target);
    else if (made.size > FEW && made.delete(target)) {
      target.style.minHeight = `${boundingClientRect.height}px`;
      fill(target);
    }
  }

  function make(article) {
    const turn = turns.get(article);
    const reading = readingOf(now, turn);
    if (made.get(article) === reading) return;
    made.set(article, reading);
    if (!article.firstChild) article.append(heading(turn, fork), h('div.said'));
    fill(article.lastChild, turnText(now, turn));
    article.style.minHeight = '';
  }

  /** Appends a turn or a note. */
  function add(it, state) {
    const element = isRemark(it)
      ? h('p.remark', {}, h('b', {}, 'Note: '), h('bdi', {}, it.text))
      : h('article.turn', {
          'aria-label': `${it.participant}, ${words(it.phase)}`,
          data: colour(state.seats.get(it.participant)?.index ?? 0),
        });
    group(it).append(element);
    shown.push({ it, element });
    if (isRemark(it)) return;
    turns.set(element, it);
    if (state.turns.length <= FEW) make(element);
    else seen.observe(element);
  }

  function drop({ element }) {
    const round = element.parentElement;
    seen.unobserve(element);
    made.delete(element);
    element.remove();
    if (round === body || round.children.length > 1) return;
    rounds.delete(round.dataset.key);
    round.remove();
  }

  function group(it) {
    if (isRemark(it)) return [...rounds.values()].at(-1) ?? body;
    const key = PHASES[it.phase] ?? `Round ${it.round}`;
    if (!rounds.has(key)) {
      rounds.set(key, h('details.round', { open: true, data: { key } }, h('summary', {}, key)));
      body.append(rounds.get(key));
    }
    return rounds.get(key);
  }

  return {
    root,
    update(state) {
      now = state;
      const wanted = sequence(state);
      const differs = shown.findIndex(({ it }, at) => !isSame(it, wanted[at]));
      if (differs >= 0) shown.splice(differs).reverse().forEach(drop);
      wanted.slice(shown.length).forEach((it) => add(it, state));
      // Replies are parsed a little after they arrive.
      if (read !== state.readings.length) [...made.keys()].forEach(make);
      read = state.readings.length;
      root.hidden = !wanted.length;
      count.textContent = plural(state.turns.length, 'turn');
    },
  };
}

const isRemark = (it) => it.after !== undefined;

const isSame = (a, b) => a === b || (b !== undefined && isRemark(a) && a.seq === b.seq);

/** The turns, with notes inserted where they were added. */
function sequence({ turns, notes }) {
  if (!notes.length) return turns;
  const all = [];
  let note = 0;
  for (let at = 0; at <= turns.length; at++) {
    while (notes[note]?.after <= at) all.push(notes[note++]);
    if (at < turns.length) all.push(turns[at]);
  }
  return all;
}

/** The model that answered, the tokens and the cost of a model's turn. */
function figures({ model, answered_by: answered, bill }) {
  const { prompt, completion } = bill.usage;
  if (!prompt && !completion) return [];
  const cost = bill.cost === undefined ? 'unpriced' : bill.cost > 0 && money(bill.cost);
  const about = bill.estimated ? '≈ ' : '';
  return [answered ?? model, `${about}${count(prompt)} in · ${count(completion)} out`, cost && `${bill.cost ? about : ''}${cost}`].filter(Boolean);
}

const heading = (turn, fork) =>
  h(
    'header',
    {},
    h('h3', {}, name(turn.participant)),
    h('small', {}, [words(turn.phase), duration(turn.duration_ms), ...figures(turn)].join(' · ')),
    h('span.grow'),
    copier(() => turn.prose ?? turn.text),
    h(
      'button.link',
      { type: 'button', title: 'Go on from here in another way', on: { click: () => fork(turn.step) } },
      'Fork from here',
    ),
  );
