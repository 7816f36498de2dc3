// The plan of an order: who is asked in which order, and the cost.

import { bullets, h, name, table } from './dom.js';
import { clock, count, dollars, words } from './figures.js';

/** The plan in a few lines. */
export function described(plan) {
  const row = (label, it) => [
    label,
    it.calls,
    count(it.tokens),
    plan.simulated ? 'nothing' : dollars(it.costUsd),
  ];
  const rows = [row('Usually up to', plan.usual), row('At the very most', plan.most)];
  return [
    table(['The plan', 'Calls', 'Tokens', 'Cost'], rows),
    h('p.faint', {}, `Within ${clock(plan.budgetMs)} minutes`, plan.simulated && '; the voices are simulated'),
    who('Has no known price, so is in no sum', plan.unpriced),
    who('Can’t take part here', plan.unavailable),
    h('ol', {}, course(plan.course).map((it) => h('li', {}, it))),
  ];
}

const who = (what, names) =>
  names?.length > 0 && h('p.caution', {}, `${what}: `, names.map((it, at) => [at > 0 && ', ', name(it)]));

/** A line for each round; equal rounds share one. */
function course(phases) {
  const lines = [];
  for (const [round, all] of Map.groupBy(phases, (it) => it.round ?? 0)) {
    const text = all.map(phase).join('; ');
    if (round && lines.at(-1)?.text === text) lines.at(-1).to = round;
    else lines.push({ from: round, to: round, text });
  }
  return lines.map(({ from, to, text }) => (from ? `${span(from, to)}: ${text}` : `Then ${text}`));
}

const span = (from, to) => (from === to ? `Round ${from}` : `Rounds ${from} to ${to}`);

const phase = (it) => `${words(it.phase)} (${it.asked.map((group) => group.join(' + ')).join(', then ')})`;

/** The problems with the order, field by field. */
export const refused = (error) =>
  error.fields?.length
    ? bullets(error.fields.map((it) => [h('b', {}, it.field), ` ${it.message}`]))
    : error.message;
