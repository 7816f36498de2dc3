// Panels on the state of a discussion: figures, synthesis, scores, choices, arguments, and further
// results.

import { get } from './api.js';
import { copier } from './copy.js';
import { bullets, fill, h, memo, name, notice, say, seat as colour } from './dom.js';
import { capital, clock, count, decimals, money, plural, words } from './figures.js';
import { agreement, choices, claims, flips, forecast, isOver, mostRounds, needed } from './fold.js';
import { progress } from './run.js';
import { sourced, supported } from './sources.js';
import { draw, includes, inlined, reasons, tally } from './views.js';
import { endingOf, formView, resultFields, usualValue } from './vocabulary.js';

/** Agreement, cost, tokens, time. */
export function strip() {
  const meter = h('span.meter', { role: 'meter', 'aria-valuemin': 0, 'aria-valuemax': 1, 'aria-label': 'Agreement' });
  const [share, need] = [h('b'), h('span.faint')];
  const agreed = h(
    'div.figure.wide-figure',
    { hidden: true },
    h('span.label', {}, 'Agreement'),
    h('span.value', {}, meter, share, need),
  );
  const figure = (label) => {
    const [main, aside, title] = [h('b'), h('span.faint'), h('span.label', {}, label)];
    return { main, aside, label: title, root: h('div.figure', {}, title, h('span.value', {}, main, aside)) };
  };
  const [cost, tokens, time, table] = ['Cost', 'Tokens', 'Time', 'Participants'].map(figure);
  const root = h('section.strip', { 'aria-label': 'Figures' }, agreed, cost.root, tokens.root, time.root, table.root);
  const update = (state, extraMs) => {
    const value = agreement(state);
    agreed.hidden = value === null;
    if (value !== null) {
      meter.style.setProperty('--share', value);
      meter.setAttribute('aria-valuenow', decimals(value, 2));
      say(share, decimals(value, 2));
      const least = needed(state, usualValue('threshold'));
      meter.style.setProperty('--need', least ?? 0);
      meter.classList.toggle('bounded', least !== undefined);
      meter.classList.toggle('reached', least !== undefined && least <= value);
      say(need, least === undefined ? '' : ` (need ${decimals(least, 2)})`);
    }
    const limits = state.spec?.limits ?? {};
    const ahead = forecast(state);
    say(cost.main, state.unpriced && !state.cost ? 'unpriced' : `${state.estimated ? '≈ ' : ''}${money(state.cost)}`);
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
    if (state.spec?.plan) {
      const { over, all } = progress(state);
      say(tokens.main, count(state.below));
      say(table.label, 'Steps');
      say(table.main, `${over} of ${all}`);
      return say(table.aside, '');
    }
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

/** What a result is, by its kind: the heading above its text, and the sentence before it. */
const KINDS = {
  answered: ['Synthesis', () => ''],
  output: ['Output', () => ''],
  adopted: ['Synthesis', (share) => (share ? `Adopted by ${share}.` : 'Adopted.')],
  not_adopted: ['Proposal that was not adopted', (share) => `Not adopted${share && `: only ${share} agreed`}.`],
  tie: ['Votes without a winner', () => 'Tie: no option won the vote.'],
  no_consensus: ['Summary without consensus', (share) => `No consensus${share && `: ${share} agreed`}.`],
};

/** The heading of a result, and one line where it is more than a plain answer. */
function resultLine(state) {
  const { standing, stand_in: standIn } = state.decision;
  const { kind = 'answered', for: votes, of } = standing ?? {};
  const [usual, sentence] = (state.spec.plan && KINDS.output) || (KINDS[kind] ?? KINDS.answered);
  const heading = standIn ? `Last words of ${standIn}, not a synthesis` : usual;
  const share = of === undefined ? '' : `${votes} of ${of}`;
  const why = shortfalls(state).join('; ') || 'less went into it than was planned';
  // The banner says in which way less came than was asked for.
  const less = state.conclusion?.degraded && !short(state) && `Degraded: ${why}.`;
  return { heading, line: [sentence(share), less, cutLine(state.cut)].filter(Boolean).join(' ') };
}

/** Whether a discussion that is over gave what was asked for: good, less or bad. */
export function tone(state) {
  if (state.lifecycle === 'error' || state.lifecycle === 'aborted') return 'bad';
  return shortfall(state) || state.decision?.stand_in ? 'less' : 'good';
}

const shortfall = ({ conclusion, decision }) => fellShort({ ...conclusion, kind: decision?.standing?.kind });

/** In which way a result fell short of what was asked for, in a word or two; empty if it did not. */
export function fellShort({ success, kind, degraded }) {
  if (success === false) return 'incomplete';
  return NO_ANSWER.get(kind) ?? (degraded ? 'degraded' : '');
}

const finished = (short) => (short ? `finished, ${short}` : 'finished');

/** The state of a discussion as lists and results have it, in a few words. */
export const ended = ({ status, success, outcome }) =>
  status === 'completed' ? finished(fellShort({ ...outcome, success })) : words(status);

/** The kinds of results that are not the panel's answer. */
const NO_ANSWER = new Map([
  ['not_adopted', 'not adopted'],
  ['tie', 'tie'],
  ['no_consensus', 'no consensus'],
]);

/** Whether no option won a vote. Then nobody dissents from an answer; there are only positions. */
const isTie = (decision) => decision?.standing?.kind === 'tie';

/** Why a discussion ended early, by its stopping reason. */
const EARLY = {
  budget: 'the budget was used up',
  timeout: 'the time was used up',
  user_stop: 'it was stopped early',
  user_abort: 'it was aborted',
  model_unavailable: 'too few participants were left',
};

/** What is missing from a result. */
function shortfalls(state) {
  const gone = [...state.seats.values()].filter((it) => it.standing === 'failed' || it.standing === 'absent');
  const read = (source) => state.readings.filter((it) => it.source === source).length;
  const [unread, guessed] = [read('assumed') + state.unread.length, read('inferred')];
  const cut = state.turns.filter((it) => it.finish === 'length' || it.finish === 'truncated').length;
  const standIn = state.decision?.stand_in;
  return [
    gone.length && `without ${gone.map((it) => it.name).join(' and ')}`,
    EARLY[state.conclusion?.stopping],
    standIn && `no synthesis was written, and the text is what ${standIn} said last, not the panel’s answer`,
    guessed && `${plural(guessed, 'reply', 'replies')} guessed from the words`,
    unread && `${plural(unread, 'reply', 'replies')} that could not be read`,
    cut && `${plural(cut, 'answer')} cut off at the token limit`,
  ].filter(Boolean);
}

/** Who did not see all of the talk, and how much of it was missing. */
function cutLine(cut) {
  if (!cut.size) return '';
  const most = (what) => Math.max(...[...cut.values()].map((it) => it[what]));
  const lost = [
    most('shortened') && `${plural(most('shortened'), 'turn')} shortened`,
    most('leftOut') && `${plural(most('leftOut'), 'turn')} left out`,
  ];
  const names = [...cut.keys()].join(', ');
  return `${names} did not see the whole talk, for lack of room (${lost.filter(Boolean).join(', ')}).`;
}

/** The note on a synthesis whose agreements, dissent and arguments are missing. */
const STRUCTURE = {
  absent: 'The synthesizer listed no agreements, dissent or arguments.',
  unreadable: 'The synthesizer’s list of agreements, dissent and arguments could not be read.',
};

/** The answer, at the top once there is one. */
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
          h('h3', {}, isTie(decision) ? 'Positions' : 'Dissent'),
          bullets(decision.dissent.map((it) => [h('b', {}, name(it.participant)), ': ', inlined(it.position)])),
        ],
        ...supported(decision),
        STRUCTURE[decision.structure] && h('p.faint', {}, STRUCTURE[decision.structure]),
        problem && !ending(state).includes(problem.message) && h('p.caution', {}, problem.message),
      ].filter(Boolean);
      const { line, heading } = resultLine(state);
      root.dataset.tone = tone(state);
      fill(
        root,
        h(
          'div',
          {},
          line && h(tone(state) === 'good' ? 'p.told' : 'p.caution', {}, line),
          h('h2', {}, heading, h('small', {}, by), ' ', copier(() => decision.synthesis)),
          h('div.said', {}, sourced(state)),
        ),
        aside.length > 0 && h('aside', {}, aside),
      );
    });
  };
  return { root, update };
}

