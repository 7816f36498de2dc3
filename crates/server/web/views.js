// Draws a value by its view: the description that its pattern or method declares, the same for
// every surface.

import { chart } from './chart.js';
import { bullets, h, name, seat as colour, table } from './dom.js';
import { capital, decimals, words } from './figures.js';
import { pointer } from './fold.js';
import { markdown } from './markdown.js';

/** The nodes for this value; none if it is empty. `seats` assigns colours to names. */
export const draw = (view, value, seats) =>
  isEmpty(value) || !Object.hasOwn(VIEWS, view?.kind) ? [] : VIEWS[view.kind](view, value, seats).flat(Infinity).filter(Boolean);

/** Whether this view, or a part of it, is of that kind. */
export const includes = (view, kind) =>
  view?.kind === kind || Boolean(view?.sections?.some?.((it) => includes(it.view, kind)));

const VIEWS = {
  text: (_, value) => [h('div.said', {}, markdown(written('text', value)))],
  list: (_, value) => [bullets(entries(value).map((it) => inlined(written('text', it))))],
  line: ({ label, cell }, value) => [h('p.line', {}, `${label}: `, h('bdi', {}, written(cell, value)))],
  table: (view, value) => [Array.isArray(value) ? rows(view, value) : pairs(view.columns, value)],
  scores,
  ballots,
  numbers,
  sections: ({ sections }, value, seats) =>
    entries(sections).map(({ title, at, view }) => {
      const drawn = draw(view, pointer(value, at), seats);
      return drawn.length ? [title && h('h3', {}, capital(title)), drawn] : [];
    }),
};

/** A single value as text; empty if there is none. */
export function written(cell, value) {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) {
    const texts = value.map((it) => written(cell, it));
    return texts.join(texts.some((it) => it.includes(',')) ? '; ' : ', ');
  }
  if (typeof value === 'boolean' && cell === 'yesNo') return value ? 'yes' : 'no';
  if (typeof value === 'number') return (NUMBERS[cell] ?? String)(value);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const decimal = (value) => String(Number(decimals(value, 2)));

const NUMBERS = {
  share: (value) => `${Math.round(100 * value)} %`,
  percent: (value) => `${Math.round(value)} %`,
  number: decimal,
};

/** Markdown without the paragraph around it, if there is only one. */
export const inlined = (text) => {
  const [first, ...rest] = markdown(text);
  return first?.tagName === 'P' && !rest.length ? [...first.childNodes] : [first, ...rest];
};

/** The entries of a list; a single value is a list of one. */
const entries = (value) => (Array.isArray(value) ? value : isEmpty(value) ? [] : [value]);

const isEmpty = (value) =>
  value === null ||
  value === undefined ||
  (typeof value === 'string' && !value.trim()) ||
  (typeof value === 'object' && !Object.keys(value).length);

/** The maximum length of a text that is not wrapped. */
const BRIEF = 24;

/** A table without empty columns. */
function rows({ columns }, values) {
  const text = (column, row) => written(column.cell, pointer(row, column.at));
  const used = entries(columns).filter((it) => values.some((row) => text(it, row)));
  const heads = used.map((it) => h('span.brief', {}, capital(it.title)));
  const cells = values.map((row) => used.map((it) => boxed(it.cell, pointer(row, it.at))));
  return h('div.wide', {}, table(heads, cells));
}

/** A value in a cell: several long texts as bullets, a short one on a line. */
function boxed(cell, value) {
  const text = written(cell, value);
  if (text.length <= BRIEF) return h('span.brief', {}, h('bdi', {}, text));
  return h('div.said', {}, Array.isArray(value) ? bullets(value.map((it) => inlined(written(cell, it)))) : inlined(text));
}

/** A single row as a table of headings beside cells. */
function pairs(columns, value) {
  const pair = ({ title, at, cell }) => {
    const text = written(cell, pointer(value, at));
    return text && h('div', {}, h('dt', {}, capital(title)), h('dd', {}, cell === 'text' ? inlined(text) : text));
  };
  return h('div.form', {}, h('dl', {}, entries(columns).map(pair)));
}

/** Scores of participants: as lines over the rounds, or for one round with the other columns. */
function scores(view, value, seats) {
  const best = view.best || 10;
  const rounds = entries(value).map((it, at) => ({ round: pointer(it, '/round') ?? at + 1, it, marks: marks(view, it) }));
  if (!Array.isArray(value)) return rounds.flatMap(({ it, marks }) => round(view, it, marks, seats, best));
  const lines = new Map();
  for (const { round, marks } of rounds)
    for (const { who, score } of marks) {
      if (!lines.has(who)) lines.set(who, new Map());
      lines.get(who).set(round, score);
    }
  return [lines.size > 0 && chart(lines, seats, best)];
}

