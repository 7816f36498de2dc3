// Replies in a fixed form, put into words: a vote, a judge's look at a round, a verdict, a synthesis.

import { h, name, seat as colour } from './dom.js';
import { words } from './figures.js';
import { markdown } from './markdown.js';

/** What the reply to this turn was understood as; null where it was no form, or is not read yet. */
export function readingOf(state, turn) {
  const of = (it) => it.participant === turn.participant && it.step?.startsWith(`${turn.step}/`);
  return state.readings.findLast(of)?.reading ?? null;
}

/** The same in words. */
export function reading(state, turn) {
  const found = readingOf(state, turn);
  return found ? (KINDS[found.kind]?.(found, state) ?? null) : null;
}

const KINDS = {
  ballot: ({ choice, confidence, reasoning }) => [
    h('p.choice-made', {}, h('b', {}, h('bdi', {}, choice)), h('span.faint', {}, ` · ${confidence.toFixed(2)} sure`)),
    markdown(reasoning),
  ],
  consensus_vote: ({ agrees, confidence, reasoning, solution }) => [
    h(
      'p.choice-made',
      {},
      h('b', {}, agrees ? 'Consensus' : 'No consensus yet'),
      h('span.faint', {}, ` · ${confidence} % sure`),
    ),
    markdown(reasoning),
    solution ? markdown(solution) : null,
  ],
  assessment: ({ assessments, reasoning, recommendations, flags, shouldContinue }, state) => [
    markdown(reasoning),
    assessments.map((it) => rated(it, state)),
    h(
      'p.faint',
      {},
      [
        ...Object.entries(flags)
          .filter(([, is]) => is)
          .map(([flag]) => words(flag.replaceAll(/([A-Z])/g, ' $1').toLowerCase())),
        shouldContinue ? 'should go on' : 'could end here',
      ].join(' · '),
    ),
    recommendations ? markdown(recommendations) : null,
  ],
  verdict: ({ summary }) => markdown(summary),
  synthesis: ({ synthesis }) => markdown(synthesis),
};

function rated({ participant, score, strengths, weaknesses }, state) {
  const bar = h('span.bar');
  bar.style.setProperty('--share', score / 10);
  const side = (mark, texts) => texts?.length > 0 && h('span.faint', {}, ` ${mark} ${texts.join('; ')}`);
  return h(
    'div.rated',
    { data: colour(state.seats.get(participant)?.index ?? 0) },
    h('b', {}, name(participant)),
    ` ${score.toFixed(1)}`,
    side('+', strengths),
    side('−', weaknesses),
    bar,
  );
}
