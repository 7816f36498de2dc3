// What the talk amounts to: the strip of figures, the synthesis, the judge's scores, the votes, the arguments.

import { chart } from './chart.js';
import { bullets, fill, h, memo, name, say, seat as colour, table } from './dom.js';
import { capital, clock, count, money, plural, words } from './figures.js';
import { agreement, claims, flips, forecast, isOver, scores, verdict, votes } from './fold.js';
import { markdown } from './markdown.js';

/** Agreement, cost, tokens, time. */
export function strip() {
  const meter = h('span.meter', { role: 'meter', 'aria-valuemin': 0, 'aria-valuemax': 1, 'aria-label': 'Agreement' });
  const share = h('b');
  const need = h('span.faint');
  const agreed = h(
    'div.figure.wide-figure',
    { hidden: true },
    h('span.label', {}, 'Agreement'),
    h('span.value', {}, meter, share, need),
  );
  const figure = (label) => {
    const [main, aside] = [h('b'), h('span.faint')];
    return { main, aside, root: h('div.figure', {}, h('span.label', {}, label), h('span.value', {}, main, aside)) };
  };
  const [cost, tokens, time, table] = ['Cost', 'Tokens', 'Time', 'At the table'].map(figure);
  const root = h('section.strip', { 'aria-label': 'Figures' }, agreed, cost.root, tokens.root, time.root, table.root);
  const update = (state, extraMs) => {
    const value = agreement(state);
    agreed.hidden = value === null;
    if (value !== null) {
      const threshold = state.spec.consensus.threshold;
      meter.style.setProperty('--share', value);
      meter.style.setProperty('--need', threshold);
      meter.classList.toggle('reached', value >= threshold);
      meter.setAttribute('aria-valuenow', value.toFixed(2));
      meter.setAttribute('aria-valuetext', `${value.toFixed(2)}, ${threshold.toFixed(2)} needed`);
      say(share, value.toFixed(2));
      say(need, ` / ${threshold.toFixed(2)}`);
    }
    const limits = state.spec?.limits ?? {};
    const ahead = forecast(state);
    say(cost.main, state.unpriced && !state.cost ? 'unpriced' : money(state.cost));
    say(
      cost.aside,
      (limits.usd ? ` of ${money(limits.usd)}` : '') +
        (ahead ? ` + ≈ ${money(ahead)} to go` : '') +
        (state.unpriced && state.cost ? ', and unpriced' : ''),
    );
    say(tokens.main, `${count(state.usage.prompt)} in · ${count(state.usage.completion)} out`);
    say(tokens.aside, limits.tokens ? ` of ${count(limits.tokens)}` : '');
    say(time.main, clock(state.activeMs + extraMs));
    say(time.aside, state.spec ? ` of ${clock(state.spec.timing.total_ms)}` : '');
    const gone = [...state.seats.values()].filter(
      (it) => it.standing === 'failed' || it.standing === 'absent',
    ).length;
    say(table.main, `${state.seats.size - gone} of ${state.seats.size}`);
    say(
      table.aside,
      [
        state.retries && ` · ${state.retries} ${state.retries === 1 ? 'retry' : 'retries'}`,
        state.repeated && ` · ${state.repeated} repeated`,
      ]
        .filter(Boolean)
        .join(''),
    );
  };
  return { root, update };
}

/** The answer, on top once there is one. */
export function synthesis() {
  const root = h('section.synthesis', { 'aria-label': 'Synthesis', hidden: true });
  const made = memo();
  const update = (state) => {
    const { decision, conclusion } = state;
    root.hidden = !decision;
    made(`${decision?.synthesis} ${conclusion?.stopping}`, () => {
      if (!decision) return fill(root);
      const by = decision.synthesizer ? [' by ', name(decision.synthesizer)] : null;
      const problem = decision.problem ?? conclusion?.problem;
      const aside = [
        decision.agreements?.length && [
          h('h3', {}, 'They agree'),
          bullets(decision.agreements.map(inlined)),
        ],
        decision.dissent?.length && [
          h('h3', {}, 'Dissent'),
          bullets(decision.dissent.map((it) => [h('b', {}, name(it.participant)), ': ', inlined(it.position)])),
        ],
        problem && h('p.caution', {}, problem.message),
        conclusion?.degraded && h('p.caution', {}, 'Less went into this than was meant to.'),
      ].filter(Boolean);
      fill(
        root,
        h('div', {}, h('h2', {}, 'Synthesis', h('small', {}, by)), h('div.said', {}, markdown(decision.synthesis))),
        aside.length > 0 && h('aside', {}, aside),
      );
    });
  };
  return { root, update };
}

