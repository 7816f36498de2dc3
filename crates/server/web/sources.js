// The sources of each sentence of the answer: a number after the sentence shows the turn,
// with its words marked.
//
// Numbers and marks are put into the text as private-use characters, which Markdown leaves alone,
// and replaced in the elements made from it.

import { bullets, dialog, h, name } from './dom.js';
import { plural, words } from './figures.js';
import { markdown } from './markdown.js';
import { inlined } from './views.js';

const FIRST = 0x100000;
const LAST = 0x10efff;
const MARK = String.fromCodePoint(0x10f000);
const END = String.fromCodePoint(0x10f001);
const OURS = /[\u{100000}-\u{10ffff}]/gu;

/** The text of the answer, with numbers after its sentences. */
export function sourced(state) {
  const { decision } = state;
  const notes = noted(decision);
  if (!notes.length) return markdown(decision.synthesis);
  const letters = plain(decision.synthesis);
  const out = [];
  let at = 0;
  notes.forEach((note, index) => {
    if (!note || FIRST + index > LAST) return;
    const part = letters.slice(note.start, note.end).join('');
    out.push(...letters.slice(at, note.end), isBlock(part) ? '\n\n' : '', String.fromCodePoint(FIRST + index));
    at = note.end;
  });
  const nodes = markdown([...out, ...letters.slice(at)].join(''));
  nodes.forEach((node) =>
    replace(node, (letter) => {
      const note = notes[letter.codePointAt(0) - FIRST];
      return note ? number(state, note) : null;
    }),
  );
  return nodes;
}

/** How many sentences of the answer have a source in the discussion, and what it leaves out. */
export function supported({ provenance = [], dropped = [] }) {
  const count = (...levels) => provenance.filter((it) => levels.includes(it.level)).length;
  const sourced = count('quoted', 'supported');
  const others = [
    [count('partly'), 'a partial one'],
    [count('unsupported'), 'none'],
    [count('contradicted?'), 'may contradict its source'],
  ].filter(([number]) => number);
  const all = sourced + others.reduce((sum, [number]) => sum + number, 0);
  const have = sourced === 1 ? 'has' : 'have';
  const line = [`${sourced} of ${plural(all, 'sentence')} ${have} a source in the discussion`];
  others.forEach(([number, how]) => line.push(`${number} ${how}`));
  return [
    all > 0 && h('p.faint', {}, `${line.join(', ')}.`),
    dropped.length > 0 && [
      h('h3', {}, 'Left out of the answer'),
      bullets(dropped.map((it) => [h('b', {}, name(it.participant)), ` (round ${it.round}): `, inlined(it.text)])),
    ],
  ];
}

/** What to show after each sentence; the turns are numbered in the order of their first use. */
function noted({ provenance = [] }) {
  const steps = [];
  return provenance.map((sentence) => {
    // These are not counted either.
    if (sentence.level === 'own') return null;
    const sources = sentence.sources ?? [];
    sources.forEach((it) => steps.includes(it.step) || steps.push(it.step));
    const numbers = [...new Set(sources.map((it) => steps.indexOf(it.step) + 1))];
    const isDoubtful = sentence.level === 'unsupported' || sentence.level === 'contradicted?';
    if (!numbers.length && !isDoubtful) return null;
    return { ...sentence, sources, numbers, isDoubtful };
  });
}

/** The characters of a text, without any of ours. */
const plain = (text) => [...text.replace(OURS, '\ufffd')];

const isBlock = (text) => /^(```|~~~|\|)/.test(text);

const LEVELS = {
  quoted: 'repeats the words of',
  supported: 'is based on',
  partly: 'is partly based on',
  unsupported: 'has a number that is not in',
  'contradicted?': 'may contradict',
};

const whom = ({ participant, round }) => `${participant} in round ${round}`;

/** The number after a sentence. */
function number(state, note) {
  const who = [...new Set(note.sources.map(whom))];
  const told = who.length ? `${LEVELS[note.level]} ${who.join(', ')}` : 'has no source in the discussion';
  const mark = `${note.numbers.join(',')}${note.isDoubtful ? '?' : ''}`;
  return h(
    `sup.source.${note.isDoubtful ? 'doubtful' : note.level}`,
    {},
    h(
      'button',
      {
        type: 'button',
        title: `This sentence ${told}`,
        'aria-label': `${mark}: this sentence ${told}`,
        on: { click: () => show(state, note, told) },
      },
      mark,
    ),
  );
}

/** Shows the turns that a sentence rests on. */
function show(state, note, told) {
  const turns = [...new Set(note.sources.map((it) => it.step))].map((step) => {
    const spans = note.sources.filter((it) => it.step === step);
    const turn = state.turns.find((it) => it.step === step);
    return h(
      'article.source',
      { data: { seat: String((state.seats.get(spans[0].participant)?.index ?? 0) % 6) } },
      h('h3', {}, name(spans[0].participant), h('small', {}, ` round ${spans[0].round}${turn ? `, ${words(turn.phase)}` : ''}`)),
      h('div.said', {}, turn ? marked(turn, spans) : null),
    );
  });
  const sentence = plain(state.decision.synthesis).slice(note.start, note.end).join('');
  dialog(
    'Who said it',
    h('blockquote', { tabIndex: -1, autofocus: true }, markdown(sentence)),
    h('p.faint', {}, `This sentence ${told}.`),
    turns,
    note.unconfirmed?.length > 0 &&
      h('p.faint', {}, `Its writer also named ${note.unconfirmed.join(', ')}, which the record does not confirm.`),
    h('p.buttons', {}, h('button', { value: '' }, 'Close')),
  );
}

/** The text of a turn with marks around these places. A form has no places. */
function marked(turn, spans) {
  if (turn.form && !turn.prose) return markdown(spans.length ? turn.text : '');
  const letters = plain(turn.form ? turn.prose : turn.text);
  const places = spans
    .map(({ start, end }) => [start, end])
    .sort(([a], [b]) => a - b)
    .filter(([start, end]) => !isBlock(letters.slice(start, end).join('')));
  const out = [];
  let at = 0;
  for (const [start, end] of places) {
    if (start < at) continue;
    out.push(...letters.slice(at, start), MARK, ...letters.slice(start, end), END);
    at = end;
  }
  const nodes = markdown([...out, ...letters.slice(at)].join(''));
  let isOpen = false;
  nodes.forEach((node) =>
    replace(
      node,
      (letter) => {
        isOpen = letter === MARK;
        return null;
      },
      (text) => (isOpen && text.trim() ? h('mark', {}, text) : text),
    ),
  );
  return nodes;
}

/** Replaces our characters in the texts of an element, and what stands between them. */
function replace(root, make, between = (text) => text) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  for (const node of texts) {
    const parts = node.data.split(/([\u{100000}-\u{10ffff}])/u).filter(Boolean);
    const isOurs = (part) => part.codePointAt(0) >= FIRST;
    node.replaceWith(...parts.map((part) => (isOurs(part) ? make(part) : between(part))).filter((it) => it !== null));
  }
}
