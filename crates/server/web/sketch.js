// Pictures of patterns, drawn from what each declares: a column for each moment, a row for each
// seat, a dot where a seat speaks, and a diamond for the decision.

import { svg } from './dom.js';

const [WIDE, HIGH, EDGE] = [12, 13, 7];

/** The most moments and seats that are drawn. */
const [MOMENTS, SEATS] = [12, 6];

/** The picture of a sketch such as `['12', '1', '2', '*']`; nothing if there is none. */
export function sketched(sketch) {
  const moments = (sketch ?? []).slice(0, MOMENTS).map(seatsOf);
  if (!moments.length) return null;
  const rows = Math.max(1, ...moments.flat());
  const [width, height] = [(moments.length - 1) * WIDE + 2 * EDGE, (rows - 1) * HIGH + 2 * EDGE];
  const [x, y] = [(at) => EDGE + at * WIDE, (seat) => (seat ? EDGE + (seat - 1) * HIGH : height / 2)];
  const lines = moments.slice(1).flatMap((to, at) =>
    moments[at].flatMap((from) => to.map((seat) => `M${x(at)} ${y(from)}L${x(at + 1)} ${y(seat)}`)),
  );
  return svg(
    'svg',
    { class: 'sketch', viewBox: `0 0 ${width} ${height}`, width, height, 'aria-hidden': 'true' },
    svg('path', { class: 'way', d: lines.join('') }),
    moments.flatMap((seats, at) => seats.map((seat) => mark(seat, x(at), y(seat)))),
  );
}

/** The seats of a moment, from 1; the decision is 0. */
function seatsOf(moment) {
  const seats = [...moment].map(Number).filter((it) => it >= 1 && it <= SEATS);
  return seats.length ? seats : [0];
}

const mark = (seat, x, y) =>
  seat
    ? svg('circle', { cx: x, cy: y, r: 4, 'data-seat': seat - 1 })
    : svg('path', { class: 'end', d: `M${x} ${y - 6}l6 6l-6 6l-6 -6z` });
