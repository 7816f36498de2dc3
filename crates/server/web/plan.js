// The plan of an order: a sentence with the typical cost, then who is asked in which order, and the
// most it can cost.

import { bullets, h, name, table } from './dom.js';
import { clock, count, dollars, plural, words } from './figures.js';

/** The plan: a sentence, and the rest folded. */
export function described(plan) {
  const row = (label, it) => [label, it.calls, count(it.tokens), plan.simulated ? 'nothing' : dollars(it.costUsd)];
  const figures = [
    row('Typically', plan.typical),
    row('With the longest answers', plan.usual),
    row('At the very most', plan.most),
  ];
  return [
    plan.panel && h('p.caution', {}, unusual(plan.panel)),
    h('p.sentence', {}, price(plan), ' ', h('span', {}, happening(plan))),
    plan.recalled && h('p.faint', {}, recall(plan.recalled)),
    plan.remarks?.length > 0 && bullets(plan.remarks.map((it) => it.message)),
    who('Has no known price, so is in no sum', plan.unpriced),
    who('Can’t take part here', plan.unavailable),
    h(
      'details',
      {},
      h('summary', {}, 'Step by step, and the most it can cost'),
      h('ol', {}, course(plan.course).map((it) => h('li', {}, it))),
      table(['', 'Calls', 'Tokens', 'Cost'], figures),
      h('p.faint', {}, `${basis(plan.typicalFrom)}. It ends within ${clock(plan.budgetMs)} minutes at the latest.`),
    ),
  ];
}

/** What it typically costs, first of all. */
function price({ simulated, typical, unpriced }) {
  if (simulated) return h('b', {}, 'Free: the voices are simulated.');
  if (!typical.costUsd) return h('b', {}, unpriced?.length ? 'No price is known.' : 'Nothing is charged.');
  return h('b', {}, `Typically about ${rounded(typical.costUsd)}.`);
}

/** Money with two significant digits: a forecast is no more precise. */
const rounded = (amount) => dollars(Number(amount.toPrecision(2)));

/** What happens, in a sentence: who takes part, for how long, and who decides. */
export function happening({ participants, course, typical, kept }) {
  const names = listed(participants.map(({ participant, role }) => (role === 'speaker' ? participant : `${participant} (${words(role)})`)));
  const rounds = Math.max(0, ...course.map((it) => it.round ?? 0));
  const last = course.filter((it) => it.round === undefined).at(-1)?.asked.flat() ?? [];
  const decide = last.length ? `; then ${listed([...new Set(last)])} ${last.length === 1 ? 'decides' : 'decide'}` : '';
  const talk = `${names} talk for ${plural(rounds, 'round')}${decide}, in ${plural(typical.calls, 'call')}`;
  return kept === undefined ? `${talk}.` : `${talk} that are new; ${plural(kept, 'answer')} ${kept === 1 ? 'is' : 'are'} kept.`;
}

/** a, b and c */
export const listed = (names) =>
  names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;

/** Where the typical figures are from. */
const basis = (past) =>
  past
    ? `Answers as long as in ${past} past ${past === 1 ? 'discussion' : 'discussions'} of these models`
    : 'No discussion of these models is recorded yet, so usual lengths of answers are assumed';

/** What everyone is shown of earlier discussions, in a line. */
function recall(shown) {
  if (!shown.length) return 'Nothing is recalled: no earlier discussion is about this.';
  const tokens = shown.reduce((sum, it) => sum + it.tokens, 0);
  return `Everyone is shown what earlier discussions came to (${count(tokens)} tokens): ${shown.map((it) => it.topic).join(' · ')}`;
}

/** How a panel that the server chose differs from the default one, in a line. */
export function unusual({ kind, panel, provider, models, missing, added, unasked }) {
  const list = (names) => names.join(', ');
  if (kind === 'one-vendor') return `Only ${provider} is available, so its models discuss: ${list(models)}.`;
  if (kind === 'one-program') return `Only ${provider} is available, so it takes ${plural(panel.length, 'seat')}: a panel of one family.`;
  const others = unasked ? ` Available, but not asked: ${list(unasked)}.` : '';
  if (kind === 'narrowed') return `The default panel without ${list(missing)}, which can’t be asked here: ${list(panel)}.${others}`;
  if (panel.length === added.length) return `No provider of the default panel is available, so others discuss: ${list(panel)}.${others}`;
  return `Too few providers of the default panel are available, so ${list(added)} filled it up: ${list(panel)}.${others}`;
}

const who = (what, names) =>
  names?.length > 0 && h('p.caution', {}, `${what}: `, names.map((it, at) => [at > 0 && ', ', name(it)]));

/** A line for each round, for what is before them and for the decision; equal rounds share one. */
function course(phases) {
  const lines = [];
  for (const [round, all] of Map.groupBy(phases, (it) => it.round ?? END)) {
    const text = all.map(phase).join('; ');
    const isRound = round !== END && round > 0;
    if (isRound && lines.at(-1)?.text === text) lines.at(-1).to = round;
    else lines.push({ from: round, to: round, text });
  }
  return lines.map(({ from, to, text }) => `${span(from, to)} ${text}`);
}

const END = Infinity;

function span(from, to) {
  if (from === END) return 'Then';
  if (from === 0) return 'First';
  return from === to ? `Round ${from}:` : `Rounds ${from} to ${to}:`;
}

const phase = (it) => `${words(it.phase)} (${it.asked.map((group) => group.join(' + ')).join(', then ')})`;

/** Whether all that is wrong is that too few models can be asked. */
export const isMute = ({ status, fields }) =>
  status === 400 && fields?.length > 0 && fields.every((it) => it.code === 'DISCUSSION_INSUFFICIENT_PROVIDERS');

/** The problems with the order, field by field. */
export const refused = (error) =>
  error.fields?.length
    ? bullets(error.fields.map((it) => [h('b', {}, it.field), ` ${it.message}`]))
    : error.message;
