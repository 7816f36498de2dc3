// Scores by round as lines, with a text version for screen readers.

import { h, svg } from './dom.js';
import { decimals } from './figures.js';

/** The maximum number of rounds labelled on the axis. */
const TICKS = 8;

const [LEFT, RIGHT, TOP, BOTTOM] = [28, 292, 10, 100];

/** `lines`: participant → (round → score from 0 to `best`). */
export function chart(lines, seats, best) {
  const rounds = [...new Set([...lines.values()].flatMap((it) => [...it.keys()]))].sort((a, b) => a - b);
  const across = (round) =>
    rounds.length === 1 ? 160 : LEFT + 24 + ((RIGHT - LEFT - 44) * rounds.indexOf(round)) / (rounds.length - 1);
  const up = (score) => BOTTOM - ((BOTTOM - TOP) * Math.max(0, Math.min(best, score))) / best;
  const label = [...lines]
    .map(([who, it]) => `${who} ${[...it.values()].map((score) => decimals(score, 1)).join(', ')}`)
    .join('; ');
  const frame = svg(
    'g',
    { class: 'frame' },
    svg('path', { d: `M${LEFT} ${TOP}V${BOTTOM}H${RIGHT}` }),
    svg('path', { d: `M${LEFT} ${up(best / 2)}H${RIGHT}`, 'stroke-dasharray': '3 3' }),
  );
  const texts = svg(
    'g',
    { class: 'ticks' },
    [best, best / 2, 0].map((score) => svg('text', { x: 22, y: up(score) + 3, 'text-anchor': 'end' }, String(score))),
    rounds
      .filter((_, at) => at % Math.ceil(rounds.length / TICKS) === 0)
      .map((round) => svg('text', { x: across(round), y: 114, 'text-anchor': 'middle' }, `R${round}`)),
  );
  // Lines and points of the same height are drawn side by side rather than on top of one another.
  const drawn = [...lines].map(([who, scores], at) => {
    const aside = at - (lines.size - 1) / 2;
    const points = [...scores].map(([round, score]) =>
      rounds.length === 1 ? [across(round) + aside * 14, up(score)] : [across(round), up(score) + aside * 1.8],
    );
    return line(seats.get(who)?.index ?? 0, points);
  });
  const picture = svg(
    'svg',
    { viewBox: '0 0 300 120', role: 'img', 'aria-label': `Scores by round: ${label}` },
    frame,
    texts,
    drawn,
  );
  return h(
    'figure.chart',
    {},
    picture,
    h(
      'figcaption.legend',
      {},
      [...lines].map(([who, scores]) => key(who, scores, seats)),
    ),
  );
}

function line(index, points) {
  const path = points.map(([x, y], at) => `${at ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');
  return svg(
    'g',
    { class: 'line', 'data-seat': index % 6 },
    svg('path', { d: path }),
    points.map(([cx, cy]) => svg('circle', { cx, cy, r: 2.6 })),
  );
}

function key(who, scores, seats) {
  const last = [...scores.values()].at(-1);
  return h(
    'span.key',
    { data: { seat: String((seats.get(who)?.index ?? 0) % 6) } },
    h('bdi', {}, who),
    ` ${decimals(last, 1)}`,
  );
}