/** The scores of one round. */
function marks({ entries: at, participant, score }, value) {
  const mark = (it) => ({ who: written('text', pointer(it, participant)), score: pointer(it, score), it });
  return entries(pointer(value, at))
    .map(mark)
    .filter(({ who, score }) => who && Number.isFinite(score));
}

const round = (view, value, all, seats, best) => {
  const whole = view.whole && pointer(value, view.whole);
  return [
    all.map((it) => rated(it, view, seats, best)),
    Number.isFinite(whole) && h('p.faint', {}, `As a whole ${decimals(whole, 1)}`),
  ];
};

function rated({ who, score, it }, view, seats, best) {
  const bar = h('span.bar');
  bar.style.setProperty('--share', score / best);
  const isElse = ([key, value]) => ![view.participant, view.score].includes(`/${key}`) && said(value);
  return h(
    'div.rated',
    { data: colour(seats.get(who)?.index ?? 0) },
    h('b', {}, name(who)),
    ` ${decimals(score, 1)}`,
    Object.entries(it)
      .filter(isElse)
      .map(([key, value]) => h('span.faint', {}, ` ${words(key)}: ${said(value)}`)),
    bar,
  );
}

/** The texts of a value; none if it is a number or a flag. */
const said = (value) => entries(value).filter((it) => typeof it === 'string' && it.trim()).join('; ');

/**
 * The result of a vote: the options with their support, the winner, and every vote with its
 * reasons.
 */
function ballots(_, value, seats) {
  const cast = entries(value.voteRecords).filter((it) => typeof it === 'object');
  const all = Object.entries(value.votes ?? {}).map(([option, votes]) => ({
    option,
    votes,
    weight: Number(pointer(value.weightedVotes, `/${option.replaceAll('~', '~0').replaceAll('/', '~1')}`) ?? votes),
    who: cast.filter((it) => it.choice === option).map((it) => it.provider),
  }));
  const votes = cast.map((it) => ({ who: it.provider, choice: it.choice, confidence: it.confidence, reason: it.reasoning }));
  const tie = entries(value.tie);
  return [
    value.winner && h('p.line.for', {}, h('b', {}, 'Most votes: ', name(value.winner))),
    tie.length > 0 && h('p.line.against', {}, `A tie between ${tie.join(' and ')}`),
    tally(all, seats),
    reasons(votes, seats),
  ];
}

/** Options with their support, the strongest first. */
export function tally(all, seats) {
  const most = Math.max(...all.map((it) => it.weight), 0.01);
  const bar = (row) => {
    const it = h('span.bar');
    it.style.setProperty('--share', row.weight / most);
    return it;
  };
  const dots = (row) => row.who.map((who) => h('span.dot', { title: who, data: colour(seats.get(who)?.index ?? 0) }));
  const row = (it) => [[h('bdi', {}, it.option), bar(it)], [dots(it), it.votes], decimals(it.weight, 2)];
  const sorted = [...all].sort((a, b) => b.weight - a.weight);
  const made = table(['Option', 'Votes', 'Weight'], sorted.map(row));
  made.className = 'tally';
  return made;
}

/** Every choice with its reasons, collapsed. */
export const reasons = (cast, seats) =>
  cast.length > 0 &&
  h(
    'details.quiet',
    {},
    h('summary', {}, 'Every vote with its reasons'),
    cast.map((it) =>
      h(
        'p.line',
        { data: colour(seats.get(it.who)?.index ?? 0) },
        h('b', {}, name(it.who)),
        ` votes ${it.choice} (${written('number', it.confidence)}): ${it.reason}`,
      ),
    ),
  );

/** Participants' numbers, with their spread. */
function numbers({ number, unit }, value) {
  const given = entries(value)
    .map((it) => ({ it, number: pointer(it, number), unit: unit ? written('text', pointer(it, unit)) : '' }))
    .filter((it) => Number.isFinite(it.number));
  const sorted = given.map((it) => it.number).sort((a, b) => a - b);
  if (!sorted.length) return [];
  const middle = (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.floor(sorted.length / 2)]) / 2;
  const text = (it) => `${decimal(it.number)} ${it.unit}`.trim();
  const head = (it, key) => written('text', pointer(it, key));
  return [
    sorted.length > 1 && h('p.line', {}, `From ${decimal(sorted[0])} to ${decimal(sorted.at(-1))}, the median ${decimal(middle)}`),
    h('div.wide', {}, table(['Round', 'Participant', 'Number'], given.map((it) => [head(it.it, '/round'), head(it.it, '/participant'), text(it)]))),
  ];
}