const inlined = (text) => {
  const [first, ...rest] = markdown(text);
  return first?.tagName === 'P' && !rest.length ? [...first.childNodes] : [first, ...rest];
};

function panel(title, key, build) {
  const body = h('div');
  const root = h('section.panel', { hidden: true, 'aria-label': title }, h('h2', {}, title), body);
  const made = memo();
  return {
    root,
    update: (state) =>
      made(key(state), () => {
        const nodes = build(state).flat(Infinity).filter(Boolean);
        root.hidden = !nodes.length;
        fill(body, nodes);
      }),
  };
}

export function panels() {
  const all = [
    panel(
      'Judge’s scores by round',
      (it) => `${it.readings.length} ${it.detections.length} ${it.judges.length} ${it.ended?.why}`,
      judged,
    ),
    panel(
      'Votes, dissent, changes of mind',
      (it) => `${it.readings.length} ${it.checks.length} ${Boolean(it.decision)}`,
      voted,
    ),
    panel('Arguments', (it) => `${it.readings.length} ${Boolean(it.decision)}`, argued),
    panel('Discussions within', (it) => [...it.subs.values()].map((sub) => Boolean(sub.end)).join(), within),
  ];
  const root = h(
    'div.panels',
    {},
    all.map((it) => it.root),
  );
  return {
    root,
    update: (state) => {
      all.forEach((it) => it.update(state));
      root.hidden = all.every((it) => it.root.hidden);
    },
  };
}

function judged(state) {
  const lines = scores(state);
  const last = verdict(state);
  return [
    lines.size > 0 && chart(lines, state.seats),
    last?.winner &&
      h(
        'p.line.for',
        {},
        h('b', {}, 'The judge’s choice: ', name(last.winner.participant)),
        ` — ${last.winner.reasoning}`,
      ),
    last && h('p.line', {}, `The debate as a whole: ${Math.round(last.qualityScore)} of 100`),
    state.judges.map((it) =>
      h(
        'p.line.against',
        {},
        'The judge ',
        name(it.from),
        it.to ? [' was replaced by ', name(it.to)] : ' failed; the seat stays empty',
        ` (${words(it.rule)})`,
      ),
    ),
    state.detections
      .slice(-4)
      .map((it) =>
        h(
          'p.line',
          {},
          `R${it.round}: ${words(it.detector)}`,
          it.participant && [' of ', name(it.participant)],
          ` (${it.value.toFixed(2)})`,
        ),
      ),
    state.ended &&
      h('p.line', {}, `Ended after round ${state.ended.round}: ${words(state.ended.detector ?? state.ended.why)}`),
  ];
}

/** So many changes of mind are told. */
const CHANGES = 12;

function voted(state) {
  const { rows, ballots } = votes(state);
  const changes = flips(state);
  const dissent = state.decision?.dissent ?? [];
  const check = state.checks.at(-1);
  return [
    rows.length > 0 && tally(rows, state),
    ballots.length > 0 &&
      h(
        'details.quiet',
        {},
        h('summary', {}, 'Every vote with its reasons'),
        ballots.map((it) => ballot(it, state)),
      ),
    check &&
      check.votes.map(([who, vote]) =>
        h(
          'p.line',
          { class: `line ${vote.agrees ? 'for' : 'against'}` },
          h('b', {}, name(who)),
          ` ${vote.agrees ? 'finds consensus' : 'finds none yet'} (${vote.confidence} %): ${vote.reasoning}`,
        ),
      ),
    dissent.map((it) =>
      h('div.line.against', {}, h('b', {}, 'Dissent — ', name(it.participant), ': '), inlined(it.position)),
    ),
    changes.length > CHANGES && h('p.faint', {}, `${plural(changes.length - CHANGES, 'earlier change')} of mind`),
    changes.slice(-CHANGES).map((it) =>
      h(
        'p.line',
        {},
        'Changed position: ',
        h('b', {}, name(it.participant)),
        ` in R${it.round}, `,
        h('s', {}, it.from),
        ' → ',
        it.to,
        it.reason?.trim() ? ` — ${it.reason}` : ' (unexplained)',
      ),
    ),
    state.decision &&
      !dissent.length &&
      rows.length + state.checks.length > 0 &&
      h('p.faint', {}, 'Nobody dissents.'),
  ];
}