function panel(title, key, build) {
  const body = h('div');
  const root = h('section.panel', { hidden: true, 'aria-label': title }, h('h2', {}, title), body);
  const made = memo();
  return {
    root,
    update: (state, result) =>
      made(key(state, result), () => {
        const nodes = build(state, result).flat(Infinity).filter(Boolean);
        root.hidden = !nodes.length;
        fill(body, nodes);
      }),
  };
}

export function panels(id) {
  const all = [
    panel('Scores by round', (it, result) => `${it.readings.length} ${result.key}`, scored),
    panel('Choices, dissent, changes of mind', (it, result) => `${it.readings.length} ${Boolean(it.decision)} ${result.key}`, chosen),
    panel('Along the way', (it) => `${it.noted.length} ${it.ended?.why}`, noticed),
    panel('Arguments', (it) => String(Boolean(it.decision)), argued),
    panel('Discussions within', (it) => [...it.subs.values()].map((sub) => Boolean(sub.end)).join(), within),
  ];
  const own = h('div.results');
  const root = h(
    'div.panels',
    {},
    own,
    all.map((it) => it.root),
  );
  const found = results(id, own, () => update(...last));
  let last = [];
  const update = (state, isNow) => {
    last = [state, isNow];
    const result = found(state, isNow);
    all.forEach((it) => it.update(state, result));
    root.hidden = own.hidden && all.every((it) => it.root.hidden);
  };
  return { root, update };
}

