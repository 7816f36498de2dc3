// The choice of a pattern: a card for each with its picture, what happens, and when to use it.

import { fill, h, memo } from './dom.js';
import { sketched } from './sketch.js';

/** `chosen()` is called when the user has chosen another pattern. */
export function patternPicker(chosen) {
  const summary = h('summary');
  const cards = h('div.cards', { role: 'radiogroup', 'aria-label': 'Pattern', tabIndex: -1 });
  const root = h('details.patterns', {}, summary, cards);
  const drawn = memo();
  let all = [];
  let value = '';

  const found = () => all.find((it) => it.name === value);

  function show() {
    for (const it of cards.querySelectorAll('input')) it.checked = it.value === value;
    drawn(value, () => {
      const pattern = found();
      fill(summary, pattern && face(pattern));
    });
  }

  function card(pattern) {
    const take = () => {
      value = pattern.name;
      show();
      chosen();
    };
    // A choice by mouse closes the list; by keys, the next arrow may follow.
    const close = (event) => {
      if (event.detail === 0) return;
      root.open = false;
      summary.focus();
    };
    return h(
      'label.pattern',
      {},
      h('input', { type: 'radio', name: 'pattern', value: pattern.name, on: { change: take, click: close } }),
      face(pattern),
    );
  }

  return {
    root,
    found,
    value: () => value,
    offer(patterns) {
      all = patterns;
      fill(cards, all.map(card));
      value = found()?.name ?? all[0]?.name ?? '';
      show();
    },
    choose(name) {
      if (!all.some((it) => it.name === name)) return;
      value = name;
      show();
    },
  };
}

const face = ({ name, summary, suits, sketch }) => [
  h('span.picture', {}, sketched(sketch)),
  h('span.about', {}, h('b', {}, name), h('span.hint', {}, summary), suits && h('span.suits', {}, h('i', {}, 'For '), lower(suits))),
];

/** A sentence that goes on after a word. */
const lower = (text) => text.charAt(0).toLowerCase() + text.slice(1);