function tally(rows, state) {
  const most = Math.max(...rows.map((it) => it.weight), 0.01);
  const bar = (row) => {
    const it = h('span.bar');
    it.style.setProperty('--share', row.weight / most);
    return it;
  };
  const dots = (row) =>
    row.who.map((who) => h('span.dot', { title: who, data: colour(state.seats.get(who)?.index ?? 0) }));
  const made = table(
    ['Option', 'Votes', 'Weight'],
    rows.map((row) => [[h('bdi', {}, row.option), bar(row)], [dots(row), row.votes], row.weight.toFixed(2)]),
  );
  made.className = 'tally';
  return made;
}

const ballot = (it, state) =>
  h(
    'p.line',
    { data: colour(state.seats.get(it.who)?.index ?? 0) },
    h('b', {}, name(it.who)),
    ` votes ${it.choice} (${it.confidence.toFixed(2)}): ${it.reason}`,
  );

function argued(state) {
  const sorted = [...claims(state)].sort((a, b) => Number(Boolean(b.unanswered)) - Number(Boolean(a.unanswered)));
  const points = verdict(state)?.keyPoints ?? [];
  return [
    sorted.map((it, at) =>
      h(
        'div.claim',
        {},
        h(
          'p',
          {},
          h('b', {}, `C${at + 1} `),
          inlined(it.text),
          it.unanswered && h('span.tag.warn', {}, 'unanswered'),
        ),
        stands('for', it.supported_by, state),
        stands('against', it.attacked_by, state),
      ),
    ),
    !sorted.length &&
      points.map((it) =>
        h(
          'div.claim',
          {},
          h('p', {}, h('b', {}, name(it.participant))),
          bullets(it.mainArguments.map(inlined)),
        ),
      ),
  ];
}

function stands(side, who, state) {
  if (!who?.length) return null;
  const one = (it) => h('span.who', { data: colour(state.seats.get(it)?.index ?? 0) }, name(it));
  return h(
    'p.line',
    { class: `line ${side}` },
    side === 'for' ? 'supported by ' : 'attacked by ',
    who.map((it, at) => [at > 0 && ', ', one(it)]),
  );
}

function within(state) {
  return [...state.subs.values()].map(({ participant, topic, end }) =>
    h(
      'div.claim',
      {},
      h(
        'p',
        {},
        h('b', {}, name(participant)),
        ': ',
        end?.child ? h('a', { href: `/d/${end.child}` }, topic) : topic,
      ),
      h('p.line', {}, end ? (end.synthesis ?? end.problem?.message ?? '') : 'under way'),
    ),
  );
}

/** Where it stands, in a few words. */
export function standing(state) {
  if (state.lifecycle === 'completed') return state.conclusion?.success ? 'finished' : 'finished, not as asked';
  if (state.lifecycle === 'error') return 'could not go on';
  if (state.lifecycle === 'aborted') return 'aborted';
  if (state.awaiting.length) return `waiting for ${state.awaiting.map((it) => it.participant).join(' and ')}`;
  if (state.vacancy) return 'the judge’s seat is empty';
  if (state.lifecycle === 'paused') return 'paused';
  if (state.wish === 'pause') return 'pausing once those speaking are done';
  if (state.wish === 'stop') return 'stopping';
  if (state.lifecycle === 'completing' || state.phase === 'deciding') return 'deciding';
  if (state.lifecycle !== 'running') return 'getting ready';
  const round = state.round ? `round ${state.round} of ${Math.max(state.round, state.spec.rounds)} · ` : '';
  return round + words(state.phase ?? 'talking');
}

/** How it ended, where that is worth a word. */
export function ending(state) {
  if (state.problem) return state.problem.message;
  const why = state.woundUp?.why;
  if (why && why !== 'stopped')
    return `Ended early: ${words(why)}${state.woundUp.participant ? ` (${state.woundUp.participant})` : ''}.`;
  if (state.conclusion?.stopping && !['completed', 'consensus_reached'].includes(state.conclusion.stopping))
    return `${capital(words(state.conclusion.stopping))}.`;
  return isOver(state) && state.conclusion?.problem ? state.conclusion.problem.message : '';
}

export const rounds = (state) =>
  `${state.spec.pattern} · ${plural(state.spec.rounds, 'round')} · ${words(state.spec.consensus.method)}`;