/** Shows no further results. */
const NONE = { key: '', has: () => false };

/**
 * The fields that pattern and method add to a result: fetched when the discussion is over, and
 * drawn by their views.
 */
function results(id, root, redraw) {
  let [seq, shown] = [0, NONE];
  const fetched = async (state) => {
    const { seq: at } = state;
    try {
      const outcome = await get(`/api/discussions/${id}/result`);
      const fields = resultFields(state.spec.pattern, state.spec.consensus.method);
      const drawn = fields.map((it) => ({ ...it, nodes: draw(it.view, outcome[it.name], state.seats) }));
      const seen = drawn.filter((it) => it.nodes.length);
      shown = { key: String(at), has: (kind) => seen.some((it) => includes(it.view, kind)) };
      fill(root, seen.map(({ title, nodes }) => h('section.panel', { 'aria-label': title }, h('h2', {}, title), h('div', {}, nodes))));
      redraw();
    } catch (error) {
      notice(error.message, 'error');
    }
  };
  return (state, isNow) => {
    const isShown = isNow && isOver(state);
    if (isShown && seq !== state.seq) {
      seq = state.seq;
      void fetched(state);
    }
    root.hidden = !isShown || !root.firstChild;
    return isShown ? shown : NONE;
  };
}

/** Scores given so far, unless the result contains them. */
function scored(state, result) {
  if (result.has('scores')) return [];
  const kinds = Map.groupBy(state.readings, (it) => it.reading.kind);
  return [...kinds].map(([kind, all]) => {
    const view = formView(state, kind);
    if (view?.kind !== 'scores') return [];
    const values = all.map(({ round, reading }) => ({ round, ...reading.value }));
    return draw(view, values, state.seats);
  });
}

