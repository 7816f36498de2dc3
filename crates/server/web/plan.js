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
  const most = [row('With the longest answers', plan.usual), row('At the very most', plan.most)];
  return [
    plan.panel && h('p.caution', {}, unusual(plan.panel)),
    table(['The plan', 'Calls', 'Tokens', 'Cost'], [row('Typically', plan.typical)]),
    h('p.faint', {}, basis(plan.typicalFrom)),
    h('details', {}, h('summary', {}, 'The most it can cost'), table(['', 'Calls', 'Tokens', 'Cost'], most)),
    h('p.faint', {}, `Within ${clock(plan.budgetMs)} minutes`, plan.simulated && '; the voices are simulated'),
    plan.recalled && h('p.faint', {}, recall(plan.recalled)),
    who('Has no known price, so is in no sum', plan.unpriced),
    who('Can’t take part here', plan.unavailable),
    h('ol', {}, course(plan.course).map((it) => h('li', {}, it))),
  ];
}

/** Where the typical figures are from. */
const basis = (past) =>
  past
    ? `Answers as long as in ${past} past ${past === 1 ? 'discussion' : 'discussions'} of these models`
    : 'Answers as long as such answers usually are; nothing is recorded of these models yet';

/** What everyone is shown of earlier discussions, in a line. */
function recall(shown) {
  if (!shown.length) return 'Nothing is recalled: no earlier discussion is about this.';
  const tokens = shown.reduce((sum, it) => sum + it.tokens, 0);
  return `Everyone is shown what earlier discussions came to (${count(tokens)} tokens): ${shown.map((it) => it.topic).join(' · ')}`;
}

/** How a panel that the server chose differs from the usual one, in a line. */
export function unusual({ kind, panel, provider, models, missing, added }) {
  const list = (names) => names.join(', ');
  if (kind === 'one-vendor') return `Only ${provider} is available, so its models discuss: ${list(models)}.`;
  if (kind === 'narrowed') return `The usual panel without ${list(missing)}, which can’t be asked here: ${list(panel)}.`;
  if (panel.length === added.length) return `None of the usual panel is available, so others discuss: ${list(panel)}.`;
  return `Too few of the usual panel are available, so ${list(added)} filled it up: ${list(panel)}.`;
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

/** Whether all that is wrong is that too few models can be asked. */
export const isMute = ({ status, fields }) =>
  status === 400 && fields?.length > 0 && fields.every((it) => it.code === 'DISCUSSION_INSUFFICIENT_PROVIDERS');

/** The problems with the order, field by field. */
export const refused = (error) =>
  error.fields?.length
    ? bullets(error.fields.map((it) => [h('b', {}, it.field), ` ${it.message}`]))
    : error.message;