/** Notes recorded on the way, and how the discussion ended. */
function noticed(state) {
  const { ended } = state;
  const why = ended && (endingOf(state, ended.why) ?? words(ended.why));
  return [
    state.noted
      .filter((it) => it.told)
      .slice(-LINES)
      .map((it) => h('p.line', {}, it.round > 0 && `R${it.round}: `, h('bdi', {}, it.told))),
    ended && h('p.line', {}, `Ended after round ${ended.round}: ${why}`, ended.detail && ` (${words(ended.detail)})`),
  ];
}

/** The maximum number of lines and of position changes shown. */
const [LINES, CHANGES] = [8, 12];

function chosen(state, result) {
  const { rows, made } = choices(state);
  const changes = flips(state);
  const dissent = state.decision?.dissent ?? [];
  const lead = isTie(state.decision) ? 'Position of ' : 'Dissent — ';
  return [
    !result.has('ballots') && rows.length > 0 && [tally(rows, state.seats), reasons(made, state.seats)],
    dissent.map((it) =>
      h('div.line.against', {}, h('b', {}, lead, name(it.participant), ': '), inlined(it.position)),
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
    state.decision && !dissent.length && rows.length > 0 && h('p.faint', {}, 'Nobody dissents.'),
  ];
}

function argued(state) {
  const sorted = [...claims(state)].sort((a, b) => Number(Boolean(b.unanswered)) - Number(Boolean(a.unanswered)));
  return sorted.map((it, at) =>
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
  );
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
  // The steps of a run link to theirs.
  if (state.spec?.plan) return [];
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

/** The state in a few words. */
export function standing(state) {
  if (state.lifecycle === 'completed') return finished(shortfall(state));
  if (state.lifecycle === 'error') return 'could not go on';
  if (state.lifecycle === 'aborted') return 'aborted';
  if (state.awaiting.length) return `waiting for ${state.awaiting.map((it) => it.participant).join(' and ')}`;
  if (state.ruling) return 'a decision is awaited';
  if (state.lifecycle === 'paused') return 'paused';
  if (state.wish === 'pause') return 'pausing once those speaking are done';
  if (state.wish === 'stop') return 'stopping';
  if (state.lifecycle === 'completing' || state.phase === 'deciding') return 'deciding';
  if (state.lifecycle !== 'running') return 'getting ready';
  if (state.spec.plan) return 'working through its steps';
  const round = state.round ? `round ${state.round} of ${Math.max(state.round, mostRounds(state.spec))} · ` : '';
  return round + words(state.phase ?? 'talking');
}

/** Why a finished discussion gave less than was asked for, where its answer doesn't say so itself. */
function short(state) {
  const { conclusion, decision } = state;
  if (!conclusion || conclusion.success || decision?.standing) return '';
  const why = shortfalls(state);
  const told = conclusion.problem?.message ?? decision?.problem?.message;
  return `Less than asked: ${[...why, told].filter(Boolean).join('; ') || 'there is no answer'}`;
}

/** How the discussion ended, if that is worth mentioning. */
export function ending(state) {
  if (state.problem) return state.problem.message;
  const why = state.woundUp?.why;
  if (why && why !== 'stopped')
    return `Ended early: ${words(why)}${state.woundUp.participant ? ` (${state.woundUp.participant})` : ''}.`;
  // An ending by the pattern's own rules is shown with the notes.
  const less = short(state);
  if (less) return less;
  const stopping = state.conclusion?.stopping;
  if (stopping && stopping !== 'completed' && stopping !== state.ended?.stopping) return `${capital(words(stopping))}.`;
  if (isOver(state) && state.conclusion?.problem) return state.conclusion.problem.message;
  return state.leftOut.length ? `Early exit: the other answers were enough; not waited for: ${state.leftOut.join(', ')}.` : '';
}

export const rounds = (state) =>
  state.spec.plan
    ? `${state.spec.plan.workflow} ${state.spec.plan.version} · ${plural(state.spec.plan.steps.length, 'step')}`
    : `${state.spec.pattern} · ${plural(mostRounds(state.spec), 'round')} · ${words(state.spec.consensus.method)}`;
